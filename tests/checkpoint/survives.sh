#!/bin/sh
# A job of which a process is killed goes on by itself, as often as it may, and not if that would not help.
#
# usage: survives.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
run() {
  $sorrel run -n 4 --procs 2 "$@" > "$folder/out" 2> "$folder/err"
}
expect() {
  status=$?
  [ $status -eq "$1" ] || fail "ended with $status, not $1"
  shift
  for line; do grep -Eq "^sorrel: $line\$" "$folder/err" || fail "does not say '$line'"; done
  [ "$(grep -c '^sorrel: ' "$folder/err")" -eq $# ] || fail "says another number of lines than $#"
}
killed='process 0 \(ranks 0-1\) was killed by signal 9 \(Killed\)'
run "$program" 60 1000
expect 0
cp "$folder/out" "$folder/expected"
# Rank 1 kills its process after three checkpoints of the first life. With files, or with memory; with a report only of what ends the job.
for where in memory "$folder/save --restarts 1"; do
  run --checkpoint $where --report-json "$folder/report" "$program" 60 10 3
  expect 0 "$killed" 'the job goes on from checkpoint [34]: restart 1 of at most [0-9]+'
  [ ! -e "$folder/report" ] || fail "writes a report although the job has not failed"
  step=$(sed -n '/^restarted$/{n;p;}' "$folder/out" | cut -d ' ' -f 1)
  [ "$step" = 20 ] || [ "$step" = 30 ] || fail "goes on at step $step"
  sed '1,/^restarted$/d' "$folder/out" > "$folder/second"
  tail -n +"$step" "$folder/expected" | cmp - "$folder/second" || fail "the history differs"
done
# A program that ends itself at one point, in whatever life: begins.sh has what is to be restarted.
run --checkpoint memory "$program" 60 1000 0 die
expect 137 'process 1 \(ranks 2-3\) was killed by signal 9 \(Killed\)' 'the job goes on from checkpoint 1: restart 1 of at most 10' \
  'process 1 \(ranks 2-3\) was killed by signal 9 \(Killed\)' 'the job is not restarted: a process has ended itself twice after checkpoint 1'
run --checkpoint memory --restarts 0 --report-json "$folder/report" "$program" 60 10 3
expect 137 "$killed"
grep -q '"kind": *"killed"' "$folder/report" || fail "writes no report"
# What the program does by itself ends the job.
run --checkpoint memory "$program" 60 10 0 abort
status=$?
[ $status -eq 3 ] || fail "a program that aborts ended with $status"
grep -q 'restart' "$folder/err" && fail "restarts a program that aborts"
for wrong in -1 many 1.5; do
  run --checkpoint memory "--restarts=$wrong" "$program" 1 1
  expect 2 "--restarts must be a whole number from 0 to 1000000, not '$wrong'"
done
run --restarts 1 "$program" 1 1
expect 2 '--restarts requires --checkpoint DIR'
# Nothing outlives the command: its files in memory have no name, and its processes end with it.
$sorrel run -n 4 --procs 2 --checkpoint memory "$program" 100000 1 > "$folder/out" 2> "$folder/err" &
pid=$!
tries=0
until [ "$(wc -l < "$folder/out")" -gt 3 ]; do
  sleep 0.02
  tries=$((tries + 1))
  [ $tries -lt 4000 ] || fail "does not begin"
done
left=$(cat /proc/$pid/task/$pid/children)
ls -l /proc/$pid/fd | grep -q '/memfd:sorrel-checkpoint (deleted)' || fail "the checkpoints are not in files without a name"
kill -9 $pid
wait $pid 2> /dev/null
tries=0
for process in $left; do
  while kill -0 "$process" 2> /dev/null; do
    sleep 0.02
    tries=$((tries + 1))
    [ $tries -lt 3000 ] || fail "process $process has outlived the command"
  done
done
