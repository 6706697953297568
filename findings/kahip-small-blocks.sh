#!/bin/bash
# Packages: kahip 3.25, numpy 2.2.6 (PyPI).
# Expected: an imbalance of 0.03 allows no more than one of 0 where the average block has one or two vertices, so the blocks are
#           as small: at most (1 + imbalance) * ceil(n / k) vertices (KaHIP user guide, balance constraint).
# Seen:     with 0, the 64 vertices of a grid become 64 blocks of one. With 0.03, kaffpa leaves 16 blocks empty and gives others
#           two, at each level of effort and with each seed tried.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv "$d/v"
"$d/v/bin/pip" -q --disable-pip-version-check install --no-deps --no-compile kahip==3.25 numpy==2.2.6
cat > "$d/t.py" <<'PY'
import kahip
side, seen = 8, set()
first, neighbours = [0], []
for row in range(side):
    for column in range(side):
        for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
            if 0 <= r < side and 0 <= c < side:
                neighbours.append(r * side + c)
        first.append(len(neighbours))
for imbalance in (0.0, 0.03):
    for mode in (kahip.FAST, kahip.ECO, kahip.STRONG):
        for seed in range(3):
            _, blocks = kahip.kaffpa([1] * side**2, first, [1] * len(neighbours), neighbours, side**2, imbalance, True, seed, mode)
            sizes = [blocks.count(block) for block in range(side**2)]
            seen.add((imbalance, max(sizes), sizes.count(0)))
for imbalance, largest, empty in sorted(seen):
    print(f"imbalance {imbalance}: largest block {largest}, empty blocks {empty}")
PY
"$d/v/bin/python" "$d/t.py" | grep ^imbalance | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other blocks" >&2; exit 1; }
imbalance 0.0: largest block 1, empty blocks 0
imbalance 0.03: largest block 2, empty blocks 16
T
