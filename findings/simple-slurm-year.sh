#!/bin/bash
# Package:  simple-slurm 0.3.6 (PyPI).
# Expected: Slurm(time=timedelta(...)) asks for that time limit.
# Seen:     the days are counted modulo 365, without a word: 366 days become "1-00:00:00", and 365 days "0-00:00:00". To sbatch a time limit of
#           zero means that no time limit is imposed. One day less than nothing is "364-00:00:00".
# Elsewhere: the same on every machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile simple-slurm==0.3.6
cat > "$d/t.py" <<'PY'
import datetime
from simple_slurm import Slurm
for days in (364, 365, 366, 400, -1):
    script = str(Slurm(time=datetime.timedelta(days=days)))
    print(days, *(line.split()[-1] for line in script.splitlines() if "--time" in line))
PY
"$d/v/bin/python" "$d/t.py" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other time limits" >&2; exit 1; }
364 364-00:00:00
365 0-00:00:00
366 1-00:00:00
400 35-00:00:00
-1 364-00:00:00
T
