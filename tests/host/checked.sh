#!/usr/bin/env bash
# `sorrel run --check` under a host MPI: checked.sh HOST SORREL ROUND_TRIP COLLECTIVES LEAKS
# Two processes, of which each checks its ranks; collective calls are compared between them.
set -u
host=$1 sorrel=$2 round_trip=$3 collectives=$4 leaks=$5
here=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export TMPDIR=$folder/tmp && mkdir tmp
fail() {
  printf 'FAILED: %s\n' "$1"
  cat out err
  exit 1
}
run() {
  "$here/under.sh" "$host" 2 "$sorrel" run -n 4 --check "$@" >out 2>err </dev/null
  local status=$?
  if grep '^skipped: ' out; then exit 77; fi
  return $status
}
said() { grep -q "$1" err || fail "no line '$1'"; }

run "$round_trip" || fail "status $? of a program without errors"
grep -qx "4 ranks" out || fail "the output of the program"
[ "$(grep -c '^sorrel: check: ' err)" = 1 ] || fail "not one line about the check"
said '^sorrel: check: 0 errors, 0 warnings in process 0 of 2; between processes, collective calls .* are compared, but no messages'

[ -z "$(ls tmp | grep sorrel-check)" ] || fail "folders of findings are left"

# finds LINE PROGRAM CASE: the other process may end the job as well, by the status of its own.
finds() {
  run --check-json findings.json "$2" "$3" && fail "status 0 of $3"
  said "$1"
  said '^sorrel: check: 1 error, 0 warnings in process [01] of 2'
  cat findings.json* | grep -q '"kind"' || fail "no finding of $3 in a file"
  rm -f findings.json*
}
finds 'collectives.c:[0-9]*: error: rank [0-3]: MPI_B[a-z]* \[collective-order\]$' "$collectives" order
said '^    rank [0-3] calls MPI_B[a-z]* where rank [0-3] calls MPI_B'
# The ranks of a process agree: the first two are in process 0.
finds 'collectives.c:[0-9]*: error: rank 2: MPI_Bcast \[collective-root\]$' "$collectives" root-of-half
said '^    root is 1 on rank 2 and 0 on rank 0 of another process'
said '^    rank 0: MPI_Bcast at .*collectives.c:[0-9]*, the call of the other rank$'

run "$leaks" communicator-dup
status=$?
[ "$status" = 66 ] || fail "status $status of a leak"
said 'leaks.c:[0-9]*: warning: .*\[leak-communicator\]$'
echo "as it should be"
