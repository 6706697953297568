#!/usr/bin/env bash
# foreign.sh APP MPICXX [LINK_OPTION...]
#
# Builds an app's BASE and OLAP, or fem, with another MPI's compiler and runs them there. Exit status 77 if that MPI is not installed.
set -euo pipefail

app=$1 compiler=$2
shift 2
command -v "$compiler" >/dev/null || exit 77
launcher=$(dirname "$(command -v "$compiler")")/mpiexec
# Debian's names: mpicxx.mpich beside mpiexec.mpich.
case $compiler in *mpicxx.*) launcher+=.${compiler##*.} ;; esac
command -v "$launcher" >/dev/null || exit 77

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=()
for source in "$here/$app"/*.cpp; do
  [ "$(basename "$source")" = graph.cpp ] || sources+=("$source")
done
"$compiler" -std=c++20 -O2 -w "${sources[@]}" "$@" -o "$work/$app"

# Open MPI asks for these; MPICH does not know them.
options=()
if "$launcher" --version 2>&1 | grep -q 'Open MPI\|OpenRTE'; then options=(--allow-run-as-root --oversubscribe); fi
variants=(base olap)
case $app in
  fem) variants=("--case patch" "--case bar") arguments=(--method equilibrium --cells 12x4x4) ;;
  summa) arguments=(--n 101 --panel 7) ;;
  ft) arguments=(--class S --steps 2) ;;
  jacobi3d) arguments=(--n 30 --steps 10) ;;
  *) echo "foreign.sh: no app $app" >&2; exit 2 ;;
esac
for variant in "${variants[@]}"; do
  # A variant may be several words.
  # shellcheck disable=SC2086
  timeout 100 "$launcher" "${options[@]}" -n 2 "$work/$app" $variant "${arguments[@]}"
done
