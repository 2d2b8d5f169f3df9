#!/usr/bin/env bash
# Every C file is named in the meson.build beside it (or one folder up, for what several
# folders share), so that nothing is written and then forgotten.
. "${0%/*}/common.sh"

is_named() {
    local name=${1##*/} folder=${1%/*}
    name=${name%.c}
    name=${name#@(test|fuzz)_}
    grep -qsE "['/](test_|fuzz_)?$name(\.c)?'" "$folder/meson.build" "${folder%/*}/meson.build"
}

for file in src/*.c src/*/*.c tests/*/*.c; do
    is_named "$file" || report "$file: is in no meson.build"
done
finish
