#!/bin/bash
# Package:  pymetis 2025.2.2 (PyPI, brings its own METIS 5).
# Expected: k-way partitioning cuts about as few edges as recursive bisection, or fewer (G. Karypis, V. Kumar,
#           "Multilevel k-way partitioning scheme for irregular graphs", 1998, abstract). pymetis takes k-way
#           when more than 8 parts are asked for.
# Seen:     on small regular grids k-way cuts far more: 76 edges instead of 45 for 10 x 10 vertices in 9 parts,
#           324 instead of 184 for 20 x 20 in 25. At 40 x 40 in 16 parts it is the better one (261, 271).
# Elsewhere: METIS seeds its own generator, so the numbers repeat; another build may differ by some edges (Debian's
#           libmetis5 5.1.0: 83 and 46, 198 and 182), so this checks only "more than a third more edges".
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"; pip -q --disable-pip-version-check --python "$d/v" install --no-compile pymetis==2025.2.2
"$d/v/bin/python" - <<'P'
import pymetis
def grid(n):
    near = lambda i, j: [x * n + y for x, y in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)) if 0 <= x < n and 0 <= y < n]
    return [near(i, j) for i in range(n) for j in range(n)]
cuts = {}
for n, parts in ((10, 9), (20, 25), (40, 16)):
    cuts[n] = [pymetis.part_graph(parts, adjacency=grid(n), recursive=r)[0] for r in (False, True)]
    print(f"{n} x {n} in {parts} parts: k-way cuts {cuts[n][0]}, recursive bisection {cuts[n][1]}")
if not all(cuts[n][0] * 3 > cuts[n][1] * 4 for n in (10, 20)):
    raise SystemExit("changed: k-way is no longer a third worse")
P
