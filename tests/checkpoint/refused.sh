#!/bin/sh
# A job that cannot be saved says why in one line, and goes on.
#
# usage: refused.sh SORREL STEPS_PROGRAM WHAT TEXT
set -u
sorrel=$1 program=$2 what=$3 text=$4
. "$(dirname "$0")/folder.sh"
$sorrel run -n 3 --workers 2 --checkpoint "$folder/save" "$program" 4 4 0 "$what" > "$folder/out" 2> "$folder/err" || fail "ended with $?"
grep -Eq "^sorrel: no checkpoint, and the job goes on: .*$text" "$folder/err" || fail "does not say '$text'"
[ "$(wc -l < "$folder/err")" -eq 1 ] || fail "says more than one line"
grep -q '^refused$' "$folder/out" || fail "the call does not tell"
grep -q '^4 ' "$folder/out" || fail "the job does not go on"
$sorrel restart "$folder/save" > "$folder/out" 2> "$folder/err" && fail "restarts"
grep -q 'has no whole checkpoint' "$folder/err" || fail "does not say that there is no checkpoint"
