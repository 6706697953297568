#!/usr/bin/env bash
# `sorrel fc` makes the modules for a gfortran that Sorrel was not built with: at first use, by several processes at once,
# and not again. Prints the modules that are there: make_modules.sh SORREL
set -eu
rm -rf fortran_cache
export XDG_CACHE_HOME=$PWD/fortran_cache
pids=()
for _ in 1 2 3; do
  "$1" fc -fc=./gfortran_99 -showme:incdirs >/dev/null &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
made=$(stat -c %i fortran_cache/sorrel/fortran/*)
"$1" fc -fc=./gfortran_99 -showme:incdirs >/dev/null
[ "$made" = "$(stat -c %i fortran_cache/sorrel/fortran/*)" ]
ls fortran_cache/sorrel/fortran/*/mpi_f08.mod
