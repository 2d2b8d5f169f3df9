#!/usr/bin/env bash
# Every C file is named in the meson.build beside it (or one folder up, for what several
# folders share), so that nothing is written and then forgotten.
. "${0%/*}/common.sh"

is_named() {
    local name=${1##*/} folder=${1%/*}
    name=${name%.c}
    grep -qsE "['/](test_)?${name#test_}(\.c)?'" "$folder/meson.build" "${folder%/*}/meson.build"
}

for file in src/*.c src/*/*.c tests/*/*.c; do
    is_named "$file" || report "$file: is in no meson.build"
done
finish
