#!/usr/bin/env bash
# A job under srun: starts munged, slurmctld and slurmd for this machine alone, in a folder of its own, and runs programs
# under them: slurm.sh SORREL ROUND_TRIP FAULTS
# Needs root and Debian's slurm-wlm and munge; skips (77) with a word otherwise.
set -u
sorrel=$1 round_trip=$2 faults=$3
skip() {
  echo "skipped: $1"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "slurmd needs root"
for tool in munged slurmctld slurmd srun; do
  command -v $tool >/dev/null || skip "$tool is not installed (apt-get install slurm-wlm munge)"
done
[ -e "$(dirname "$sorrel")/../lib/libsorrel-host-mpich.so" ] || skip "no plugin for MPICH was built"
folder=$(mktemp -d) pids=()
chmod 755 "$folder"
end_all() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  for pid in "${pids[@]}"; do
    for ((t = 0; t < 50; ++t)); do kill -0 "$pid" 2>/dev/null && sleep 0.1 || break; done
    kill -9 "$pid" 2>/dev/null
  done
  rm -rf "$folder"
}
trap end_all EXIT
fail() {
  printf 'FAILED: %s\n' "$1"
  tail -n 20 "$folder"/*.log "$folder/out" "$folder/err" 2>/dev/null
  exit 1
}

mkdir -m 700 "$folder/munge" "$folder/state" "$folder/spool"
dd if=/dev/urandom of="$folder/munge/key" bs=1 count=128 2>/dev/null
chmod 400 "$folder/munge/key"
chmod 711 "$folder/munge"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" --log-file="$folder/munged.log" --num-threads=2 >"$folder/munge.log" 2>&1 &
pids+=($!)

host=$(hostname -s) port=$((20000 + $$ % 10000))
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=pmi2
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES OverSubscribe=FORCE:4 State=UP
END
export SLURM_CONF=$folder/slurm.conf
for ((t = 0; t < 50; ++t)); do [ -S "$folder/munge/socket" ] && break || sleep 0.1; done
slurmctld -D -i >"$folder/ctld.log" 2>&1 &
pids+=($!)
slurmd -D >"$folder/d.log" 2>&1 &
pids+=($!)
for ((t = 0; t < 300; ++t)); do
  state=$(sinfo -h -o %T 2>/dev/null)
  [ "$state" = idle ] && break
  sleep 0.1
done
[ "$state" = idle ] || fail "the node is not idle but '$state'"

run() { timeout 60 srun -n 2 --overcommit --mpi=pmi2 "$@" >"$folder/out" 2>"$folder/err"; }
run "$sorrel" run -n 6 --workers 1 "$round_trip" || fail "a job: status $?"
grep -qx "6 ranks" "$folder/out" || fail "the job's output"
run "$sorrel" run -n 2 "$round_trip" || fail "every rank a process: status $?"
grep -qx "2 ranks" "$folder/out" || fail "the job's output"

# A rank aborts, and the others wait for ever: they must not.
began=$(date +%s)
run "$sorrel" run -n 4 --workers 1 "$faults" abort && fail "a rank aborted, and srun ended with 0"
(($(date +%s) - began <= 10)) || fail "it took too long to abort"
grep -q '^sorrel: rank 2: called MPI_Abort with code 77$' "$folder/err" || fail "the line of who aborted"
# kill -9 of a process, with -K as the README says.
timeout 60 srun -K -n 2 --overcommit --mpi=pmi2 "$sorrel" run -n 4 --workers 1 "$faults" kill \
  >"$folder/out" 2>"$folder/err" && fail "a process was killed, and srun ended with 0"
grep -q '^sorrel: process 1 (ranks 2-3) was killed by signal 9 (Killed)$' "$folder/err" || fail "the line of who was killed"
# Open MPI is started by PMIx.
if srun --mpi=list 2>&1 | grep -qw pmix && [ -e "$(dirname "$sorrel")/../lib/libsorrel-host-openmpi.so" ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  timeout 60 srun -n 2 --overcommit --mpi=pmix "$sorrel" run -n 6 --workers 1 "$round_trip" >"$folder/out" 2>"$folder/err" ||
    fail "a job of Open MPI's: status $?"
  grep -qx "6 ranks" "$folder/out" || fail "the output of Open MPI's job"
  echo "with Open MPI as well"
fi
echo "jobs under srun: as they should be"
