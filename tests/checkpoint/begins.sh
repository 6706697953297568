#!/bin/bash
# A job that is killed before its first checkpoint, or again and again after it, goes on as often as it may: unless its process ends itself twice
# at one point, or the job has done something that would be done twice.
#
# usage: begins.sh SORREL BEGIN_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
# run MARKS OPTIONS -- ARGUMENTS: the job, with so many deaths to come.
run() {
  local number options
  for number in $(seq "$1"); do : > "$folder/mark.$number"; done
  shift
  options=
  while [ "$1" != -- ]; do
    options="$options $1"
    shift
  done
  shift
  # shellcheck disable=SC2086
  timeout 120 "$sorrel" run -n 4 $options "$program" "$folder" "$@" > "$folder/out" 2> "$folder/err"
  status=$?
}
# expect STATUS LINE...: all lines of the command.
expect() {
  local line
  [ $status -eq "$1" ] || fail "ended with $status, not $1"
  shift
  for line; do grep -Eq "^sorrel: $line\$" "$folder/err" || fail "does not say '$line'"; done
  [ "$(grep -c '^sorrel: ' "$folder/err")" -eq $# ] || fail "says another number of lines than $#"
  [ $status -ne 0 ] || [ "$(cat "$folder/out")" = "sum 6" ] || fail "prints something else"
  rm -f "$folder"/mark.*
}
# Each kind of job: LINE is that of one death.
for options in "--procs 2 --checkpoint memory" "--workers 2 --checkpoint memory" "--procs 2 --restarts 10 --checkpoint $folder/save"; do
  case $options in
    *procs*) line='process 1 \(ranks 2-3\) was killed by signal 9 \(Killed\)' ;;
    *) line='process 0 \(ranks 0-3\) was killed by signal 9 \(Killed\)' ;;
  esac
  rm -rf "$folder/save"
  begins='the job begins again, since no rank has left MPI_Init'
  run 3 $options -- init killed
  expect 0 "$line" "$begins: restart 1 of at most 10" "$line" "$begins after 0.1 s: restart 2 of at most 10" \
    "$line" "$begins after 0.2 s: restart 3 of at most 10"
  rm -rf "$folder/save"
  goes='the job goes on from checkpoint 1'
  run 3 $options -- run killed
  expect 0 "$line" "$goes: restart 1 of at most 10" "$line" "$goes after 0.1 s: restart 2 of at most 10" \
    "$line" "$goes after 0.2 s: restart 3 of at most 10"
done
memory="--procs 2 --checkpoint memory"
line='process 1 \(ranks 2-3\) was killed by signal 9 \(Killed\)'
run 3 $memory --restarts 2 -- run killed
expect 137 "$line" "$goes: restart 1 of at most 2" "$line" "$goes after 0.1 s: restart 2 of at most 2" \
  "$line" 'the job is not restarted: it has been 2 times \(--restarts\)'
# Ends itself twice at the same point.
run 3 $memory -- init itself
expect 137 "$line" "$begins: restart 1 of at most 10" "$line" 'the job is not restarted: a process has ended itself twice before the first checkpoint'
run 3 $memory -- run itself
expect 137 "$line" "$goes: restart 1 of at most 10" "$line" 'the job is not restarted: a process has ended itself twice after checkpoint 1'
# What it has done before MPI_Init would be done again.
cure='; --every TIME, or calls of sorrel_checkpoint\(\), save the job'
run 1 $memory -- init killed file
expect 137 "$line" "the job is not restarted: it has no checkpoint: its program has opened a file for writing before MPI_Init$cure"
run 1 $memory -- init killed process
expect 137 "$line" "the job is not restarted: it has no checkpoint: its program has started a process before MPI_Init$cure"
run 1 $memory -- init killed device
expect 0 "$line" "$begins: restart 1 of at most 10"
# With a checkpoint that does not matter; without one its ranks have left MPI_Init.
run 1 $memory -- run killed file
expect 0 "$line" "$goes: restart 1 of at most 10"
refusal='rank 2: it has mapped memory \([^)]*\)'
run 1 $memory -- run killed map
expect 137 "no checkpoint, and the job goes on: $refusal" "$line" \
  "the job is not restarted: it has no checkpoint: none could be made in MPI_Init: $refusal$cure"
# A signal to the command ends the job, also between two lives.
for number in 1 2 3 4 5 6 7 8 9; do : > "$folder/mark.$number"; done
$sorrel run -n 4 $memory "$program" "$folder" init killed > "$folder/out" 2> "$folder/err" &
pid=$!
. "$(dirname "$0")/../wait_until.sh"
wait_until 90000 grep -q 'after 0.4 s' "$folder/err" || fail "has no third restart"
kill $pid
wait $pid
status=$?
[ $status -eq 143 ] || fail "ended with $status after a signal"
