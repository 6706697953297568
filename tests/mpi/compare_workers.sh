#!/usr/bin/env bash
# Runs a program with 1, 2, 3 and 7 workers, and in 2 and 5 processes, and compares the output: compare_workers.sh
# SORREL RANKS PROGRAM
set -eu
expected=$("$1" run -n "$2" --workers 1 "$3" | sort)
[ -n "$expected" ] || { echo "nothing was printed"; exit 1; }
for placement in "--workers 2" "--workers 3" "--workers 7" "--procs 2 --workers 2" "--procs 5 --workers 1"; do
  # shellcheck disable=SC2086  # several words
  got=$("$1" run -n "$2" $placement "$3" | sort)
  if [ "$got" != "$expected" ]; then
    echo "$2 ranks differ between 1 worker and $placement:"
    diff <(echo "$expected") <(echo "$got") | head -20
    exit 1
  fi
done
