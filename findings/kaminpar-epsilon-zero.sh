#!/bin/bash
# Packages: kaminpar 3.7.3 (PyPI).
# Expected: compute_partition(graph, k, eps) with eps 0 asks for blocks of ceil(n / k) vertices, the limit that 1e-9 gives, too.
# Seen:     0 is taken as "no limit was set": a ValueError that asks for calls that the Python interface does not have. With 1e-9
#           the 64 vertices of a grid become four blocks of 16.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv "$d/v"
"$d/v/bin/pip" -q --disable-pip-version-check install --no-deps --no-compile kaminpar==3.7.3
cat > "$d/t.py" <<'PY'
import sys
import kaminpar
side, folder, lines = 8, sys.argv[1], []
for row in range(side):
    for column in range(side):
        near = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
        lines.append(" ".join(str(r * side + c + 1) for r, c in near if 0 <= r < side and 0 <= c < side))
edges = sum(len(line.split()) for line in lines) // 2
with open(f"{folder}/grid.graph", "w") as file:
    file.write(f"{side**2} {edges}\n" + "\n".join(lines) + "\n")
graph = kaminpar.load_graph(f"{folder}/grid.graph", kaminpar.GraphFileFormat.METIS)
for eps in (1e-9, 0.0):
    try:
        blocks = list(kaminpar.KaMinPar(1, kaminpar.default_context()).compute_partition(graph, 4, eps))
        print(f"eps {eps}:", *sorted(blocks.count(block) for block in range(4)))
    except ValueError as error:
        asked = [word for word in ("uniform", "absolute", "relative") if f"set_{word}_max_block_weights" in str(error)]
        print(f"eps {eps}: refused, asks for block weights that are", *asked)
print("setters:", *[name for name in dir(kaminpar.KaMinPar) if name.startswith("set_")])
PY
"$d/v/bin/python" "$d/t.py" "$d" | grep -E "^eps|^setters" | tee "$d/seen"
diff -b "$d/seen" - >/dev/null <<'T' || { echo "changed: another answer" >&2; exit 1; }
eps 1e-09: 16 16 16 16
eps 0.0: refused, asks for block weights that are uniform absolute relative
setters:
T
