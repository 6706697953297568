#!/usr/bin/env bash
# Sends SIGUSR1 to a job: activity.sh COUNT REPORT COMMAND [WORDS…]
# The job writes a line when its ranks are busy, goes on until the file of its last word exists (@ stands for it), and must end with
# status 0. From the first match on, each of COUNT signals must make it write a report that matches the extended regular expression
# REPORT (newlines are ~), and nothing else. For REPORT - it gets one signal, at which its ranks end, and must write nothing.
# A report that comes before all ranks have begun their calls does not count, nor does one in which a process is missing because it has not
# answered within a second (docs/waits.md): on a busy machine that happens.
set -u
count=$1 report=$2
shift 2
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
folder=$(mktemp -d) job=
trap '[ -z "$job" ] || kill -9 "$job" 2>/dev/null; rm -rf "$folder"' EXIT
fail() {
  printf 'FAILED: %s\nstderr:\n%s\nexpected: %s\n' "$1" "$(head -c 6000 "$folder/err")" "$report"
  exit 1
}
"${@/#@/$folder/end}" >"$folder/out" 2>"$folder/err" &
job=$!
is_ready() { grep -q ready "$folder/out"; }
wait_until 60000 is_ready || fail "the job has not begun"
early=0 late=0
has_reports() { [ "$(grep -c '^sorrel: ' "$folder/err")" -ge "$i" ]; }
matches_report() {
  text=$(tail -n "+$(grep -n '^sorrel: ' "$folder/err" | sed -n "${i}s/:.*//p")" "$folder/err" | tr '\n' '~')
  [[ $text =~ $report ]]
}
is_answered() { matches_report || [[ $text == *" not known"* ]]; }
for ((i = 1, matches = 0; matches < count; ++i)); do
  kill -USR1 "$job"
  [ "$report" = - ] && break
  wait_until 60000 has_reports || fail "no report for signal $i"
  # Its lines come one after the other. Before the first match, the job may not be where it is to be.
  if [ "$matches" = 0 ]; then limit=500; else limit=60000; fi
  wait_until "$limit" is_answered
  if matches_report; then
    matches=$((matches + 1))
  elif [ "$matches" = 0 ] && [ "$early" -lt 120 ]; then
    early=$((early + 1))
  elif [[ $text == *" not known"* ]] && [ "$late" -lt 10 ]; then
    late=$((late + 1))
  else
    fail "report $i"
  fi
done
touch "$folder/end"
wait "$job"
status=$?
job=
[ "$status" = 0 ] || fail "status $status"
[ "$report" != - ] || [ ! -s "$folder/err" ] || fail "standard error is not empty"
