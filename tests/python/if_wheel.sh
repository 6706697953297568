#!/usr/bin/env bash
# Runs a command if mpi4py's wheel is installed below FOLDER: if_wheel.sh FOLDER COMMAND [ARGUMENTS…]; else status 77.
compgen -G "$1/lib/python3*/site-packages/mpi4py/MPI.mpich.*.so" >/dev/null || { echo "mpi4py's wheel is not installed"; exit 77; }
shift
exec "$@"
