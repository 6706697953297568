#!/bin/bash
# Package:  mpich 5.0.2 (PyPI), its two libraries: libmpi.so (mpicc) and libmpi_abi.so (mpicc_abi).
# Expected: MPI_Error_string returns the text of the error class that it is given (MPI-5.0, "Error Codes
#           and Classes"). The numbers of the classes differ between the two libraries, the texts do not.
# Seen:     libmpi_abi.so looks the standard ABI's number up in the table of MPICH's own numbers: for
#           MPI_ERR_REQUEST it says "Invalid root", for MPI_ERR_TRUNCATE "Other MPI error", for
#           MPI_ERR_NO_SUCH_FILE "Error in spawn call". MPI_Error_class is right.
# Elsewhere: the same on every Linux machine; libmpi_abi.so of impi-rt 2021.18.1 answers likewise.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"; pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile mpich==5.0.2
cat > "$d/t.c" <<'C'
#include HEADER
#include <stdio.h>
int main(void) {
    int classes[] = {MPI_ERR_RANK, MPI_ERR_REQUEST, MPI_ERR_TRUNCATE, MPI_ERR_NO_SUCH_FILE}, length, class;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 4; i++) {
        MPI_Error_string(classes[i], text, &length);
        MPI_Error_class(classes[i], &class);
        printf("%s%s", text, class == classes[i] ? ";" : "(class differs);");
    }
    MPI_Finalize();
}
C
"$d/v/bin/mpicc" -DHEADER='"mpi.h"' -o "$d/own" "$d/t.c"
"$d/v/bin/mpicc_abi" -DHEADER='"mpi_abi.h"' -o "$d/abi" "$d/t.c"
own=$("$d/own"); abi=$("$d/abi")
echo "libmpi.so:     $own"; echo "libmpi_abi.so: $abi"
[ "$own" = "Invalid rank;Invalid MPI_Request;Message truncated;File does not exist;" ] &&
[ "$abi" = "Invalid rank;Invalid root;Other MPI error;Error in spawn call;" ] || { echo "changed: the error strings are others now" >&2; exit 1; }
