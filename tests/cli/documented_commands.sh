#!/usr/bin/env bash
# Every command line of ccsim that the documents show really works.
#
# A command line is a line of a ```sh or ```console block that starts with 'ccsim ', with
# '$ ' or the build folder before it or not. Those of one document run in order in one
# folder that has the shipped configs and topologies, so that a later one may read what an
# earlier one wrote. A line that shows a refusal ends in '# exit 3'.
set -euo pipefail
shopt -s nullglob
cd "$CCSIM_SOURCE_ROOT"
PATH=$(dirname "$CCSIM"):$PATH
unset CCSIM_DB
workplace=$(mktemp -d)
trap 'rm -rf "$workplace"' EXIT
n_commands=0
n_failed=0

# Prints LINE:COMMAND for each command line of a document, with continued lines joined.
commands_of() {
    awk '
        /^ *```/ { is_shell = !is_open && /^ *```(sh|console)/; is_open = !is_open; next }
        !is_shell { next }
        {
            sub(/^ *(\$ )?/, "")
            if (command == "") first = NR
            command = command $0
            if (sub(/\\$/, "", command)) next
            if (sub(/^(\.\/)?(build\/src\/)?ccsim /, "ccsim ", command)) print first ":" command
            command = ""
        }' "$1"
}

run_command() {
    local place=$1 command=$2 expected=0 status=0
    if [[ $command =~ \#\ exit\ ([0-9]+) ]]; then
        expected=${BASH_REMATCH[1]}
    fi
    (cd "$folder" && timeout 300 bash -c "$command") >"$workplace/log" 2>&1 </dev/null || status=$?
    n_commands=$((n_commands + 1))
    if ((status == expected)); then
        printf 'ok %d - %s %s\n' "$n_commands" "$place" "${command//#/}"
    else
        n_failed=$((n_failed + 1))
        printf 'not ok %d - %s %s: exit status %d\n' "$n_commands" "$place" "${command//#/}" "$status"
        sed 's/^/# /' "$workplace/log"
    fi
}

for document in README.md docs/*.md; do
    [[ -e $document ]] || continue
    folder=$(mktemp -d -p "$workplace")
    ln -s "$PWD"/{configs,topologies} "$folder"
    while IFS=: read -r line command; do
        run_command "$document:$line" "$command"
    done < <(commands_of "$document")
done
if ((n_commands == 0)); then
    echo '1..0 # SKIP no document shows a command'
else
    echo "1..$n_commands"
fi
((n_failed == 0))
