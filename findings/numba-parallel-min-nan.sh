#!/bin/bash
# Packages: numba 0.68.1, llvmlite 0.50.0, numpy 2.2.6 (PyPI).
# Expected: a function that is compiled with parallel=True gives the result that it gives without.
# Seen:     min() and max() of an array with a NaN are NaN without it, as NumPy says, and the smallest and largest of the other numbers
#           with it. sum() is NaN in both.
# Elsewhere: the same on every Linux machine, with any number of threads.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile numba==0.68.1 llvmlite==0.50.0 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import numba
import numpy
def extremes(array):
    return array.min(), array.max(), array.sum()
array = numpy.array([3.0, 1.0, numpy.nan, 2.0])
for parallel in (False, True):
    print("parallel" if parallel else "alone", *(float(x) for x in numba.njit(parallel=parallel)(extremes)(array)))
PY
NUMBA_THREADING_LAYER=workqueue "$d/v/bin/python" "$d/t.py" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other results" >&2; exit 1; }
alone nan nan nan
parallel 1.0 3.0 nan
T
