#!/bin/sh
# A rank that cannot go to another process stays, with one line about the reason, while others move, and the results are right.
#
# usage: stays.sh SORREL STEPS_PROGRAM WHAT TEXT
set -u
sorrel=$1 program=$2 what=$3 text=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "$*"
  tail -n 80 "$folder"/*
  exit 1
}
options="-n 6 --procs 3 --workers 1"
$sorrel run $options "$program" 100 1000 > "$folder/expected" 2> "$folder/expected.err" || fail "the plain run ended with $?"
SORREL_MOVE_SEED=5 $sorrel run $options --balance measured --verbose "$program" 100 1000 0 "$what" 2 > "$folder/moved" 2> "$folder/moved.err" ||
  fail "the run with moves ended with $?"
[ "$(grep -Ec "^sorrel: note: .*$text" "$folder/moved.err")" -eq 1 ] || fail "does not say '$text' once"
grep -Eq '^sorrel: balance: [1-9][0-9]* ranks moved between processes' "$folder/moved.err" || fail "no other rank has moved"
diff "$folder/expected" "$folder/moved" || fail "the history differs"
