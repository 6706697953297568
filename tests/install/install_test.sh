#!/usr/bin/env bash
# install_test.sh WAY CMAKE BUILD_FOLDER
#
# Installs the build, moves the installed tree, and uses it from there as users do:
#   find_package   a CMake project that uses find_package(Sorrel)
#   wrappers       a CMake project that uses find_package(MPI), and mpicc alone; both find Sorrel's by PATH
#   selftest       `sorrel selftest`, in a whole tree, with the component runtime only, and without one of the files
#   wheel          what the wheel contains: the same without symbolic links
#   pkg_config     a compiler with the flags that pkg-config prints
#   sbom           the list of what the installation consists of
set -euo pipefail

way=$1 cmake=$2 build=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first place" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mkdir "$work/elsewhere"
mv "$work/first place" "$work/elsewhere/sorrel"
prefix=$work/elsewhere/sorrel

# build_project NAME CMAKE_OPTION...
build_project() {
  local project=$1
  shift
  "$cmake" -S "$here/$project" -B "$work/$project" -DCMAKE_BUILD_TYPE=Release "$@"
  "$cmake" --build "$work/$project"
}

test -s "$prefix/share/bash-completion/completions/sorrel"
if command -v help2man >/dev/null; then
  grep -q 'SORREL-RUN' "$prefix/share/man/man1/sorrel-run.1"
fi

case $way in
  find_package)
    build_project consumer -DCMAKE_PREFIX_PATH="$prefix"
    (cd "$work/consumer" && ctest --output-on-failure)
    ;;
  wrappers)
    export PATH=$prefix/bin/mpi:$PATH
    build_project foreign
    mpiexec -n 4 "$work/foreign/sum_c"
    mpiexec -n 4 "$work/foreign/sum_cxx"
    if command -v gfortran >/dev/null; then
      mpifort -O2 "$here/consumer/sum.f90" -o "$work/sum_fortran"
      mpiexec -n 4 "$work/sum_fortran"
    fi
    mpicc -O2 "$here/consumer/sum.c" -o "$work/sum"
    mpiexec -n 100 "$work/sum"
    ;;
  selftest)
    # expect STATUS PREFIX PATTERN...: the status of its selftest, and lines of the report
    expect() {
      local status=0 pattern
      "$2/bin/sorrel" selftest >"$work/report" 2>&1 || status=$?
      ((status == $1)) || { echo "status $status, not $1:"; cat "$work/report"; exit 1; }
      for pattern in "${@:3}"; do
        grep -qE "$pattern" "$work/report" || { echo "no line '$pattern' in:"; cat "$work/report"; exit 1; }
      done
    }
    expect 0 "$prefix" '^  ok +1000 ranks in one process' '^  ok +C program' '^  ok +OpenMP program' '^11 passed|^10 passed, 1 skipped'
    # A compiler that lacks C++20, as GCC 10 does.
    mkdir "$work/older"
    printf '#!/bin/sh\nexec %s "$@" -std=c++17\n' "$(command -v c++)" >"$work/older/c++"
    chmod +x "$work/older/c++"
    PATH=$work/older:$PATH expect 0 "$prefix" '^  skipped parallel loop without MPI: c[+]{2} lacks C[+]{2}20'
    "$cmake" --install "$build" --prefix "$work/runtime" --component runtime >"$work/install.log"
    test ! -e "$work/runtime/include"
    expect 0 "$work/runtime" '^  ok +report of a crash' '^  skipped compilers: no include/mpi/mpi.h' '^6 passed, 1 skipped, 0 failed'
    rm "$work/runtime/libexec/sorrel/selftest_ranks"
    expect 1 "$work/runtime" '^  FAILED +files: .*selftest_ranks missing' '^  FAILED +1000 ranks in one process: ended with status 2' \
      '\| sorrel: .*selftest_ranks: no such program'
    # A library of another version, which computes wrong values.
    cat >"$work/wrong.c" <<'EOT'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) puts("1000 ranks, 3 wrong values");
  return MPI_Finalize();
}
EOT
    "$prefix/bin/sorrel" cc -o "$work/runtime/libexec/sorrel/selftest_ranks" "$work/wrong.c"
    expect 1 "$work/runtime" "^  FAILED +1000 ranks in one process: its output lacks '1000 ranks, 0 wrong values'" \
      '^  FAILED +report of a deadlock: ended with status 0' '^1 passed, 1 skipped, 5 failed'
    ;;
  wheel)
    "$cmake" -D CMAKE_INSTALL_PREFIX="$prefix" -P "$here/../../cmake/ReplaceLinks.cmake"
    links=$(find "$prefix" -type l)
    [ -z "$links" ] || { echo "symbolic links are left: $links"; exit 1; }
    # As pip installs it: the tree in a folder of the environment, and the script in its bin.
    mkdir -p "$work/env/bin" "$work/env/lib"
    mv "$prefix" "$work/env/lib/sorrel-mpi"
    cp "$here/../../packaging/wheel/sorrel" "$work/env/bin/sorrel"
    ln -s "$work/env/bin/sorrel" "$work/sorrel"
    "$work/sorrel" selftest
    export PATH=$work/env/lib/sorrel-mpi/bin/mpi:$PATH
    mpicc -O2 "$here/consumer/sum.c" -o "$work/sum"
    mpiexec -n 1000 "$work/sum"
    build_project consumer -DCMAKE_PREFIX_PATH="$work/env/lib/sorrel-mpi"
    (cd "$work/consumer" && ctest --output-on-failure)
    ;;
  sbom)
    python=$here/../../.venv/bin/python
    [ -x "$python" ] || python=python3
    "$python" -B "$here/check_sbom.py" "$prefix"
    ;;
  pkg_config)
    command -v pkg-config >/dev/null || { echo "no pkg-config (Debian: pkgconf)"; exit 77; }
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sorrel-mpi.pc)")
    # flags NAME: one word for each option; the tree's name has no space
    flags() { pkg-config --cflags --libs "$1"; }
    # shellcheck disable=SC2046
    {
      cc "$here/consumer/sum.c" $(flags sorrel-mpi) -o "$work/sum"
      c++ -std=c++20 "$here/consumer/plain_loop.cpp" $(flags sorrel) -o "$work/plain_loop"
      c++ -std=c++20 "$here/consumer/graph.cpp" $(flags sorrel-graph) -o "$work/graph"
      c++ -std=c++20 "$here/consumer/cut.cpp" $(flags sorrel-grid) -o "$work/cut"
    }
    "$prefix/bin/sorrel" run -n 100 "$work/sum"
    "$work/plain_loop" && "$work/graph" && "$work/cut"
    ;;
esac
