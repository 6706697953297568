#!/usr/bin/env bash
# What happens to a job when somebody else kills or stops parts of it: faults.sh WHAT REPETITIONS SORREL FAULTS [OPTIONS…]
# After each repetition no process of the job is left.
set -u
what=$1 repetitions=$2 sorrel=$3 faults=$4
shift 4
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
name=f$$
ln -s "$faults" "$folder/$name"

fail() {
  printf 'FAILED in repetition %s: %s\nstdout:\n%s\nstderr:\n%s\n' "$i" "$1" "$(cat "$folder/out")" "$(cat "$folder/err")"
  pkill -9 -x "$name"
  exit 1
}

now_ms() { date +%s%3N; }
# A dead one that its new parent has not collected yet is gone.
living() { pgrep -x -r D,R,S,T "$name"; }

begin() {
  "$sorrel" run -n 4 "$@" "$folder/$name" "${words[@]}" >"$folder/out" 2>"$folder/err" </dev/null &
  job=$!
}

wait_until() {
  local deadline=$(($(now_ms) + $1))
  shift
  until "$@"; do
    (($(now_ms) < deadline)) || return 1
    sleep 0.01
  done
}

started() { grep -q started "$folder/out"; }
nobody_left() { [ -z "$(living)" ]; }
ended() { ! kill -0 "$job" 2>/dev/null; }

end_with() {
  wait_until 2000 ended || fail "still there after 2 s"
  wait "$job"
  local status=$?
  [ "$status" = "$1" ] || fail "status $status, expected $1"
  wait_until 2000 nobody_left || fail "somebody is left"
}

for ((i = 1; i <= repetitions; ++i)); do
  case $what in
    kill_one)
      words=(compute)
      begin "$@"
      wait_until 5000 started || fail "did not start"
      victim=$(living | shuf -n 1)
      kill -9 "$victim"
      end_with 137
      grep -Eqx 'sorrel: process [0-3] \(ranks? [0-9-]+\) was killed by signal 9 \(Killed\)' "$folder/err" || fail "the message"
      [ "$(wc -l <"$folder/err")" = 1 ] || fail "more than one line"
      ;;
    kill_run)
      words=(compute)
      begin "$@"
      wait_until 5000 started || fail "did not start"
      kill -9 "$job"
      end_with 137
      ;;
    stop_run_with_term)
      words=(compute)
      begin "$@"
      wait_until 5000 started || fail "did not start"
      kill -TERM "$job"
      end_with 143
      ;;
    stop_one)
      words=(rounds 6)
      begin "$@"
      wait_until 5000 living >/dev/null || fail "did not start"
      sleep 0.3
      victim=$(living | head -n 1)
      kill -STOP "$victim"
      sleep 5
      kill -CONT "$victim"
      wait_until 10000 ended || fail "did not go on"
      end_with 0
      grep -qx over "$folder/out" || fail "did not end well"
      ;;
  esac
done 2> >(grep -v Killed >&2)
