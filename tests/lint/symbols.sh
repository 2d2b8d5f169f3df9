#!/usr/bin/env bash
# symbols.sh LIBRARY: every symbol that the library exports starts with ccs_. Those that a
# compiler adds by itself start with __.
. "${0%/*}/common.sh"
library=$1

symbols=$(nm --extern-only --defined-only --format=posix "$library")
[[ $symbols == *ccs_* ]] || report "$library: exports nothing"
while IFS= read -r line; do
    [[ -z $line || $line == *: || $line =~ ^(ccs_|__) ]] ||
        report "${line%% *}: does not start with ccs_"
done <<<"$symbols"
finish
