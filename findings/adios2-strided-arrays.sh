#!/bin/bash
# Packages: adios2 2.12.1.1001, numpy 2.2.6 (PyPI).
# Expected: an array that the Python interface writes is the array that it reads, or the writer refuses it, as it refuses types that it does
#           not know with "not memory contiguous".
# Seen:     of an array with strides it writes the memory from its first element on: a[::2] comes back as the first half of a, a transposed
#           array with its elements in the order of the memory. Nothing is said. With numpy.ascontiguousarray() all is right.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile adios2==2.12.1.1001 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import sys
import adios2
import numpy as np
line, table = np.arange(8.0), np.arange(6.0).reshape(2, 3)
for name, array in (("line", line), ("every second", line[::2]), ("table", table), ("transposed", table.T), ("copied", table.T.copy())):
    with adios2.Stream(sys.argv[1], "w") as stream:
        stream.write("array", array, array.shape, [0] * array.ndim, array.shape)
    with adios2.Stream(sys.argv[1], "r") as stream:
        for _ in stream.steps():
            read = stream.read("array")
    print(f"{name}:", *array.ravel().astype(int), "is", *read.ravel().astype(int))
PY
"$d/v/bin/python" "$d/t.py" "$d/file.bp" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other arrays" >&2; exit 1; }
line: 0 1 2 3 4 5 6 7 is 0 1 2 3 4 5 6 7
every second: 0 2 4 6 is 0 1 2 3
table: 0 1 2 3 4 5 is 0 1 2 3 4 5
transposed: 0 3 1 4 2 5 is 0 1 2 3 4 5
copied: 0 3 1 4 2 5 is 0 3 1 4 2 5
T
