#!/bin/bash
# Packages: meshio 5.3.5, h5py 3.16.0, numpy 2.2.6, rich 14.1.0, markdown-it-py 3.0.0, mdurl 0.1.2, pygments 2.19.2 (PyPI).
# Expected: a tensor of 3 x 3 numbers at each point is in the file that meshio writes, as it is with XDMF; VTK's XML files have an attribute
#           for the number of components.
# Seen:     the VTU file has the 36 numbers of four points, without that attribute, so that one number belongs to each point by the
#           format: meshio cannot read it, VTK 9.7 takes the first four numbers. In a MED file the tensors are transposed. Nothing is said.
# Elsewhere: the same on every machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile meshio==5.3.5 h5py==3.16.0 numpy==2.2.6 rich==14.1.0 \
    markdown-it-py==3.0.0 mdurl==0.1.2 pygments==2.19.2
cat > "$d/t.py" <<'PY'
import re
import sys
import meshio
import numpy as np
tensors = np.arange(36.0).reshape(4, 3, 3)
mesh = meshio.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]], [("quad", [[0, 1, 2, 3]])], point_data={"t": tensors})
for ending in ("xdmf", "vtu", "med"):
    mesh.write(f"{sys.argv[1]}/t.{ending}")
    try:
        read = np.asarray(meshio.read(f"{sys.argv[1]}/t.{ending}").point_data["t"])
        print(ending, read.shape, *read[0].ravel().astype(int))
    except ValueError:
        print(ending, "ValueError;", *re.findall(r'<DataArray[^>]*Name="t"[^>]*>', open(f"{sys.argv[1]}/t.{ending}").read()))
PY
"$d/v/bin/python" "$d/t.py" "$d" 2>&1 | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other tensors" >&2; exit 1; }
xdmf (4, 3, 3) 0 1 2 3 4 5 6 7 8
vtu ValueError; <DataArray type="Float64" Name="t" format="binary">
med (4, 9) 0 3 6 1 4 7 2 5 8
T
