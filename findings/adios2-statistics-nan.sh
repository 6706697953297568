#!/bin/bash
# Packages: adios2 2.12.1.1001, numpy 2.2.6 (PyPI).
# Expected: the minimum and maximum that ADIOS2 keeps of each written array, by which readers choose blocks, cover its numbers (ADIOS2
#           user guide, "Statistics"); of 1, 2 and NaN they are 1 and 2.
# Seen:     a NaN hides other numbers. The array 1, 2, NaN has the minimum and maximum 1, NaN, 1, 2 has 2 and 2; an array of NaN
#           alone has the largest double as its minimum.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv "$d/v"
"$d/v/bin/pip" -q --disable-pip-version-check install --no-compile adios2==2.12.1.1001 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import adios2
import numpy
arrays = {"nan_last": [1.0, 2.0, numpy.nan], "nan_first": [numpy.nan, 1.0, 2.0], "no_nan": [1.0, 2.0], "only_nan": [numpy.nan]}
with adios2.Stream("arrays.bp", "w") as stream:
    for name, numbers in arrays.items():
        stream.write(name, numpy.array(numbers), [len(numbers)], [0], [len(numbers)])
with adios2.FileReader("arrays.bp") as reader:
    variables = reader.available_variables()
    for name in arrays:
        print(f"{name}: {float(variables[name]['Min']):.3g} to {float(variables[name]['Max']):.3g}")
PY
(cd "$d" && v/bin/python t.py) | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other statistics" >&2; exit 1; }
nan_last: 1 to 1
nan_first: 2 to 2
no_nan: 1 to 2
only_nan: 1.8e+308 to -1.8e+308
T
