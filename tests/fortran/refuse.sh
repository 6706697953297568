#!/usr/bin/env bash
# mpifort must fail to compile or link: refuse.sh TREE EXPECTED ARGUMENTS..., where EXPECTED is in its messages.
set -eu
tree=$1 expected=$2
shift 2
unset FC SORREL_FC
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder"
! "$tree/bin/mpi/mpifort" "$@" -o program >messages 2>&1 || { echo "not refused"; exit 1; }
grep -E -q -e "$expected" messages || { cat messages; echo "expected: $expected"; exit 1; }
