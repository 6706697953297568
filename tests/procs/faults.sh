#!/usr/bin/env bash
# Parts of a job are killed or stopped from outside: faults.sh WHAT REPETITIONS SORREL FAULTS [OPTIONS…]
# After each repetition no process of the job is left.
set -u
what=$1 repetitions=$2 sorrel=$3 faults=$4
shift 4
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
name=f$$
ln -s "$faults" "$folder/$name"
. "$(dirname "$(readlink -f "$0")")/watch.sh"

begin() {
  # Removes the output of the last repetition.
  : >"$folder/out"
  "$sorrel" run -n 4 "$@" "$folder/$name" "${words[@]}" >"$folder/out" 2>"$folder/err" </dev/null &
  job=$!
}

no_process_left() { [ -z "$(living)" ]; }

end_with() {
  wait_until $soon_ms ended || fail "still there"
  wait "$job"
  local status=$?
  [ "$status" = "$1" ] || fail "status $status, expected $1"
  wait_until $soon_ms no_process_left || fail "a process is left"
}

for ((i = 1; i <= repetitions; ++i)); do
  case $what in
    kill_one)
      words=(compute)
      begin "$@"
      wait_until 60000 started || fail "did not start"
      victim=$(living | shuf -n 1)
      kill -9 "$victim"
      end_with 137
      grep -Eqx 'sorrel: process [0-3] \(ranks? [0-9-]+\) was killed by signal 9 \(Killed\)' "$folder/err" || fail "the message"
      [ "$(wc -l <"$folder/err")" = 1 ] || fail "more than one line"
      ;;
    kill_run)
      words=(compute)
      begin "$@"
      wait_until 60000 started || fail "did not start"
      kill -9 "$job"
      end_with 137
      ;;
    stop_run_with_term)
      words=(compute)
      begin "$@"
      wait_until 60000 started || fail "did not start"
      kill -TERM "$job"
      end_with 143
      ;;
    stop_one)
      words=(rounds 6)
      begin "$@"
      wait_until 60000 started || fail "did not start"
      victim=$(living | head -n 1)
      kill -STOP "$victim"
      sleep 5
      kill -CONT "$victim"
      end_with 0
      grep -qx over "$folder/out" || fail "did not end well"
      ;;
  esac
done 2> >(grep -v Killed >&2)
