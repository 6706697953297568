#!/bin/bash
# Packages: meshio 5.3.5, h5py 3.16.0, netCDF4 1.7.2, cftime 1.6.4, certifi 2025.6.15, numpy 2.2.6, rich 14.1.0, markdown-it-py 3.0.0, mdurl 0.1.2,
#           pygments 2.19.2 (PyPI).
# Expected: the values at the cells of a mesh are in the file that meshio writes, or it says that they are left out, as it does for other formats.
# Seen:     an Exodus file has none of them, and nothing is said. A DOLFIN XML file has them as the text "np.int64(5)", which meshio, and any
#           other reader, cannot read: what NumPy 2 prints for an integer.
# Elsewhere: the same on every machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile meshio==5.3.5 h5py==3.16.0 netCDF4==1.7.2 cftime==1.6.4 \
    certifi==2025.6.15 numpy==2.2.6 rich==14.1.0 markdown-it-py==3.0.0 mdurl==0.1.2 pygments==2.19.2
cat > "$d/t.py" <<'PY'
import re
import sys
import meshio
import numpy as np
mesh = meshio.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]], [("triangle", [[0, 1, 2], [0, 2, 3]])], cell_data={"c": [np.array([5, 7])]})
for ending in ("xdmf", "e", "xml"):
    mesh.write(f"{sys.argv[1]}/m.{ending}")
    try:
        print(ending, {name: values[0].tolist() for name, values in meshio.read(f"{sys.argv[1]}/m.{ending}").cell_data.items()})
    except ValueError:
        print(ending, "ValueError;", *re.findall(r'value="[^"]*"', open(f"{sys.argv[1]}/m_c.xml").read()))
PY
"$d/v/bin/python" "$d/t.py" "$d" 2>&1 | grep -E "^(xdmf|e|xml) " | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other values" >&2; exit 1; }
xdmf {'c': [5, 7]}
e {}
xml ValueError; value="np.int64(5)" value="np.int64(7)"
T
