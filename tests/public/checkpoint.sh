#!/bin/sh
# The newest checkpoint may be incomplete at a death, the one before it is whole. A job that dies three times and is restarted three times computes what one that does not die does.
#
# usage: checkpoint.sh SORREL PROGRAM "RUN_OPTIONS"
set -u
sorrel=$1 program=$2 options=$3
. "$(dirname "$0")/../checkpoint/folder.sh"
$sorrel run $options --checkpoint "$folder/save" "$program" "$folder/data" 5 9 13 > "$folder/out" 2> "$folder/err"
[ $? -eq 137 ] || fail "the job did not die"
for restart in 1 2; do
  $sorrel restart "$folder/save" > "$folder/out" 2> "$folder/err"
  [ $? -eq 137 ] || fail "restart $restart did not die"
done
$sorrel restart "$folder/save" > "$folder/out" 2> "$folder/err" || fail "the last restart ended with $?"
grep -qx 'restarted 3 times' "$folder/out" || fail "it was not restarted three times"
