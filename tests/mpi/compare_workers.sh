#!/usr/bin/env bash
# Runs a program with 1, 2, 3 and 7 workers and compares what it prints: compare_workers.sh SORREL RANKS PROGRAM
set -eu
expected=$("$1" run -n "$2" --workers 1 "$3" | sort)
[ -n "$expected" ] || { echo "nothing was printed"; exit 1; }
for workers in 2 3 7; do
  got=$("$1" run -n "$2" --workers $workers "$3" | sort)
  if [ "$got" != "$expected" ]; then
    echo "$2 ranks differ between 1 and $workers workers:"
    diff <(echo "$expected") <(echo "$got") | head -20
    exit 1
  fi
done
