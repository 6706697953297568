#!/usr/bin/env bash
# built_wheel.sh SOURCES [FOLDER]
#
# `python -m build` makes the wheel from a copy of the sources; pip installs it into a fresh virtual environment without the network; `sorrel selftest` passes and
# a program runs with 1000 ranks. With FOLDER the wheel is left there. Needs PyPI; without it the status is 77.
set -euo pipefail
sources=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/tools"
"$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check build wheel check-wheel-contents >"$work/log" 2>&1 ||
  { tail -n 5 "$work/log"; echo "no PyPI"; exit 77; }
# The committed sources, or the folder itself where it is no repository.
git clone --quiet --no-hardlinks "$sources" "$work/sources" 2>"$work/log" || cp -a "$sources" "$work/sources"
"$work/tools/bin/python" -m build --wheel --outdir "$work/dist" "$work/sources" >"$work/log" 2>&1 || { tail -n 50 "$work/log"; exit 1; }
# It runs where the C library is as new as here: the tag says so, and pip refuses it elsewhere.
version=$(getconf GNU_LIBC_VERSION)
version=${version#glibc }
"$work/tools/bin/python" -m wheel tags --remove --platform-tag "manylinux_${version/./_}_$(uname -m)" "$work"/dist/*.whl
wheel=$(ls "$work"/dist/sorrel_mpi-*.whl)
# W004, W010: there is no Python module in it, by intention.
"$work/tools/bin/check-wheel-contents" --ignore W004,W007,W008,W009,W010 "$wheel"

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --no-index --disable-pip-version-check "$wheel"
export PATH=$work/env/bin:$PATH
sorrel selftest
sorrel cc -O2 "$(dirname "${BASH_SOURCE[0]}")/consumer/sum.c" -o "$work/sum"
sorrel run -n 1000 "$work/sum"
[ -z "${2:-}" ] || cp "$wheel" "$2/"
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
