#!/bin/sh
# A rank that comes late to a checkpoint, while the search for deadlocks looks at those that wait.
#
# usage: late.sh SORREL LATE_PROGRAM OPTIONS
set -u
sorrel=$1 program=$2 options=$3
. "$(dirname "$0")/folder.sh"
# shellcheck disable=SC2086
"$sorrel" run $options --checkpoint "$folder/save" "$program" > "$folder/out" 2>&1
status=$?
[ $status -eq 0 ] && [ ! -s "$folder/out" ] || fail "the run ended with $status: $(cat "$folder/out")"
