#!/bin/bash
# Packages: psij-python 0.9.11, psutil 7.0.0, pystache 0.6.8, typeguard 4.6.1, packaging 25.0, typing_extensions 4.16.0 (PyPI).
# Expected: one job specification asks each batch system for the same: here two nodes, four processes on each, three cores for each
#           process, for 90 seconds.
# Seen:     to Slurm it says three cores for each task. To PBS it says ncpus=4 (ppn=4 to the older one), one core for each process. To LSF it
#           says nothing about cores, and the time is cut to one minute; a job of 30 seconds gets the time limit 0:0.
# Elsewhere: the same on every machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-deps --no-compile psij-python==0.9.11 psutil==7.0.0 pystache==0.6.8 \
    typeguard==4.6.1 packaging==25.0 typing_extensions==4.16.0
cat > "$d/t.py" <<'PY'
import datetime
import io
import re
from psij import Job, JobAttributes, JobExecutor, JobSpec, ResourceSpecV1
for name in ("slurm", "pbs", "pbs_classic", "lsf"):
    for seconds in (90, 30):
        executor = JobExecutor.get_instance(name)
        job = Job(JobSpec(executable="/bin/date", resources=ResourceSpecV1(node_count=2, processes_per_node=4, cpu_cores_per_process=3),
                          attributes=JobAttributes(duration=datetime.timedelta(seconds=seconds))))
        script = io.StringIO()
        executor.generate_submit_script(job, executor._create_script_context(job), script)
        print(name, *re.findall(r"(?:--cpus-per-task|--time|ncpus|ppn|walltime|-W)[= ][\d:]+", script.getvalue()))
PY
HOME="$d" "$d/v/bin/python" "$d/t.py" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other scripts" >&2; exit 1; }
slurm --cpus-per-task=3 --time=0:1:30
slurm --cpus-per-task=3 --time=0:0:30
pbs ncpus=4: walltime=0:1:30
pbs ncpus=4: walltime=0:0:30
pbs_classic ppn=4 walltime=0:1:30
pbs_classic ppn=4 walltime=0:0:30
lsf -W 0:1
lsf -W 0:0
T
