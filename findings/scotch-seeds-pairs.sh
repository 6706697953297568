#!/bin/bash
# Packages: pyscotch 7.0.5, which brings Scotch 7.0.13, and numpy 2.2.6 (PyPI).
# Expected: SCOTCH_randomSeed with different seeds gives different sequences (Scotch user's guide), so that results can be
#           averaged over seeds.
# Seen:     the seeds 2 n and 2 n + 1 give the same colours of a grid: twelve seeds, six results.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv "$d/v"
"$d/v/bin/pip" -q --disable-pip-version-check install --no-deps --no-compile pyscotch==7.0.5 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import numpy
import pyscotch
side = 20
first, neighbours = [0], []
for row in range(side):
    for column in range(side):
        for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
            if 0 <= r < side and 0 <= c < side:
                neighbours.append(r * side + c)
        first.append(len(neighbours))
graph = pyscotch.Graph()
graph.build(numpy.array(first), numpy.array(neighbours))
results = []
for seed in range(12):
    pyscotch.random_seed(seed)
    pyscotch.random_reset()
    results.append(tuple(map(int, graph.color()[0])))
print("version", *pyscotch.scotch_version())
print("results of 12 seeds:", len(set(results)))
print("pairs that agree:", sum(results[seed] == results[seed + 1] for seed in range(0, 12, 2)))
PY
"$d/v/bin/python" "$d/t.py" | grep -E "^version|^results|^pairs" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other sequences" >&2; exit 1; }
version 7 0 13
results of 12 seeds: 6
pairs that agree: 6
T
