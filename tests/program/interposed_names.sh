#!/bin/sh
# interposed_names.sh NM LIBRARY FILE: writes into FILE a line NAME(f) for each function f that LIBRARY exports, but for those of MPI
# and its own.
set -eu
"$1" -D --defined-only --format=posix "$2" |
  sed -n -E '/^(P?MPI|p?mpi_|sorrel_)/d; s/^([A-Za-z_0-9]+)[^ ]* [TW] .*/NAME(\1)/p' | sort -u >"$3"
[ -s "$3" ]
