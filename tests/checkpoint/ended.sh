#!/bin/sh
# What has ended keeps no job from being saved. A rank that has had a thread does: a line names it, and no rank waits for it.
#
# usage: ended.sh SORREL ENDED_PROGRAM "RUN_OPTIONS"
set -u
sorrel=$1 program=$2 options=$3
. "$(dirname "$0")/folder.sh"
$sorrel run $options --checkpoint "$folder/save" "$program" "$folder/data" > "$folder/out" 2> "$folder/err" || fail "the job ended with $?"
grep -q '^saved after each of [0-9]*$' "$folder/out" || fail "it was not saved"
for ranks in one all; do
  $sorrel run $options --checkpoint "$folder/$ranks" "$program" - $ranks > "$folder/out" 2> "$folder/err" || fail "threads of $ranks: the job ended with $?"
  grep -q '^sorrel: no checkpoint, and the job goes on: rank [02]: the call is made by a thread of its own' "$folder/err" ||
    fail "threads of $ranks: no line names the rank"
done
