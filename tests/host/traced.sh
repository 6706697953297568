#!/usr/bin/env bash
# A traced job under a host MPI: traced.sh HOST CHECK_TRACE PYTHON SORREL PROGRAM
# Two processes write their parts, the first one makes a trace of them, and check_trace.py finds every message received after it was sent:
# the times of the processes are on one axis. Skipped (77) without that MPI, or without Perfetto's Python package.
set -u
host=$1 check=$2 python=$3 sorrel=$4 program=$5
"$python" -c 'import perfetto' 2>/dev/null || { echo "skipped: no Python package perfetto"; exit 77; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
file=$folder/job.trace
"$(dirname "${BASH_SOURCE[0]}")/under.sh" "$host" 2 "$sorrel" run -n 8 --workers 1 --trace "$file" "$program" 20 >"$folder/out" 2>&1
status=$?
[ "$status" = 0 ] || { cat "$folder/out"; exit "$status"; }
"$python" "$check" "$file" --ranks 8 --messages 320 --open-flows
