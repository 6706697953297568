#!/bin/sh
# A rank with a file that cannot be opened again keeps the job from being saved, and stays in its process, each with a line.
#
# usage: files_refused.sh SORREL FILES_PROGRAM WHAT SAVED_TEXT MOVES_TEXT
set -u
sorrel=$1 program=$2 what=$3 saved=$4 moved=$5
. "$(dirname "$0")/folder.sh"
mkdir "$folder/files" "$folder/more"
i=0
while [ $i -lt 80 ]; do
  i=$((i + 1))
  echo "line $i"
done > "$folder/files/input"
cp "$folder/files/input" "$folder/more"
$sorrel run -n 3 --workers 2 --checkpoint memory "$program" "$folder/files" 40 40 0 "$what" > "$folder/out" 2> "$folder/err" || fail "ended with $?"
grep -Eq "^sorrel: no checkpoint, and the job goes on: $saved\$" "$folder/err" || fail "does not say '$saved'"
[ "$(wc -l < "$folder/err")" -eq 1 ] || fail "says more than one line"
grep -q '^refused$' "$folder/out" || fail "the call does not tell"
SORREL_MOVE_SEED=5 $sorrel run -n 6 --procs 3 --workers 1 --balance measured "$program" "$folder/more" 80 1000 0 "$what" \
  > "$folder/out" 2> "$folder/err" || fail "with moves: ended with $?"
[ "$(grep -Ec "^sorrel: note: $moved\$" "$folder/err")" -eq 1 ] || fail "does not say '$moved' once"
grep -q '^[1-9][0-9]* moves$' "$folder/out" || fail "no other rank has moved"
