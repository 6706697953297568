#!/usr/bin/env bash
# Builds mpi4py from PyPI with Sorrel's mpicc, in a virtual environment of the build tree: install_mpi4py.sh PYTHON
# MPICC FOLDER
# Repeated only if mpi.h has changed. Exit status 77: there is no registry, or no way to build extensions.
set -u
python=$1 mpicc=$2 folder=$3
readonly requirement='mpi4py>=4.1,<4.2' build_requirements=('setuptools>=77' build 'cython>=3') skipped=77
header=$(dirname "$mpicc")/../../include/mpi/mpi.h
stamp=$folder/made-for
wanted="$requirement $(cksum <"$header")"
[ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf "$folder"
if ! "$python" -m venv "$folder"; then
  echo "no virtual environments here: mpi4py is not tested"
  exit $skipped
fi
pip=("$folder/bin/python" -m pip --disable-pip-version-check)
# All downloads come first: a later failure is Sorrel's.
if ! "${pip[@]}" download --quiet --no-deps --no-binary=mpi4py --dest "$folder/source" "$requirement" ||
  ! "${pip[@]}" install --quiet "${build_requirements[@]}"; then
  echo "no registry of Python packages within reach: mpi4py is not tested"
  exit $skipped
fi
# Not optimised: it is compiled for a test only.
MPICC=$mpicc CFLAGS='-O0 -g0' \
  "${pip[@]}" install --quiet --no-index --no-build-isolation --no-deps "$folder"/source/mpi4py-*.tar.gz || exit 1
echo "$wanted" >"$stamp"
