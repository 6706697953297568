#!/usr/bin/env bash
# Runs `sorrel run` under a host MPI's launcher: under.sh HOST PROCESSES COMMAND [WORDS…]
# HOST is openmpi, mpich, or abi, which is the PyPI package mpich in the folder SORREL_VENV. Skips (77) with a word when
# the host is not there.
set -u
host=$1 processes=$2
shift 2
skip() {
  echo "skipped: $1"
  exit 77
}
case $host in
  openmpi)
    launcher=$(command -v mpirun.openmpi) || skip "Open MPI's mpirun.openmpi is not installed"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1
    PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Its hwloc would load drivers of OpenCL, which may be C++ libraries (docs/processes.md).
    export HWLOC_COMPONENTS=-opencl
    # Tests run several at a time: an mpirun that ends removes the folder of this host in the folder of temporary files if it is empty, and
    # another one that begins may be about to use it.
    (umask 077 && mkdir -p "${TMPDIR:-/tmp}/ompi.$(hostname).$(id -u)/kept")
    # Nor does a core belong to one of them.
    set -- --oversubscribe --bind-to none -n "$processes" "$@"
    ;;
  mpich)
    launcher=$(command -v mpiexec.mpich) || skip "MPICH's mpiexec.mpich is not installed"
    set -- -n "$processes" "$@"
    ;;
  abi)
    launcher=${SORREL_VENV:-/nowhere}/bin/mpiexec
    [ -x "$launcher" ] || skip "no mpich of PyPI below ${SORREL_VENV:-the folder SORREL_VENV}"
    set -- -n "$processes" "$@"
    ;;
esac
exec "$launcher" "$@"
