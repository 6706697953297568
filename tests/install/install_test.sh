#!/usr/bin/env bash
# install_test.sh WAY CMAKE BUILD_FOLDER
#
# Installs the build, moves the installed tree, and uses it from there as users do:
#   find_package   a CMake project that uses find_package(Sorrel)
#   wrappers       a CMake project that uses find_package(MPI), and mpicc alone; both find Sorrel's by PATH
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
esac
