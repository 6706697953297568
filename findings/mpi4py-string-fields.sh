#!/bin/bash
# Packages: mpi4py 4.1.2, numpy 2.4.6, mpich 5.0.2 (PyPI).
# Expected: from_numpy_dtype() of mpi4py.util.dtlib makes an MPI datatype of the elements of an array (its documentation), so that of 'S3' has
#           3 bytes, and a message of records has all their bytes; to_numpy_dtype() of MPI.WCHAR has the 4 bytes of a character.
# Seen:     the datatype has one character, however long the texts are: 'abcdef' arrives as 'a' in an array of texts and in a field of a
#           record, without an error. The NumPy type of MPI.WCHAR has 0 bytes.
# Elsewhere: the same with Open MPI 5.0.11 and on every machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cat > "$d/t.py" <<'P'
import numpy
from mpi4py import MPI
from mpi4py.util import dtlib

def sent(array):
    """What arrives if the array is sent with its own type."""
    made = numpy.zeros_like(array)
    datatype = dtlib.from_numpy_dtype(array.dtype).Commit()
    MPI.COMM_SELF.Sendrecv([array, 1, datatype], 0, recvbuf=[made, 1, datatype])
    return made.tolist()[0]

print(dtlib.from_numpy_dtype("S3").Get_size(), dtlib.from_numpy_dtype("U2").Get_size(), sent(numpy.array([b"abcdef"])),
      sent(numpy.array([(b"abcdef", 7)], dtype=[("text", "S6"), ("number", "i4")])), dtlib.to_numpy_dtype(MPI.WCHAR).itemsize)
P
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile mpi4py==4.1.2 numpy==2.4.6 mpich==5.0.2
seen=$("$d/v/bin/python" "$d/t.py")
echo "$seen"
[ "$seen" = "1 4 b'a' (b'a', 7) 0" ] || { echo "changed: other datatypes of texts" >&2; exit 1; }
