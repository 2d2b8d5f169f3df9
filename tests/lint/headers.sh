#!/usr/bin/env bash
# headers.sh COMPILER [FLAG...]: every header says what it is, is read once, and compiles alone.
. "${0%/*}/common.sh"
compiler=("$@")

read -ra packages < <(pkg-config --cflags gio-2.0 yaml-0.1 sqlite3 smartcols check)

check_header() {
    local header=$1 name
    name=$(basename "$header")
    [[ $(head -n 1 "$header") == "/* $name - "* ]] ||
        report "$header: does not open with '/* $name - what it is'"
    grep -q '^#pragma once$' "$header" || report "$header: has no '#pragma once'"
    report_failure_of "${compiler[@]}" -I src -I . "${packages[@]}" -fsyntax-only -x c - \
        <<<"#include \"${header#src/}\""
}

for header in src/*.h src/*/*.h tests/*/*.h; do
    check_header "$header"
done
finish
