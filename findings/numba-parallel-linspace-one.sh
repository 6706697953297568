#!/bin/bash
# Packages: numba 0.68.1, llvmlite 0.50.0, numpy 2.2.6 (PyPI).
# Expected: np.linspace(start, stop, 1) is [start], as NumPy and Numba without parallel=True give it.
# Seen:     with parallel=True it is [nan]. The mean of an empty array, which is NaN in the others, is a ZeroDivisionError there.
# Elsewhere: the same on every Linux machine, with any number of threads.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile numba==0.68.1 llvmlite==0.50.0 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import warnings
import numba
import numpy as np
warnings.simplefilter("ignore")
def line(count):
    return np.linspace(2.0, 3.0, count)
def mean(array):
    return np.mean(array)
for name, wrap in (("NumPy", lambda function: function), ("jit", numba.njit), ("parallel", numba.njit(parallel=True))):
    try:
        average = wrap(mean)(np.zeros(0))
    except ZeroDivisionError:
        average = "ZeroDivisionError"
    print(name, *(wrap(line)(count).tolist() for count in (0, 1, 3)), "mean", average)
PY
"$d/v/bin/python" "$d/t.py" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other points" >&2; exit 1; }
NumPy [] [2.0] [2.0, 2.5, 3.0] mean nan
jit [] [2.0] [2.0, 2.5, 3.0] mean nan
parallel [] [nan] [2.0, 2.5, 3.0] mean ZeroDivisionError
T
