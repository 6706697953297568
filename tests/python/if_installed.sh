#!/usr/bin/env bash
# Runs a command if mpi4py could be installed: if_installed.sh FOLDER COMMAND [ARGUMENTS…]; else status 77.
[ -e "$1/made-for" ] || { echo "mpi4py is not installed"; exit 77; }
shift
exec "$@"
