#!/usr/bin/env bash
# Runs a job in a process group of its own, and sends the group a signal when the job has written a line: interrupt.sh
# SIGNAL COMMAND [WORDS…]
# Ends with the job's status.
set -um
signal=$1
shift
folder=$(mktemp -d) job=
trap 'rm -rf "$folder"; [ -z "$job" ] || kill -9 -- "-$job" 2>/dev/null' EXIT
mkfifo "$folder/out"
"$@" >"$folder/out" &
job=$!
exec 3<"$folder/out"
read -r _ <&3 && kill -s "$signal" -- "-$job"
wait "$job"
