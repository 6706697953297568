#!/bin/bash
# Packages: impi-rt and impi-devel 2021.18.1 (PyPI); mpich 5.0.2 for comparison.
# Expected: a distributed array of 1 x 2 x 2 elements in Fortran's order, cyclic over 1 x 2 x 1 processes, with
#           blocks of 1, 1, 2: process 0 owns the elements with second index 0, which lie at 0 and 2 (MPI-5.0,
#           "Distributed Array Datatype Constructor": the position formula of the cyclic distribution).
# Seen:     with Intel MPI the datatype of process 0 selects 0 and 1: the right number, the wrong elements. Of
#           random arrays of up to three dimensions about one in eighteen is wrong. MPICH 5.0.2 and
#           Open MPI 5.0.11 have none wrong.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
for p in "mpich==5.0.2" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    python3 -m venv --without-pip "$d/${p%%[=-]*}"; pip -q --disable-pip-version-check --python "$d/${p%%[=-]*}" install --no-deps --no-compile $p
done
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int array[] = {1, 2, 2}, grid[] = {1, 2, 1}, block[] = {1, 1, 2};
    int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    int from[] = {0, 1, 2, 3}, to[4] = {9, 9, 9, 9}, at = 0; MPI_Datatype type;
    MPI_Init(NULL, NULL);
    MPI_Type_create_darray(2, 0, 3, array, how, block, grid, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack(from, 1, type, to, sizeof to, &at, MPI_COMM_SELF);
    printf("%d bytes: elements %d %d\n", at, to[0], to[1]);
    MPI_Type_free(&type);
    MPI_Finalize();
}
C
"$d/mpich/bin/mpicc" -o "$d/m" "$d/t.c"
cc -I"$d/impi/include" -o "$d/i" "$d/t.c" "$d/impi/lib/libmpi.so.12" -Wl,-rpath,"$d/impi/lib"
mpich=$("$d/m"); export FI_PROVIDER=tcp; intel=$("$d/i")
echo "mpich: $mpich"; echo "impi-rt: $intel"
[ "$mpich" = "8 bytes: elements 0 2" ] && [ "$intel" = "8 bytes: elements 0 1" ] || { echo "changed: other elements" >&2; exit 1; }
