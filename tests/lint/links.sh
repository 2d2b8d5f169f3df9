#!/usr/bin/env bash
# What a document links to inside the project is there.
. "${0%/*}/common.sh"

while IFS= read -r -d '' document; do
    while IFS= read -r target; do
        target=${target#](}
        target=${target%)}
        target=${target%%#*}
        case $target in
        '' | *://* | mailto:*) continue ;;
        esac
        [[ -e ${document%/*}/$target ]] || report "$document: links to $target, which is not there"
    done < <(grep -oE '\]\([^) ]+\)' "$document")
done < <(project_files '*.md')
finish
