#!/bin/bash
# Packages: impi-rt and impi-devel 2021.18.1; mpich 5.0.2 for comparison (PyPI).
# Expected: MPI_Comm_dup_with_info gives the new communicator the hints of its argument, not those of the old communicator (MPI-5.0,
#           "Communicator Constructors"); with MPI_INFO_NULL it has none but the defaults.
# Seen:     in Intel MPI the new communicator keeps mpi_assert_no_any_tag=true, a promise that its user has not made and that allows
#           the library to do without MPI_ANY_TAG. MPICH says false.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static void tell(MPI_Comm comm) {
    MPI_Info info; int there, size = 10; char value[10] = "";
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, "mpi_assert_no_any_tag", &size, value, &there);
    printf("%s ", there ? value : "none");
    MPI_Info_free(&info);
}
int main(void) {
    MPI_Comm parent, child; MPI_Info info;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup_with_info(MPI_COMM_SELF, MPI_INFO_NULL, &parent);
    tell(parent);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_set_info(parent, info);
    tell(parent);
    MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &child);
    tell(child);
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
[ "$(cat "$d/mpich/seen")" = "false true false " ] && [ "$(cat "$d/impi/seen")" = "false true true " ] || { echo "changed: other hints" >&2; exit 1; }
