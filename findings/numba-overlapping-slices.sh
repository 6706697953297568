#!/bin/bash
# Packages: numba 0.68.1, llvmlite 0.50.0, numpy 2.2.6 (PyPI).
# Expected: a[1:] = a[:-1] shifts an array and a[:] = a[::-1] reverses it, as in NumPy since 1.13, which copies where operands overlap.
# Seen:     with parallel=True the loop runs over the elements in place: the shift repeats elements, and the reversed array is a palindrome.
#           Without it both are right, but a[1:] += a[:-1] gives running sums even there.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile numba==0.68.1 llvmlite==0.50.0 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import numba
import numpy as np
def shift(a):
    a[1:] = a[:-1]
def reverse(a):
    a[:] = a[::-1]
def add(a):
    a[1:] += a[:-1]
for name, wrap in (("NumPy", lambda function: function), ("jit", numba.njit), ("parallel", numba.njit(parallel=True))):
    for function in (shift, reverse, add):
        array = np.arange(1, 7)
        wrap(function)(array)
        expected = np.arange(1, 7)
        function(expected)
        print(name, function.__name__, "right" if np.array_equal(array, expected) else "wrong", *array)
PY
"$d/v/bin/python" "$d/t.py" | tee "$d/lines"
cut -d " " -f 1-3 "$d/lines" > "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other arrays" >&2; exit 1; }
NumPy shift right
NumPy reverse right
NumPy add right
jit shift right
jit reverse right
jit add wrong
parallel shift wrong
parallel reverse wrong
parallel add wrong
T
