#!/usr/bin/env bash
# What `sorrel run` says of a job under a host MPI: observed.sh HOST SORREL ROUND_TRIP FAULTS
# Two processes: a profile and a trace of both, a report of a deadlock, and options that are refused in one line.
set -u
host=$1 sorrel=$2 round_trip=$3 faults=$4
here=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() {
  printf 'FAILED: %s\n' "$1"
  cat out err
  exit 1
}
run() {
  "$here/under.sh" "$host" 2 "$sorrel" run --workers 1 "$@" >out 2>err </dev/null
  local status=$?
  if grep '^skipped: ' out; then exit 77; fi
  return $status
}
said() { grep -q "^sorrel: $1" err || fail "no line '$1'"; }

run -n 6 --profile --summary --profile-json profile.json "$round_trip" || fail "status $? of a profile"
grep -qx "6 ranks" out || fail "the output of a profiled job"
said 'summary: 6 ranks on 2 workers'
grep -q '"rank": *5\b' profile.json || fail "rank 5 is not in the profile"
[ -z "$(ls -d sorrel-profile-* 2>/dev/null)" ] || fail "the events are left"

run -n 6 --trace job.trace "$round_trip" || fail "status $? of a trace"
[ -s job.trace ] || fail "no trace"
[ ! -e job.trace.parts ] || fail "the parts are left"

run -n 4 --report-json report.json "$faults" deadlock && fail "a deadlock, and status 0"
grep -q '"deadlock"' report.json || fail "no report of the deadlock"

# refuses LINE OPTIONS…: both processes, one of which reports.
refuses() {
  local line=$1
  shift
  run -n 4 "$@" "$round_trip" && fail "$* is not refused"
  said "$line"
}
refuses '--procs is not supported under ' --procs 2
refuses '--seed needs a job of one process, but ' --seed 1
refuses '--checkpoint is not supported under .*without it is$' --checkpoint saved
refuses '--schedules needs a job of one process, but ' --schedules 2
refuses '--junit is not supported under .*--report-json is$' --junit file
echo "as it should be"
