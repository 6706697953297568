#!/bin/bash
# Package:  otf2 3.2 (PyPI).
# Expected: the Python writer of OTF2 traces refuses a number that the type of its attribute cannot hold, or stores it.
# Seen:     it stores another number without a word: 300 as UINT8 is 44 in the trace, 200 as INT8 is -56, -1 as UINT64 is
#           18446744073709551615, 1e300 as FLOAT is infinite.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile otf2==3.2
cat > "$d/t.py" <<'PY'
import sys
import otf2
from otf2.enums import Type
given = {"UINT8": 300, "INT8": 200, "UINT64": -1, "FLOAT": 1e300}
with otf2.writer.open(sys.argv[1], timer_resolution=1000) as trace:
    node = trace.definitions.system_tree_node("node", "node")
    group = trace.definitions.location_group("process", system_tree_parent=node)
    region = trace.definitions.region("region", "region")
    attributes = {trace.definitions.attribute(name, "", getattr(Type, name)): value for name, value in given.items()}
    writer = trace.event_writer("thread", group=group)
    writer.enter(1, region, attributes=attributes)
    writer.leave(2, region)
with otf2.reader.open(sys.argv[1] + "/traces.otf2") as trace:
    for _, event in trace.events:
        for attribute, value in sorted((event.attributes or {}).items(), key=lambda item: list(given).index(item[0].name)):
            print(attribute.name, given[attribute.name], "is", value)
PY
"$d/v/bin/python" "$d/t.py" "$d/trace" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other numbers" >&2; exit 1; }
UINT8 300 is 44
INT8 200 is -56
UINT64 -1 is 18446744073709551615
FLOAT 1e+300 is inf
T
