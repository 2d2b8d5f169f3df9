# shellcheck shell=bash
# Sourced by every lint script: moves to the top of the source tree, gathers what is wrong.
set -euo pipefail
shopt -s nullglob extglob
cd "$SOURCE_ROOT"

n_reported=0

report() {
    printf '%s\n' "$*"
    n_reported=$((n_reported + 1))
}

# Runs a command and reports all it says, unless it succeeds.
report_failure_of() {
    local said
    said=$("$@" 2>&1) || report "${said:-$1 failed}"
}

# The last command of every script: its status is the script's.
finish() {
    ((n_reported == 0))
}

skip_without() {
    if ! command -v "$1" >/dev/null; then
        printf '%s is not installed\n' "$1"
        exit 77
    fi
}

# The files of the project whose names match one of the patterns, each ended by a zero byte.
project_files() {
    local -a names=()
    local pattern
    for pattern in "$@"; do
        names+=(-o -name "$pattern")
    done
    find . \( -name .git -o -path './build*' -o -path './tests/fuzz/corpus' \) -prune \
        -o -type f \( "${names[@]:1}" \) -print0 | sort -z
}
