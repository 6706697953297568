#!/bin/sh
# A job whose ranks change their process at random has the history, bit by bit, of one whose ranks stay. The library compares the
# memory of each rank that moves.
#
# usage: same_history.sh SORREL STEPS_PROGRAM SEED "RUN_OPTIONS"
# SORREL may be several words, a launcher's among them. Skips (77) where that does.
set -u
sorrel=$1 program=$2 seed=$3 run_options=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "seed $seed: $*"
  # A crash report has about 60 lines.
  tail -n 80 "$folder"/*
  exit 1
}
$sorrel run $run_options "$program" 200 1000 > "$folder/expected" 2> "$folder/expected.err"
status=$?
[ $status != 77 ] || { cat "$folder/expected"; exit 77; }
[ $status = 0 ] || fail "the plain run ended with $status"
SORREL_MOVE_SEED=$seed $sorrel run $run_options --balance measured --verbose "$program" 200 1000 > "$folder/moved" 2> "$folder/moved.err" ||
  fail "the run with moves ended with $?"
grep -Eq '^sorrel: balance: [1-9][0-9]+ ranks moved between processes in [1-9]' "$folder/moved.err" || fail "hardly any rank has moved"
diff "$folder/expected" "$folder/moved" || fail "the history differs"
