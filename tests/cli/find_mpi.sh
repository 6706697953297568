#!/usr/bin/env bash
# CMake's FindMPI must find the Sorrel of TREE if its bin/mpi comes first in PATH:
# find_mpi.sh TREE PROJECT BUILD build|run. With "run" the project's own tests are run too.
set -eu
tree=$1 project=$2 build=$3 what=$4
unset CC CXX MPI_HOME
export PATH="$tree/bin/mpi:$PATH"
rm -rf "$build"
cmake -S "$project" -B "$build" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
expect() {
  grep -q "$1" "$build/CMakeCache.txt" || { echo "not in CMakeCache.txt: $1"; grep MPI "$build/CMakeCache.txt"; exit 1; }
}
expect "^MPI_C_COMPILER:FILEPATH=$tree/bin/mpi/mpicc$"
expect "^MPI_CXX_COMPILER:FILEPATH=$tree/bin/mpi/mpi\(cxx\|c++\)$"
expect "^MPIEXEC_EXECUTABLE:FILEPATH=$tree/bin/mpi/mpiexec$"
expect "^MPI_mpi_abi_LIBRARY:FILEPATH=$tree/lib/libmpi_abi.so$"
cmake --build "$build" >>"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
if [ "$what" = run ]; then
  (cd "$build" && ctest --output-on-failure --timeout 120)
fi
