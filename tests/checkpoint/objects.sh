#!/bin/sh
# Objects of MPI are the same after a restart.
#
# usage: objects.sh SORREL OBJECTS_PROGRAM "RUN_OPTIONS" "RESTART_OPTIONS"
set -u
sorrel=$1 program=$2 run_options=$3 restart_options=$4
. "$(dirname "$0")/folder.sh"
$sorrel run $run_options --checkpoint "$folder/other" "$program" "$folder/data" 0 > "$folder/out" 2> "$folder/err" ||
  fail "the job that goes on ended with $?"
rm "$folder/data"
$sorrel run $run_options --checkpoint "$folder/save" "$program" "$folder/data" 1 > "$folder/out" 2> "$folder/err"
[ $? -eq 137 ] || fail "the run to be killed was not"
cp -r "$folder/save" "$folder/again"
$sorrel restart $restart_options "$folder/save" > "$folder/out" 2> "$folder/err" || fail "the restart ended with $?"
grep -q '^restored [1-9]' "$folder/out" || fail "was not restored"
rm "$folder/data"
$sorrel restart "$folder/again" > "$folder/out" 2> "$folder/err" && fail "restarts without the file"
grep -q 'cannot open .*/data again: No such file' "$folder/err" || fail "does not name the file that is missing"
