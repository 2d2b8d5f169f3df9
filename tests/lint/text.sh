#!/usr/bin/env bash
# Words and characters that the text of the project does without.
. "${0%/*}/common.sh"

# forbid WHY REGEX PATTERN...: no file whose name matches a pattern has a line like the regex.
forbid() {
    local why=$1 regex=$2 hit
    shift 2
    while IFS= read -r hit; do
        report "$hit  <- $why"
    done < <(project_files "$@" | xargs -0 -r grep -nHIE -- "$regex")
}

text=('*.[ch]' '*.sh' '*.md' '*.yaml' '*.sql' '*.py' meson.build meson_options.txt demo check run)
forbid 'notes to oneself belong elsewhere' '\b(TO[D]O|FIX[M]E|X[X]X)\b' "${text[@]}"
forbid 'a path of one machine' '(^|[^[:alnum:]_.*}])/(work|home|root)/' "${text[@]}"
forbid 'white space at the end of a line' '[[:space:]]$' "${text[@]}"
forbid 'a tab' $'\t' '*.[ch]' '*.yaml' meson.build
forbid 'no goto' '^[[:space:]]*goto[[:space:]]' '*.[ch]'

# Only what serves the user's commands prints.
while IFS= read -r hit; do
    report "$hit  <- library code prints nothing"
done < <(find src -name '*.[ch]' -not -path 'src/report/*' -not -path 'src/commands/*' \
    -not -path 'src/main.c' -print0 | xargs -0 -r grep -nHE \
    '\b(printf|puts|putchar|perror|g_print|g_printerr)\(|\bfprintf\(std(out|err)')
finish
