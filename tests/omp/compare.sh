#!/usr/bin/env bash
# compare.sh SORREL PROGRAM [ARGS...]: runs an OpenMP program with the compiler's own library and under `sorrel run --omp`; both
# must succeed and print the same.
set -u
sorrel=$1
shift
theirs=$("$@" 2>&1)
status=$?
[[ $status == 0 ]] || { echo "with the library of the compiler it ended with $status"; printf '%s\n' "$theirs" | tail -20; exit 1; }
ours=$("$sorrel" run --omp "$@" 2>&1)
status=$?
[[ $status == 0 ]] || { echo "under --omp it ended with $status"; printf '%s\n' "$ours" | tail -20; exit 1; }
# The first line of a library with delays says so.
diff <(printf '%s\n' "$theirs") <(printf '%s\n' "$ours" | sed '/^sorrel: perturbed: /d')
