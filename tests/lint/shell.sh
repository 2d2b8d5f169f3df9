#!/usr/bin/env bash
# Nothing is suspicious in any script.
. "${0%/*}/common.sh"

skip_without shellcheck
mapfile -d '' -t scripts < <(project_files '*.sh' demo check run)
report_failure_of shellcheck --external-sources --source-path=SCRIPTDIR --format=gcc "${scripts[@]}"
finish
