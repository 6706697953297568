#!/bin/bash
# Packages: numexpr 2.14.2, numpy 2.2.6 (PyPI).
# Expected: the largest and smallest element of an array of integers, as NumPy gives them; the user guide lists the reductions
#           max(number) and min(number).
# Seen:     of int64, NumExpr gives the element rounded to 53 bits, a number that the array does not have, in the type int64. Of int32 it
#           raises a SystemError.
# Elsewhere: the same on every Linux machine, with any number of threads.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile numexpr==2.14.2 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import numexpr
import numpy
for kind in ("int64", "int32"):
    array = numpy.array([2**53 + 1, 2**53 + 3] if kind == "int64" else [7, 9], dtype=kind)
    for reduction in ("max", "min"):
        try:
            result = numexpr.evaluate(f"{reduction}(array)")
            print(kind, reduction, int(result), result.dtype, "in the array:", result in array)
        except SystemError:
            print(kind, reduction, "SystemError")
PY
"$d/v/bin/python" "$d/t.py" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other results" >&2; exit 1; }
int64 max 9007199254740996 int64 in the array: False
int64 min 9007199254740992 int64 in the array: False
int32 max SystemError
int32 min SystemError
T
