#!/usr/bin/env bash
# `sorrel run --schedules`: finds what goes wrong in some orders only, prints a command that repeats it, and stops early where no order matters.
# Its status, what its ranks do and its end by a signal are as with one run. usage: schedules.sh SORREL PROGRAM
set -euo pipefail
sorrel=$1
program=$2
export PATH="$(dirname "$sorrel"):$PATH"

fail() {
  echo "$1"
  cat output
  exit 1
}

cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

for how in wrong deadlock; do
  status=0
  sorrel run -n 3 --schedules 24 --check-json found.json --junit junit.xml "$program" "$how" > output 2>&1 || status=$?
  [ "$status" = 66 ] || fail "$how: exit status $status instead of 66"
  replay=$(sed -n 's/^    in [0-9]* of 24 schedules, with --seed .*: \(sorrel run .*\)$/\1/p' output | head -n 1)
  [ -n "$replay" ] || fail "$how: no command that repeats it"
  [[ $replay != *found.json* && $replay != *junit.xml* ]] || fail "$how: the command that repeats it writes files: $replay"
  status=0
  $replay > replayed 2>&1 || status=$?
  [ "$status" != 0 ] || fail "$how: '$replay' does not fail"
done
grep -q 'exit status of the program' <(sorrel run -n 3 --schedules 24 "$program" wrong 2>&1) || fail "the exit status is not named"

sorrel run -n 3 --schedules 24 "$program" right > output 2>&1 || fail "a correct program has findings"
grep -q '24 schedules, [2-9] different orders' output || fail "the orders are not counted"
sorrel run -n 3 --schedules 24 "$program" ordered > output 2>&1 || fail "an ordered program has findings"
grep -q 'one schedule is enough' output || fail "an ordered program needs one schedule"

# The order in which ranks come to a window.
sorrel run -n 3 --schedules 24 "$program" ticket > output 2>&1 || true
grep -q 'exit status of the program depends on the order' output || fail "the order at a window is not explored"
# A run without a finding says nothing about the others.
sorrel run -n 3 --schedules 5 "$program" once > output 2>&1 && fail "the request is not found"
grep -q '; 5 schedules, ' output || fail "ends before the last schedule"

sorrel run -n 3 --seed 1 --schedules 2 "$program" > output 2>&1 && fail "--seed and --schedules are accepted together"
grep -q 'exclude each other' output || fail "the conflict is not named"
# A status that is the same in all orders is no finding, and is that of the command.
status=0
sorrel run -n 3 --schedules 4 "$program" fails > output 2>&1 || status=$?
[ "$status" = 4 ] || fail "a program that always fails: exit status $status instead of 4"

# As a daemon may start it: with the ends of children ignored.
timeout 100 env --ignore-signal=CHLD sorrel run -n 3 --schedules 2 "$program" right > output 2>&1 || fail "not with SIGCHLD ignored: $?"

# await COMMAND...: until it succeeds, for a minute
await() {
  for ((tries = 0; tries < 600; tries++)); do
    ! "$@" || return 0
    sleep 0.1
  done
  fail "not within a minute: $*"
}

# Asks the command what its ranks do; the answer of a busy machine may lack theirs.
is_shown() {
  kill -USR1 "$command"
  grep -q '^ .* runs on worker' output
}

is_gone() {
  ! kill -0 "$1" 2>/dev/null
}

# A request for what the ranks do, and the end of the command, reach the job.
for signal in TERM KILL; do
  : > first
  rm -f second
  sorrel run -n 3 --schedules 4 "$program" again > output 2>&1 &
  command=$!
  await [ -e second ]
  job=$(cat second)
  await is_shown
  grep -q '^sorrel: check: schedule 1 of 4, --seed 1$' output || fail "the schedule is not named"
  kill -"$signal" "$command"
  status=0
  wait "$command" 2>/dev/null || status=$?
  [ "$status" = $((128 + $(kill -l "$signal"))) ] || fail "SIG$signal: status $status"
  await is_gone "$job"
done
echo "schedules: found, repeated, counted, ended"
