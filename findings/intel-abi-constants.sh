#!/bin/bash
# Packages: impi-rt and impi-devel 2021.18.1, mpich 5.0.2 (PyPI).
# Expected: both ship MPI-5.0's standard ABI (mpi_abi.h, libmpi_abi.so.1), so that a program compiled with
#           one runs with the other. MPI-5.0, "Application Binary Interface" and annex A: MPI_SEEK_CUR, _END, _SET are
#           401, 402, 403; MPI_ERRORS_ABORT, _RETURN are 0x142, 0x143; MPI_APPNUM, MPI_LASTUSEDCODE,
#           MPI_UNIVERSE_SIZE are 505, 506, 507. The MPI Forum's header (mpi-forum/mpi-abi-stubs) has had
#           these since October 2025.
# Seen:     Intel MPI has the values of the draft (SEEK_SET 401, CUR 402, END 403; ERRORS_RETURN 0x142 and
#           ABORT 0x143; UNIVERSE_SIZE 505, APPNUM 506, LASTUSEDCODE 507), although MPI_Get_version says
#           5.0. A program compiled with MPICH's header opens a file of 10 bytes, seeks to offset 4 from the
#           start, and then stands at 14 with Intel's library, at 4 with MPICH's. MPI_ERRORS_RETURN
#           and MPI_ERRORS_ABORT change places in the same way.
# Elsewhere: the same on every Linux machine; the header of impi-devel 2021.19.0 has these values too.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
for p in "mpich==5.0.2" "impi-rt==2021.18.1 impi-devel==2021.18.1"; do
    python3 -m venv --without-pip "$d/${p%%[=-]*}"; pip -q --disable-pip-version-check --python "$d/${p%%[=-]*}" install --no-deps --no-compile $p
done
cat > "$d/t.c" <<'C'
#include <mpi_abi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_File file; MPI_Offset at; int major, minor;
    MPI_Init(&argc, &argv);
    MPI_Get_version(&major, &minor);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 10);
    MPI_File_seek(file, 4, MPI_SEEK_SET);
    MPI_File_get_position(file, &at);
    printf("MPI %d.%d, SEEK_SET to 4 gives %d\n", major, minor, (int)at);
    MPI_File_close(&file);
    MPI_Finalize();
}
C
"$d/mpich/bin/mpicc_abi" -o "$d/t" "$d/t.c"
mpich=$("$d/t" "$d/file")
export FI_PROVIDER=tcp
intel=$(LD_PRELOAD="$d/impi/lib/libmpi_abi.so.1" "$d/t" "$d/file")
echo "mpich: $mpich"; echo "impi-rt: $intel"
grep -hE 'MPI_(SEEK_(SET|CUR|END)|UNIVERSE_SIZE) +=|MPI_ERRORS_(RETURN|ABORT) ' "$d/impi/include/mpi_abi.h"
[ "$mpich" = "MPI 5.0, SEEK_SET to 4 gives 4" ] && [ "$intel" = "MPI 5.0, SEEK_SET to 4 gives 14" ] || { echo "changed: the two agree, or disagree otherwise" >&2; exit 1; }
