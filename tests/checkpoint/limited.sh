#!/bin/sh
# Where the system gives a process too few addresses for heaps of ranks, a restart ends with one line, and nothing is lost.
#
# usage: limited.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
fail() {
  echo "$*"
  for file in first limited second; do echo "--- $file"; tail -n 20 "$folder/$file" "$folder/$file.err" 2>&1; done
  exit 1
}
$sorrel run -n 2 --checkpoint "$folder/save" "$program" 60 10 3 > "$folder/first" 2> "$folder/first.err"
[ $? -eq 137 ] || fail "the run to be killed was not"
(ulimit -v 4000000 && exec $sorrel restart "$folder/save") > "$folder/limited" 2> "$folder/limited.err"
[ $? -eq 1 ] || fail "the restart with few addresses ended with another status than 1"
grep -q "^sorrel: cannot restart: .*ranks use the C library's heap, because " "$folder/limited.err" || fail "no line about the heaps"
$sorrel restart "$folder/save" > "$folder/second" 2> "$folder/second.err" || fail "the restart without a limit ended with $?"
[ "$(head -n 1 "$folder/second")" = restarted ] || fail "the restarted job does not begin at a checkpoint"
