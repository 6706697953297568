#!/usr/bin/env bash
# A program prints the same under Sorrel and under Open MPI: peer.sh TREE MPIF90 MPIRUN ARGUMENTS-OF-THE-COMPILER...
set -eu
tree=$1 peer=$2 launcher=$3
shift 3
unset FC SORREL_FC OMPI_FC
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$tree/bin/mpi/mpifort" "$@" -o ours
"$peer" "$@" -o theirs
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$launcher" --oversubscribe -n 4 ./theirs >expected
"$tree/bin/sorrel" run -n 4 ./ours >output 2>errors || { cat errors; exit 1; }
diff expected output
