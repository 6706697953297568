#!/usr/bin/env bash
# Jobs whose heap is damaged end by themselves, with one report: overruns.sh REPETITIONS SORREL PROGRAM [OPTIONS…]
set -u
repetitions=$1 sorrel=$2 program=$3
shift 3
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
fail() {
  echo "seed $seed: $1 (status $status)"
  head -c 4000 "$folder/err"
  exit 1
}
for ((seed = 1; seed <= repetitions; ++seed)); do
  timeout -s KILL 100 "$sorrel" run -n 4 "$@" "$program" "$seed" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
  case $status in
    # Aborted, a bus error (an address that no pointer can have, relative to the stack), a segmentation fault.
    134 | 135 | 139) ;;
    137) fail "it hung" ;;
    *) fail "unexpected end" ;;
  esac
  # A process whose runtime is damaged as well cannot see that another process reports.
  grep '^sorrel: ' "$folder/err" >"$folder/lines" || fail "no line"
  [ "$(grep -vc "the runtime's own memory is damaged" "$folder/lines")" -le 1 ] || fail "more than one line"
  grep -q 'deadlock' "$folder/err" && fail "called a deadlock"
  grep -q 'was cut off' "$folder/err" && fail "the report was cut off"
done
exit 0
