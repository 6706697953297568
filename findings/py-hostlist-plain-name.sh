#!/bin/bash
# Packages: py-hostlist 0.0.2.dev0; python-hostlist 2.3.0, ClusterShell 1.10.1 for comparison (PyPI).
# Expected: an expanded list of hosts, as Slurm writes it in SLURM_JOB_NODELIST, has every host. A job on one node has a plain name there.
# Seen:     expand() of py-hostlist drops each name that has no brackets: "n1" and "n1,n2" become nothing, "m1,n[1-2]" loses m1. Behind
#           brackets a further name is a suffix: "n[1-2],m1" becomes n1, m1, n2, m1. The other two packages give all hosts.
# Elsewhere: the same on every machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
for v in py-hostlist==0.0.2.dev0 python-hostlist==2.3.0 clustershell==1.10.1; do
    python3 -m venv --without-pip "$d/${v%%=*}"
    pip -q --disable-pip-version-check --python "$d/${v%%=*}" install --no-deps --no-compile "$v"
done
cat > "$d/t.py" <<'PY'
import sys
if sys.argv[1] == "py-hostlist":
    from hostlist.hostlist import expand
elif sys.argv[1] == "python-hostlist":
    from hostlist import expand_hostlist
    expand = lambda hosts: ",".join(expand_hostlist(hosts))
else:
    from ClusterShell.NodeSet import expand as nodes
    expand = lambda hosts: ",".join(nodes(hosts))
print(" ".join(f"{hosts}={expand(hosts)}" for hosts in ("n1", "n1,n2", "m1,n[1-2]", "n[1-2],m1")))
PY
for v in py-hostlist python-hostlist clustershell; do
    "$d/$v/bin/python" "$d/t.py" "$v" > "$d/$v.seen"; echo "$v: $(cat "$d/$v.seen")"
done
[ "$(cat "$d/py-hostlist.seen")" = "n1= n1,n2= m1,n[1-2]=n1,n2 n[1-2],m1=n1,m1,n2,m1" ] &&
[ "$(cat "$d/python-hostlist.seen")" = "n1=n1 n1,n2=n1,n2 m1,n[1-2]=m1,n1,n2 n[1-2],m1=n1,n2,m1" ] &&
[ "$(cat "$d/clustershell.seen")" = "n1=n1 n1,n2=n1,n2 m1,n[1-2]=m1,n1,n2 n[1-2],m1=m1,n1,n2" ] || { echo "changed: other hosts" >&2; exit 1; }
