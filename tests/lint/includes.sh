#!/usr/bin/env bash
# Includes point left: a folder of src/ never includes a header of one further right.
. "${0%/*}/common.sh"
order=(base config topology collectives workloads engine models sim trace report calibrate formats
    commands)

declare -A position
for i in "${!order[@]}"; do
    position[${order[i]}]=$i
done

check_include() {
    local place=$1 folder=$2 header=$3
    local target=${header%%/*}
    if [[ $header != */* ]]; then
        [[ ! -e src/$folder/$header ]] || report "$place: say the folder: \"$folder/$header\""
    elif [[ -z ${position[$target]-} ]]; then
        report "$place: includes $header, which is in no folder of src/"
    elif ((position[$target] > position[$folder])); then
        report "$place: $folder includes $header, which is further right"
    fi
}

for path in src/*/; do
    folder=$(basename "$path")
    if [[ -z ${position[$folder]-} ]]; then
        report "$path: has no place in the order of folders"
        continue
    fi
    while IFS=: read -r file line include; do
        header=${include#*\"}
        check_include "$file:$line" "$folder" "${header%%\"*}"
    done < <(grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$path"*.[ch])
done
finish
