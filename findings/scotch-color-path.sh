#!/bin/bash
# Packages: pyscotch 7.0.5, which brings Scotch 7.0.13, and numpy 2.2.6 (PyPI).
# Expected: a colouring without search needs at most one colour more than the largest degree: three for a path, five for a grid.
# Seen:     SCOTCH_graphColor gives a path of 16 vertices nine colours, a grid of 100 x 100 fifteen. No neighbours share a
#           colour. A program with one loop for each colour has five times the loops.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv "$d/v"
"$d/v/bin/pip" -q --disable-pip-version-check install --no-deps --no-compile pyscotch==7.0.5 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import numpy
import pyscotch
for rows, columns in ((1, 16), (100, 100)):
    first, neighbours = [0], []
    for row in range(rows):
        for column in range(columns):
            for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
                if 0 <= r < rows and 0 <= c < columns:
                    neighbours.append(r * columns + c)
            first.append(len(neighbours))
    graph = pyscotch.Graph()
    graph.build(numpy.array(first), numpy.array(neighbours))
    pyscotch.random_seed(0)
    pyscotch.random_reset()
    colours, count = graph.color()
    clashes = sum(colours[v] == colours[u] for v in range(rows * columns) for u in neighbours[first[v]:first[v + 1]])
    print(f"{rows} x {columns}: largest degree {max(numpy.diff(first))}, colours {count}, clashes {clashes}")
PY
"$d/v/bin/python" "$d/t.py" | grep " x " | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other colours" >&2; exit 1; }
1 x 16: largest degree 2, colours 9, clashes 0
100 x 100: largest degree 4, colours 15, clashes 0
T
