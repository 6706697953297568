#!/usr/bin/env bash
# A job must end with a report: report.sh TREE STATUS EXPECTED "RUN OPTIONS" ARGUMENTS-OF-MPIFORT..., where EXPECTED is an
# extended regular expression for stderr, lines joined by ~.
set -eu
tree=$1 status=$2 expected=$3 options=$4
shift 4
unset FC SORREL_FC
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$tree/bin/mpi/mpifort" -g "$@" -o program
got=0
# shellcheck disable=SC2086
"$tree/bin/sorrel" run $options ./program >output 2>errors || got=$?
[ "$got" = "$status" ] || { cat output errors; echo "status $got, expected $status"; exit 1; }
[[ $(tr '\n' '~' <errors) =~ $expected ]] || { cat errors; echo "expected: $expected"; exit 1; }
