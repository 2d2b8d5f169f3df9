#!/usr/bin/env bash
# C files look as clang-format would write them. Other versions than Debian 12's write a few
# things in another way, so that they cannot judge.
. "${0%/*}/common.sh"
version=14

skip_without clang-format
if [[ $(clang-format --version) != *" version $version."* ]]; then
    printf 'needs clang-format %s\n' "$version"
    exit 77
fi
mapfile -d '' -t files < <(project_files '*.c' '*.h')
report_failure_of clang-format --dry-run -Werror "${files[@]}"
finish
