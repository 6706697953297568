#!/bin/sh
# What is said about requests to save a job, and where checkpoints cannot be made.
#
# usage: requests.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
# No collective of all ranks for five seconds.
$sorrel run -n 3 --checkpoint "$folder/sleep" --every 100ms "$program" 40 1000 0 sleep > "$folder/out" 2> "$folder/err" || fail "ended with $?"
[ "$(grep -c 'the ranks have called no collective of all ranks' "$folder/err")" = 1 ] || fail "does not say that no collective comes"
for wrong in 1 5ms -1s soon; do
  $sorrel run -n 3 --checkpoint "$folder/wrong" "--every=$wrong" "$program" 1 1 > "$folder/out" 2> "$folder/err" && fail "takes --every $wrong"
  grep -q -- '--every must be a time such as 30s, 10min or 2h' "$folder/err" || fail "does not say what --every allows"
done
$sorrel run -n 3 --every 1s "$program" 1 1 > "$folder/out" 2> "$folder/err" && fail "takes --every without a folder"
grep -q -- '--every requires --checkpoint DIR' "$folder/err" || fail "does not say what --every requires"
# A full device, in the form of a limit of the size of files. The checkpoints before stay, and the job goes on.
$sorrel run -n 3 "$program" 40 1000 > "$folder/expected" 2> "$folder/err" || fail "the plain run ended with $?"
$sorrel run -n 3 --checkpoint "$folder/save" "$program" 40 10 0 limit > "$folder/out" 2> "$folder/err" || fail "the job does not go on: $?"
[ "$(grep -c '^sorrel: no checkpoint, and the job goes on: .*File too large' "$folder/err")" = 2 ] || fail "does not say twice what failed"
cmp "$folder/out" "$folder/expected" || fail "the history differs"
ls "$folder/save" | grep tmp && fail "a part of a checkpoint is left"
$sorrel restart "$folder/save" > "$folder/out" 2> "$folder/err" || fail "the restart ended with $?"
[ "$(sed -n 2p "$folder/out" | cut -d ' ' -f 1)" = 20 ] || fail "does not begin at the checkpoint before"
