#!/usr/bin/env bash
# Sends SIGUSR1 to a job whose standard error cannot be written: activity_unread.sh closed|full COMMAND [WORDS...]
# The job goes on until the file of its last word exists (@ stands for it), and must then end with status 0.
set -u
state=$1
shift
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
folder=$(mktemp -d) job=
trap '[ -z "$job" ] || kill -9 "$job" 2>/dev/null; rm -rf "$folder"' EXIT
fail() {
  echo "FAILED: $1"
  exit 1
}
if [ "$state" = full ]; then
  mkfifo "$folder/err"
  exec 9<>"$folder/err"
  head -c 65536 /dev/zero >&9
  "${@/#@/$folder/end}" >"$folder/out" 2>&9 &
else
  "${@/#@/$folder/end}" >"$folder/out" 2>&- &
fi
job=$!
is_ready() { grep -q ready "$folder/out"; }
wait_until 60000 is_ready || fail "the job has not begun"
for _ in 1 2; do
  kill -USR1 "$job" || fail "a signal has ended the job"
  sleep 0.5
done
touch "$folder/end"
has_ended() { ! kill -0 "$job" 2>/dev/null; }
wait_until 60000 has_ended || fail "the job does not end"
wait "$job"
status=$?
job=
[ "$status" = 0 ] || fail "status $status"
