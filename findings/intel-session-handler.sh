#!/bin/bash
# Packages: impi-rt and impi-devel 2021.18.1; mpich 5.0.2 for comparison (PyPI).
# Expected: the error handler that MPI_Session_init gets is that of the session (MPI-5.0, "The Sessions Model"): with MPI_ERRORS_RETURN
#           the group of a process set that does not exist is an error code.
# Seen:     in Intel MPI the session has MPI_ERRORS_ARE_FATAL, by MPI_Session_get_errhandler and by what it does: it ends the program with
#           a fatal error. MPICH returns MPI_ERR_ARG.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Session session; MPI_Group group; MPI_Errhandler handler; int of_code;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_errhandler(session, &handler);
    printf("handler %s, ", handler == MPI_ERRORS_RETURN ? "MPI_ERRORS_RETURN" :
           handler == MPI_ERRORS_ARE_FATAL ? "MPI_ERRORS_ARE_FATAL" : "another");
    fflush(stdout);
    MPI_Error_class(MPI_Group_from_session_pset(session, "sets://absent", &group), &of_code);
    printf("returned %s\n", of_code == MPI_ERR_ARG ? "MPI_ERR_ARG" : "another");
    MPI_Session_finalize(&session);
}
C
export TMPDIR="$d" FI_PROVIDER=tcp
for p in "mpich==5.0.2" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen" 2> "$v/error" || echo "ended: $(grep -o 'Fatal error in [A-Za-z_]*' "$v/error")" >> "$v/seen"
    echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "handler MPI_ERRORS_RETURN, returned MPI_ERR_ARG" ] &&
[ "$(cat "$d/impi/seen")" = "handler MPI_ERRORS_ARE_FATAL, ended: Fatal error in internal_Group_from_session_pset" ] ||
    { echo "changed: another answer" >&2; exit 1; }
