#!/usr/bin/env bash
# Compiles a program with TREE/bin/mpi/mpifort and runs it: run.sh TREE EXPECTED "RUN OPTIONS" ARGUMENTS-OF-MPIFORT...
# EXPECTED is an extended regular expression for what it prints, lines joined by ~.
set -eu
tree=$1 expected=$2 options=$3
shift 3
unset FC SORREL_FC CC SORREL_CC
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$tree/bin/mpi/mpifort" -g "$@" -o program 2>messages || { cat messages; exit 1; }
# shellcheck disable=SC2086
"$tree/bin/sorrel" run $options ./program >output 2>errors || { cat output errors; exit 1; }
[[ $(tr '\n' '~' <output) =~ $expected ]] || { cat output errors; echo "expected: $expected"; exit 1; }
