#!/bin/sh
# A signal after each instruction with which a rank goes to a safepoint does no harm.
#
# usage: stepped.sh SORREL STEPPED_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
$sorrel run -n 2 --workers 1 --checkpoint "$folder/save" "$program" 5 > "$folder/out" 2> "$folder/err" || fail "ended with $?"
[ "$(cat "$folder/out")" = "saved 5 times, signals: yes" ] || fail "other output"
