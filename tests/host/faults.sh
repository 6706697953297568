#!/usr/bin/env bash
# How a job under a host MPI ends when something goes wrong: faults.sh HOST WHAT REPETITIONS SORREL FAULTS
# It must be over soon, with one line of ours that names the culprit (the launcher says more), and leave no process and no memory.
# WHAT.moving: the same while ranks change their process.
# HOST.network: two processes in each of two network namespaces, else two processes here.
set -u
host=${1%.network} what=$2 repetitions=$3 sorrel=$4 faults=$5
shape=${1#"$host"} segments= options=() computes=compute
if [[ $what == *.moving ]]; then
  what=${what%.moving} options=(--balance measured) computes=barriers
  export SORREL_MOVE_SEED=$RANDOM
fi
here=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
name=h$$
ln -s "$faults" "$folder/$name"
. "$here/../procs/watch.sh"

# The named memory that the job has now, and what is left of it.
note_segments() { segments=$(for p in $(living); do grep -o '/dev/shm/[^ ]*$' "/proc/$p/maps"; done | grep -v /sorrel- | sort -u); }
segments_left() { for s in $segments; do [ ! -e "$s" ] || echo "$s"; done; }

no_process_left() { [ -z "$(living)" ] && [ -z "$(pgrep -r D,R,S,T -f "run .*-n 4 .*$folder/$name")" ]; }
ours_are_gone() { [ -z "$(living)" ] && [ -z "$(pgrep -r D,R,S,T -f "^[^ ]*sorrel run .*-n 4 .*$folder/$name")" ]; }

begin() {
  # What the last repetition has said is not said by this one.
  : >"$folder/out"
  local start=("$here/under.sh" "$host" 2 "$sorrel" run --workers 1)
  [ -z "$shape" ] || start=("$here/network.sh" "$host" 2 "$sorrel" 2000)
  "${start[@]}" "${options[@]}" -n 4 "$folder/$name" "$@" >"$folder/out" 2>"$folder/err" </dev/null &
  job=$!
}
# ends_with STATUS LINE LIMIT_MS: - for any status that is not 0, any for any; - for no line of ours.
ends_with() {
  wait_until "$3" ended || fail "still there after $3 ms"
  wait "$job"
  local status=$?
  if grep '^skipped: ' "$folder/out"; then exit 77; fi
  case $1 in
    any) ;;
    -) [ "$status" != 0 ] || fail "status 0" ;;
    *) [ "$status" = "$1" ] || fail "status $status, expected $1" ;;
  esac
  wait_until $soon_ms no_process_left || fail "a process is left"
  [ -z "$(segments_left)" ] || fail "memory is left: $(segments_left)"
  local lines
  lines=$(grep '^sorrel: ' "$folder/err")
  if [ "$2" = - ]; then
    [ -z "$lines" ] || fail "a line of ours"
  else
    [[ $lines =~ $2 ]] || fail "the line is not $2"
    [ "$(wc -l <<<"$lines")" -le "${lines_max:-1}" ] || fail "more than one line of ours"
  fi
}
# The processes of this test in a namespace, a or b.
living_in() { comm -12 <(living | sort) <(ip netns pids "sorrel-$1-$job" | sort); }
# of_launcher SIDE NAME…: its processes of such a name, in a namespace.
of_launcher() { local side=$1; shift; comm -12 <(for n; do pgrep -r D,R,S,T -x "$n"; done | sort) <(ip netns pids "sorrel-$side-$job" | sort); }
# kill_one_of COMMAND…: kill -9 of one of those that it lists, and what must follow.
kill_one_of() {
  local victim
  until victim=$("$@" | shuf -n 1) && [ -n "$victim" ]; do sleep 0.01; done
  kill -9 "$victim"
  wait_until $soon_ms ours_are_gone || fail "one of ours is still there"
  ends_with - "$killed" $soon_ms
}
# The process of rank 2, which is process 1.
child_of_launcher() { pgrep -x "$name" | tail -n 1; }
# Skipped jobs end before they start.
wait_for_start() {
  wait_until 60000 eval 'started || ended' || fail "did not start"
  if ended; then
    ends_with 0 - 0
    fail "ended before anything was done to it"
  fi
}
start_computing() {
  begin $computes
  wait_for_start
  note_segments
  [ $computes = compute ] || sleep 0.$((RANDOM % 500))
}

