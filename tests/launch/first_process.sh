#!/usr/bin/env bash
# A job whose command is the first process of a PID namespace, as in a container, ends by a signal to that process: first_process.sh SIGNAL COMMAND…
# The command must write a line, and then wait. Skipped (77) where namespaces are not allowed.
set -u
signal=$1
shift
space=(unshare --pid --fork --mount-proc)
"${space[@]}" true 2>/dev/null || space=(unshare --user --map-root-user --pid --fork --mount-proc)
"${space[@]}" true 2>/dev/null || { echo "no PID namespaces here"; exit 77; }
folder=$(mktemp -d) outer=
trap 'rm -rf "$folder"; [ -z "$outer" ] || kill -9 "$outer" 2>/dev/null' EXIT
mkfifo "$folder/out"
# A shell ignores SIGINT in what it starts in the background.
"${space[@]}" --kill-child env --default-signal "$@" >"$folder/out" 2>"$folder/err" &
outer=$!
exec 3<"$folder/out"
read -r _ <&3 || { echo "the job does not start"; cat "$folder/err"; exit 1; }
first=$(cat "/proc/$outer/task/$outer/children")
kill -s "$signal" $first
for ((i = 0; i < 1000; ++i)); do
  kill -0 $first 2>/dev/null || break
  sleep 0.05
done
kill -0 $first 2>/dev/null && { echo "the job still runs after SIG$signal"; exit 1; }
wait "$outer"
status=$?
outer=
[ $status = $((128 + $(kill -l "$signal"))) ] || { echo "status $status"; cat "$folder/err"; exit 1; }
