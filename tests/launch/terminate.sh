#!/usr/bin/env bash
# Runs a job, and sends SIGTERM, or the signal of the variable SIGNAL, to its launcher only, as soon as the job has written a line:
# terminate.sh COMMAND [ARGUMENTS…]
# Ends with the job's status.
set -u
folder=$(mktemp -d) job=
trap 'rm -rf "$folder"; [ -z "$job" ] || kill -9 "$job" 2>/dev/null' EXIT
mkfifo "$folder/out"
"$@" >"$folder/out" &
job=$!
exec 3<"$folder/out"
read -r _ <&3 && kill -s "${SIGNAL:-TERM}" "$job"
wait "$job"
status=$?
job=
exit $status
