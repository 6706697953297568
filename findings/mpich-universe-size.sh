#!/bin/bash
# Package:  mpich 5.0.2 (PyPI).
# Expected: MPI_Comm_get_attr for MPI_UNIVERSE_SIZE in a program started without mpiexec is a local look-up;
#           the attribute may be absent (MPI-5.0, "Universe Size").
# Seen:     the look-up starts the first mpiexec in PATH, with -pmi_args, as a process manager; the attribute
#           is absent all the same. MPI_Init and MPI_Comm_get_attr for MPI_TAG_UB
#           start nothing. Whatever mpiexec comes first in PATH is started, of whichever MPI it is.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"; pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile mpich==5.0.2
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int *value, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_attr(MPI_COMM_WORLD, argc > 1 ? MPI_UNIVERSE_SIZE : MPI_TAG_UB, &value, &flag);
    printf("flag %d", flag);
    MPI_Finalize();
}
C
"$d/v/bin/mpicc" -o "$d/t" "$d/t.c"
mkdir "$d/first"
printf '#!/bin/sh\necho "$1" >> "%s/log"\nexec "%s/v/bin/mpiexec" "$@"\n' "$d" "$d" > "$d/first/mpiexec"
chmod +x "$d/first/mpiexec"; touch "$d/log"
tag=$(PATH="$d/first:$PATH" "$d/t"), ; tag="$tag mpiexec started $(wc -l < "$d/log") times"
size=$(PATH="$d/first:$PATH" "$d/t" size), ; size="$size mpiexec started with $(cat "$d/log")"
echo "MPI_TAG_UB: $tag"; echo "MPI_UNIVERSE_SIZE: $size"
[ "$tag" = "flag 1, mpiexec started 0 times" ] && [ "$size" = "flag 0, mpiexec started with -pmi_args" ] || { echo "changed: mpiexec is started otherwise" >&2; exit 1; }
