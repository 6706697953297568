#!/bin/bash
# Packages: mpich 5.0.2, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: MPI_Pack_external_size gives bytes; a pair of a value and an int takes the external32 sizes of both: MPI_SHORT_INT 2 + 4,
#           MPI_LONG_INT 8 + 4 (or 4 + 4, see external32-long), MPI_LONG_DOUBLE_INT 16 + 4 (MPI-5.0, "External Data
#           Representation: external32").
# Seen:     MPICH says 2, 1 and 2 bytes, too few for a buffer that is allocated by it. Intel MPI says 6, 12 and 20.
# Elsewhere: the same on every x86-64 Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Init(NULL, NULL);
    const MPI_Datatype pairs[3] = {MPI_SHORT_INT, MPI_LONG_INT, MPI_LONG_DOUBLE_INT};
    for (int i = 0; i < 3; i++) {
        MPI_Aint bytes = -1;
        MPI_Pack_external_size("external32", 1, pairs[i], &bytes);
        printf("%s%ld", i ? " " : "", (long)bytes);
    }
    printf("\n");
    MPI_Finalize();
}
C
export TMPDIR="$d" FI_PROVIDER=tcp
for p in "mpich==5.0.2" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "2 1 2" ] && [ "$(cat "$d/impi/seen")" = "6 12 20" ] || { echo "changed: other sizes" >&2; exit 1; }
