#!/bin/sh
# The history of a job that was killed and restarted has the same bits as that of one that was not.
#
# usage: restart.sh SORREL STEPS_PROGRAM "RUN_OPTIONS" "RESTART_OPTIONS"
set -u
sorrel=$1 program=$2 run_options=$3 restart_options=${4:-}
. "$(dirname "$0")/folder.sh"
fail() {
  echo "$*"
  for file in expected first second; do echo "--- $file"; tail -n 80 "$folder/$file" "$folder/$file.err" 2>&1; done
  exit 1
}
$sorrel run $run_options "$program" 60 1000 > "$folder/expected" 2> "$folder/expected.err" || fail "the plain run ended with $?"
# Dies after the third checkpoint: the second one is whole.
$sorrel run $run_options --checkpoint "$folder/save" "$program" 60 10 3 > "$folder/first" 2> "$folder/first.err"
[ $? -eq 137 ] || fail "the run to be killed was not"
$sorrel restart $restart_options "$folder/save" > "$folder/second" 2> "$folder/second.err" || fail "the restart ended with $?"
[ "$(head -n 1 "$folder/second")" = restarted ] || fail "the restarted job does not begin at a checkpoint"
step=$(sed -n 2p "$folder/second" | cut -d ' ' -f 1)
[ "$step" = 20 ] || [ "$step" = 30 ] || fail "it goes on at step $step, not 20 or 30"
tail -n +"$step" "$folder/expected" > "$folder/expected.tail"
tail -n +2 "$folder/second" | diff "$folder/expected.tail" - || fail "the history differs"
