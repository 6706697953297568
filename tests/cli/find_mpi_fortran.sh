#!/usr/bin/env bash
# CMake's FindMPI must find the Fortran part of the Sorrel of TREE, and nothing of another MPI in PATH or pkg-config. The
# project is built and run with 4 ranks: find_mpi_fortran.sh TREE PROJECT BUILD
set -eu
tree=$1 project=$2 build=$3
unset CC FC MPI_HOME
command -v gfortran >/dev/null || { echo "no gfortran is installed"; exit 77; }
export PATH="$tree/bin/mpi:$PATH"
rm -rf "$build"
cmake -S "$project" -B "$build" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
expect() {
  grep -q -e "$1" "$build.log" || { echo "not said: $1"; cat "$build.log"; exit 1; }
}
expect "-- C: TRUE $tree/lib/libmpi_abi.so"
expect "-- Fortran: TRUE $tree/lib/libsorrel_fortran.a;$tree/lib/libmpi_abi.so"
expect '-- headers: TRUE TRUE TRUE'
grep -q "^MPI_Fortran_COMPILER:FILEPATH=$tree/bin/mpi/mpif" "$build/CMakeCache.txt" ||
  { grep MPI_Fortran "$build/CMakeCache.txt"; exit 1; }
! grep -i -e mpi-fort -e mpifh -e mpichfort "$build.log" "$build/CMakeCache.txt"
cmake --build "$build" >>"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
(cd "$build" && ctest --output-on-failure --timeout 120)
