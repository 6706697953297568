#!/usr/bin/env bash
# Looks into a running job: view.sh SORREL EXPECTED VERB [OPTIONS…] -- COMMAND [WORDS…]
# The job writes a line when its ranks are busy and goes on until the file of its last word exists (@ stands for it). `sorrel VERB
# OPTIONS JOB` must print, in one of some attempts, what matches the extended regular expression EXPECTED (newlines are ~), and end with
# STATUS (0). The job must then end with status 0 and have written nothing else.
# SIGNAL=STOP: the job's process is stopped meanwhile. KILL=1: the looking command is killed at random moments.
set -u
sorrel=$1 expected=$2 verb=$3
shift 3
options=()
while [ "$1" != -- ]; do
  options+=("$1")
  shift
done
shift
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
folder=$(mktemp -d) job=
trap '[ -z "$job" ] || kill -9 "$job" 2>/dev/null; rm -rf "$folder"' EXIT
fail() {
  printf 'FAILED: %s\nlook:\n%s\nstderr:\n%s\nexpected: %s\n' "$1" "$(head -c 6000 "$folder/look")" "$(head -c 2000 "$folder/err")" "$expected"
  exit 1
}
"${@/#@/$folder/end}" >"$folder/out" 2>"$folder/err" &
job=$!
is_ready() { grep -qs ready "$folder/out"; }
wait_until 60000 is_ready || fail "the job has not begun"
[ -z "${SIGNAL:-}" ] || kill "-$SIGNAL" "$job"
look() {
  "$sorrel" "$verb" "${options[@]/#JOB/$job}" >"$folder/look" 2>&1
  [ $? = "${STATUS:-0}" ] || return 1
  [[ $(tr '\n' '~' <"$folder/look") =~ $expected ]]
}
if [ -n "${KILL:-}" ]; then
  for ((i = 0; i < 20; ++i)); do
    "$sorrel" "$verb" "${options[@]/#JOB/$job}" >"$folder/look" 2>&1 &
    looking=$!
    sleep "0.0$((RANDOM % 8))"
    kill -9 "$looking" 2>/dev/null
    wait "$looking" 2>/dev/null
  done
fi
wait_until 60000 look || fail "what is seen"
[ -z "${SIGNAL:-}" ] || kill -CONT "$job"
touch "$folder/end"
wait "$job"
status=$?
job=
[ "$status" = 0 ] || fail "status $status of the job"
[ ! -s "$folder/err" ] || fail "the job has written on standard error"
