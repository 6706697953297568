#!/bin/sh
# One job at a time uses a folder of checkpoints: another job, and a restart of a job that still runs, are refused. However the job ends, the
# folder is free then.
#
# usage: lock.sh SORREL STEPS_PROGRAM [OPTIONS]
set -u
sorrel=$1 program=$2 options=${3-}
. "$(dirname "$0")/folder.sh"
# Ends with the test: steps without end, and a checkpoint after the first of them.
"$sorrel" run -n 4 $options --checkpoint "$folder/save" "$program" 100000000 1000000 > "$folder/long" 2> "$folder/err" &
job=$!
trap 'kill -9 $job 2> /dev/null; rm -rf "$folder"' EXIT
i=0
until [ -s "$folder/long" ]; do
  i=$((i + 1)); [ $i -lt 2000 ] || fail "the job does not start"
  sleep 0.05
done
timeout 90 "$sorrel" run -n 4 --checkpoint "$folder/save" "$program" 1 1 > "$folder/out" 2> "$folder/err"
[ $? = 2 ] || fail "a second job was not refused"
grep -q "save is in use: a job with its checkpoints there runs (process $job on " "$folder/err" || fail "does not say which job uses it"
timeout 90 "$sorrel" restart "$folder/save" > "$folder/out" 2> "$folder/err"
[ $? = 2 ] || fail "a restart of a job that runs was not refused"
grep -q "save is in use: .*(process $job on " "$folder/err" || fail "the restart does not say which job runs"
kill -9 $job
wait $job 2> /dev/null
# No checkpoint was made, but the folder is free.
timeout 90 "$sorrel" run -n 4 --checkpoint "$folder/save" "$program" 12 4 > "$folder/out" 2> "$folder/err" || fail "after a kill: ended with $?"
timeout 90 "$sorrel" restart "$folder/save" > "$folder/out" 2> "$folder/err" || fail "the restart ended with $?"
