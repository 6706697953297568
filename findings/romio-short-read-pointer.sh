#!/bin/bash
# Packages: mpich 5.0.2, impi-rt and impi-devel 2021.18.1 (PyPI); both contain ROMIO.
# Expected: a read that meets the end of the file says how much it read, and the individual file pointer moves alike for all
#           kinds of reads (MPI-5.0, "Individual File Pointers": by what is asked for).
# Seen:     four ints are asked for where one is left. MPI_File_read and MPI_File_read_all move the pointer by one int in both,
#           MPI_File_iread by four in MPICH, by one in Intel MPI. The count of MPI_File_iread_all is 4 in both, with three ints that
#           were never read; that of the others is 1.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static void show(MPI_File file, const MPI_Status *status, const char *end) {
    int count;
    MPI_Offset position;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_File_get_position(file, &position);
    printf("%d/%d%s", count, (int)position / 4, end);
    MPI_File_seek(file, 36, MPI_SEEK_SET);
}
int main(int argc, char **argv) {
    int ints[10] = {0}, more[4];
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, ints, 10, MPI_INT, &status);
    MPI_File_seek(file, 36, MPI_SEEK_SET);
    MPI_File_read(file, more, 4, MPI_INT, &status);
    show(file, &status, " ");
    MPI_File_iread(file, more, 4, MPI_INT, &request);
    MPI_Wait(&request, &status);
    show(file, &status, " ");
    MPI_File_read_all(file, more, 4, MPI_INT, &status);
    show(file, &status, " ");
    MPI_File_iread_all(file, more, 4, MPI_INT, &request);
    MPI_Wait(&request, &status);
    show(file, &status, "\n");
    MPI_File_close(&file);
    MPI_Finalize();
}
C
export TMPDIR="$d" FI_PROVIDER=tcp
for p in "mpich==5.0.2" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" "$v/file" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
# Count and position in ints, of read, iread, read_all and iread_all.
[ "$(cat "$d/mpich/seen")" = "1/10 1/13 1/10 4/10" ] && [ "$(cat "$d/impi/seen")" = "1/10 1/10 1/10 4/10" ] ||
    { echo "changed: other counts or positions" >&2; exit 1; }
