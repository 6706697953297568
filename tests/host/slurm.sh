#!/usr/bin/env bash
# Jobs under srun: starts munged, slurmctld and slurmd in a folder of its own, and runs programs under them:
# slurm.sh NODES SORREL ROUND_TRIP FAULTS
# One node is this machine alone; two are network namespaces that a wire joins, with a slurmd in each.
# Needs root and Debian's slurm-wlm and munge; skips (77) with a word otherwise.
set -u
nodes=$1 sorrel=$2 round_trip=$3 faults=$4
skip() {
  echo "skipped: $1"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "slurmd needs root"
for tool in munged slurmctld slurmd srun; do
  command -v $tool >/dev/null || skip "$tool is not installed (apt-get install slurm-wlm munge)"
done
ldconfig -p | grep -qE 'libmpi(ch)?\.so\.12 ' || skip "no library of MPICH is installed"
. "$(dirname "$(readlink -f "$0")")/namespaces.sh"
folder=$(mktemp -d) pids=()
chmod 755 "$folder"
has_ended() { ! kill -0 "$1" 2>/dev/null; }
end_all() {
  local status=$?
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  for pid in "${pids[@]}"; do wait_until 5000 has_ended "$pid" || kill -9 "$pid" 2>/dev/null; done
  end_namespaces || status=99
  rm -rf "$folder"
  exit $status
}
trap end_all EXIT
fail() {
  printf 'FAILED: %s\n' "$1"
  tail -n 20 "$folder"/*.log "$folder/out" "$folder/err" 2>/dev/null
  exit 1
}

mkdir -m 700 "$folder/munge" "$folder/state"
dd if=/dev/urandom of="$folder/munge/key" bs=1 count=128 2>/dev/null
chmod 400 "$folder/munge/key"
chmod 711 "$folder/munge"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" --log-file="$folder/munged.log" --num-threads=2 >"$folder/munge.log" 2>&1 &
pids+=($!)

port=$((20000 + $$ % 10000))
if [ "$nodes" = 1 ]; then
  names=("$(hostname -s)") addresses=(127.0.0.1) in_a=(env) in_b=()
else
  make_namespaces 1000
  names=("$a" "$b") addresses=("$net.1" "$net.2")
  # slurmd wants control groups, which a namespace's own /sys has not.
  groups='mount -t cgroup2 none /sys/fs/cgroup'
  [ ! -d /sys/fs/cgroup/systemd ] ||
    groups='mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd none /sys/fs/cgroup/systemd'
  in_a+=(unshare --mount bash -c "$groups"'; exec "$@"' bash)
  in_b+=(unshare --mount bash -c "$groups"'; exec "$@"' bash)
fi
# Each node has a folder for temporary files: PMIx begins with one that must not be there yet.
for name in "${names[@]}"; do mkdir "$folder/tmp-$name"; done
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=${names[0]}(${addresses[0]})
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
TmpFS=$folder/tmp-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=pmi2
ReturnToService=2
$(for ((n = 0; n < nodes; ++n)); do echo "NodeName=${names[n]} NodeAddr=${addresses[n]} CPUs=$(nproc) State=UNKNOWN"; done)
PartitionName=all Nodes=$(IFS=, && echo "${names[*]}") Default=YES OverSubscribe=FORCE:4 State=UP
END
export SLURM_CONF=$folder/slurm.conf
wait_until 60000 [ -S "$folder/munge/socket" ] || fail "munged does not listen"
"${in_a[@]}" slurmctld -D -i >"$folder/ctld.log" 2>&1 &
pids+=($!)
"${in_a[@]}" slurmd -D >"$folder/d.log" 2>&1 &
pids+=($!)
if [ "$nodes" = 2 ]; then
  "${in_b[@]}" slurmd -D >"$folder/d-b.log" 2>&1 &
  pids+=($!)
  export UCX_TLS=tcp,self UCX_NET_DEVICES=wire0 OMPI_MCA_btl=tcp,self OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=$net.0/24
fi
are_idle() {
  states=$("${in_a[@]}" sinfo -h -N -o %T 2>/dev/null | sort | uniq -c | xargs)
  [ "$states" = "$nodes idle" ]
}
wait_until 60000 are_idle || fail "the nodes are not idle but '$states'"

# run PMI TASKS COMMAND…: so many on each node.
run() {
  local pmi=$1 tasks=$(($2 * nodes))
  shift 2
  timeout 60 "${in_a[@]}" srun -N "$nodes" -n "$tasks" --ntasks-per-node=$((tasks / nodes)) --overcommit --mpi="$pmi" "$@" >"$folder/out" 2>"$folder/err"
}
# Several processes on a node, and one.
for ((i = 0; i < (nodes == 1 ? 1 : 10); ++i)); do
  run pmi2 2 "$sorrel" run -n 6 --workers 1 "$round_trip" || fail "job $i: status $?"
  grep -qx "6 ranks" "$folder/out" || fail "the job's output"
  run pmi2 1 "$sorrel" run -n "$nodes" "$round_trip" || fail "job $i, every rank a process: status $?"
  grep -qx "$nodes ranks" "$folder/out" || fail "the job's output"
done

# A rank aborts, and the others wait for ever: they must not.
began=$(date +%s)
run pmi2 $((2 / nodes)) "$sorrel" run -n 4 --workers 1 "$faults" abort
status=$?
[ "$status" = 77 ] || fail "a rank aborted with code 77, and srun ended with $status"
(($(date +%s) - began <= 10)) || fail "it took too long to abort"
grep -q '^sorrel: rank 2: called MPI_Abort with code 77$' "$folder/err" || fail "the line about the rank that aborted"
# kill -9 of a process, with -K as docs/processes.md says.
run pmi2 $((2 / nodes)) -K "$sorrel" run -n 4 --workers 1 "$faults" kill && fail "a process was killed, and srun ended with 0"
grep -q '^sorrel: process 1 (ranks 2-3) was killed by signal 9 (Killed)$' "$folder/err" || fail "the line about the killed process"
# A deadlock: seen within 2 s, told once, and the status is 3 on all nodes.
began=$(date +%s)
run pmi2 $((2 / nodes)) "$sorrel" run -n 4 --workers 1 --report-json "$folder/report.json" "$faults" deadlock
status=$?
[ "$status" = 3 ] || fail "a deadlock, and srun ended with $status"
(($(date +%s) - began <= 10)) || fail "it took too long to see a deadlock"
[ "$(grep -c '^sorrel: deadlock: 4 of 4 ranks wait' "$folder/err")" = 1 ] || fail "the line about the deadlock"
grep -q '"deadlock"' "$folder/report.json" || fail "the report of the deadlock"
# The flight recorder: one page about a deadlock, with the ranks of all nodes; and one when Slurm ends the job, with those of its first node.
pages_of() { cat "$folder/flights-$1"/*.html; }
run pmi2 $((2 / nodes)) "$sorrel" run -n 4 --workers 1 --flight "$folder/flights-deadlock" "$faults" deadlock
[ "$(pages_of deadlock | grep -c '<title>')" = 1 ] || fail "the page of a deadlock"
pages_of deadlock | grep -q '"kind":"deadlock".*wait_for_ever' || fail "what the page of a deadlock says"
run pmi2 $((2 / nodes)) "$sorrel" run -n 4 --workers 1 --flight "$folder/flights-term" "$faults" compute &
running=$!
has_started() { grep -qx started "$folder/out"; }
wait_until 30000 has_started || fail "a job that computes does not start"
"${in_a[@]}" scancel --signal=TERM --user="$(id -un)"
wait "$running"
pages_of term | grep -q '"kind":"terminated"' || fail "the page about a job that Slurm has ended"
# The profile of all nodes.
cd "$folder" && run pmi2 2 "$sorrel" run -n 6 --workers 1 --summary "$round_trip" || fail "a job with a summary: status $?"
[ "$(grep -c '^sorrel: summary: 6 ranks on ' "$folder/err")" = 1 ] || fail "the summary"
# A check of each process's ranks.
run pmi2 2 "$sorrel" run -n 6 --check "$round_trip" || fail "a checked job: status $?"
[ "$(grep -c '^sorrel: check: 0 errors, 0 warnings in process 0 of' "$folder/err")" = 1 ] || fail "the line of the check"
# Open MPI is started by PMIx.
if "${in_a[@]}" srun --mpi=list 2>&1 | grep -qw pmix && ldconfig -p | grep -q 'libmpi\.so\.40 '; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  run pmix 2 "$sorrel" run -n 6 --workers 1 "$round_trip" || fail "a job of Open MPI's: status $?"
  grep -qx "6 ranks" "$folder/out" || fail "the output of Open MPI's job"
  echo "with Open MPI as well"
fi
echo "jobs under srun: as they should be"