# A process and its ranks, as a line names them.
of_rank_2='1 \(ranks 2-3\)' of_a='0 \(ranks 0-1\)' of_b='1 \(ranks 2-3\)'
[ -z "$shape" ] || of_rank_2='2 \(rank 2\)' of_a='[01] \(rank [01]\)' of_b='[23] \(rank [23]\)'
killed="^sorrel: process ($of_a|$of_b) was killed by signal 9 \(Killed\)\$"
for ((i = 1; i <= repetitions; ++i)); do
  case $what in
    abort) begin abort && ends_with - '^sorrel: rank 2: called MPI_Abort with code 77$' 60000 ;;
    crash) begin crash && ends_with - '^sorrel: rank 2: Segmentation fault \(signal 11\)' 60000 ;;
    exit) begin exit && ends_with - '^sorrel: rank 2: ended with status 4 without calling MPI_Finalize$' 60000 ;;
    kill | orphan) begin "$what" && ends_with - "^sorrel: process $of_rank_2 was killed by signal 9 \(Killed\)\$" 60000 ;;
    deadlock)
      begin deadlock
      wait_until 60000 eval 'started || ended' || fail "did not start"
      wait_until $soon_ms ours_are_gone || fail "one of ours is still there"
      ends_with 3 '^sorrel: deadlock: 4 of 4 ranks wait, and no message is in flight$' $soon_ms
      grep -qE '^0-3 \(4\)  MPI_Recv +from any +3 +MPI_COMM_WORLD +wait_for_ever' "$folder/err" || fail "the table"
      ;;
    bad_start)
      # What MPI_Init needs is not there.
      export OMPI_MCA_pml=none_such MPIR_CVAR_CH4_NETMOD=none_such UCX_TLS=none_such
      begin statuses
      wait_until 60000 ended || fail "still there after 60 s"
      # Each process may fail by itself, and the launcher be too late to stop the second's word.
      lines_max=2
      # Open MPI ends all as soon as a process tells it what is wrong, and may not read what is said after that, nor
      # its own word: "ORTE_ERROR_LOG: Out of resource" is all that is left of it at times.
      if [ "$host" = openmpi ] && ! grep -q '^sorrel: ' "$folder/err" && [ -s "$folder/err" ]; then
        ends_with - - 0
      else
        ends_with - '^sorrel: (the host MPI|process)' 0
      fi
      ;;
    kill_one)
      start_computing
      kill_one_of living
      ;;
    kill_in_a | kill_in_b)
      # On one of the nodes; its neighbour and the other node's processes go with it.
      start_computing
      [ "$what" = kill_in_a ] && killed=${killed/|$of_b/} || killed=${killed/$of_a|/}
      kill_one_of living_in "${what#kill_in_}"
      ;;
    kill_launcher | kill_daemon_in_b)
      [ -n "$shape" ] || [ "$what" = kill_launcher ] || fail "there is no b"
      start_computing
      if [ -n "$shape" ]; then
        # The test's own script goes on until the launcher has ended.
        if [ "$what" = kill_launcher ]; then victims=$(of_launcher a mpirun.openmpi mpiexec.mpich); else victims=$(of_launcher b orted hydra_pmi_proxy); fi
        [ -n "$victims" ] || fail "no $what"
        kill -9 $victims
        wait_until $soon_ms ours_are_gone || fail "one of ours is still there"
        ends_with - - $soon_ms
        continue
      fi
      kill -9 "$job"
      ends_with 137 - $soon_ms
      ;;
    kill_daemon)
      # MPICH's daemon; Open MPI's mpirun is its own on this node.
      [ "$host" != openmpi ] || { echo "skipped: mpirun is its own daemon"; exit 77; }
      start_computing
      kill -9 "$(ps -o ppid= -p "$(ps -o ppid= -p "$(child_of_launcher)" | tr -d ' ')" | tr -d ' ')"
      wait_until $soon_ms no_process_left || fail "a process is left"
      [ -z "$(segments_left)" ] || fail "memory is left: $(segments_left)"
      kill -9 "$job" 2>/dev/null
      wait "$job"
      ;;
    term)
      start_computing
      kill -TERM "$job"
      # The launcher's own: MPICH's may say 0.
      ends_with any - $soon_ms
      ;;
    pause)
      # What Ctrl-Z and fg do to Open MPI's: its daemons stop the processes, and continue them.
      begin rounds 4
      wait_for_start
      kill -TSTP "$job"
      sleep 1
      kill -CONT "$job"
      ends_with 0 - 60000
      grep -qx over "$folder/out" || fail "did not end well"
      ;;
    stop_one)
      begin rounds 6
      wait_for_start
      victim=$(living | head -n 1)
      kill -STOP "$victim"
      sleep 5
      kill -CONT "$victim"
      ends_with 0 - 60000
      grep -qx over "$folder/out" || fail "did not end well"
      ;;
  esac
done 2> >(grep -v Killed >&2)
exit 0
