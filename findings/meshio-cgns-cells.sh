#!/bin/bash
# Packages: meshio 5.3.5, h5py 3.16.0, numpy 2.2.6, rich 14.1.0, markdown-it-py 3.0.0, mdurl 0.1.2, pygments 2.19.2 (PyPI).
# Expected: a mesh that is written as CGNS has its cells and values, or the writer says what it left out, as meshio's writers of other formats do.
# Seen:     of a mesh of two tetrahedra, a hexahedron and a triangle the file has the tetrahedra, and not a word is said. A mesh of a
#           hexahedron alone becomes a file that meshio cannot read. The values at points and cells are gone as well.
# Elsewhere: the same on every machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile meshio==5.3.5 h5py==3.16.0 numpy==2.2.6 rich==14.1.0 \
    markdown-it-py==3.0.0 mdurl==0.1.2 pygments==2.19.2
cat > "$d/t.py" <<'PY'
import sys
import meshio
import numpy as np
points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1.0], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
tetra, hexahedron, triangle = ("tetra", [[0, 1, 2, 4], [1, 2, 4, 5]]), ("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]]), ("triangle", [[0, 1, 2]])
for name, cells in (("mixed", [tetra, hexahedron, triangle]), ("hexahedron", [hexahedron])):
    mesh = meshio.Mesh(points, cells, point_data={"p": np.arange(8.0)})
    for ending in ("xdmf", "cgns"):
        mesh.write(f"{sys.argv[1]}/{name}.{ending}")
        try:
            read = meshio.read(f"{sys.argv[1]}/{name}.{ending}")
        except KeyError:
            print(name, ending, "KeyError")
            continue
        print(name, ending, *(f"{block.type} {len(block)}" for block in read.cells), *read.point_data)
PY
"$d/v/bin/python" "$d/t.py" "$d" 2>&1 | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other cells" >&2; exit 1; }
mixed xdmf tetra 2 hexahedron 1 triangle 1 p
mixed cgns tetra 2
hexahedron xdmf hexahedron 1 p
hexahedron cgns KeyError
T
