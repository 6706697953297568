#!/usr/bin/env bash
# Prints the bounds of random datatypes by this library and by MPICH, and compares them:
# compare_bounds.sh SORREL PROGRAM SOURCE MPICC VENV
# MPICC is MPICH's compiler wrapper; without one the library of the PyPI wheel "mpich" in VENV runs
# the same program. Exit status 77: neither exists.
set -eu
sorrel=$1 program=$2 source=$3 mpicc=$4 venv=$5
count=5000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -x "$mpicc" ]; then
  "$mpicc" -w -O1 "$source" -o "$work/reference"
  "$work/reference" "$count" >"$work/expected" 2>"$work/errors" || { cat "$work/errors"; exit 1; }
elif [ -e "$venv/lib/libmpi_abi.so.1" ]; then
  LD_LIBRARY_PATH="$venv/lib" "$program" "$count" >"$work/expected"
else
  echo "there is no MPICH to compare with"
  exit 77
fi
"$sorrel" run -n 1 "$program" "$count" >"$work/got"
[ "$(wc -l <"$work/expected")" = "$count" ] || { echo "MPICH printed too little"; exit 1; }
diff "$work/expected" "$work/got" | head -20 >"$work/differences"
cat "$work/differences"
[ ! -s "$work/differences" ]
