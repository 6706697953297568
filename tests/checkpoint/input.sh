#!/bin/sh
# A restarted job goes on with the input that it has not taken.
#
# usage: input.sh SORREL INPUT_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
printf '%s\n' one two three four five > "$folder/lines"
# Saves a job that reads by $1, and restarts it: it must print $2.
save() {
  rm -rf "$folder/save"
  $sorrel run -n 2 --workers 1 --checkpoint "$folder/save" "$program" "$1" > "$folder/out" 2> "$folder/err" || fail "$1: the job ended with $?"
}
again() {
  $sorrel restart --workers 1 "$folder/save" > "$folder/out" 2> "$folder/err" || fail "$1: the restart ended with $?"
  [ "$(tr '\n' ' ' < "$folder/out")" = "restarted $2" ] || fail "$1: the restarted job has read other lines than $2"
}
# From one file: what the job has not taken of it, once.
for how in fgets read; do
  save $how < "$folder/lines"
  again $how 'three four five ' < "$folder/lines"
done
# Another input: what was read of the one before, then the other.
printf '%s\n' six seven > "$folder/more"
save fgets < "$folder/lines"
again fgets 'three four five six seven ' < "$folder/more"
cat "$folder/lines" | save fgets || exit 1
cat "$folder/more" | again fgets 'three four five six seven ' || exit 1
cat "$folder/lines" | save ungetc || exit 1
cat "$folder/more" | again ungetc '*+three four five six seven ' || exit 1
# More than a buffer of the C library holds.
seq 100000 > "$folder/lines"
save fgets < "$folder/lines"
$sorrel restart --workers 1 "$folder/save" < "$folder/lines" > "$folder/out" 2> "$folder/err" || fail "the restart ended with $?"
{ echo restarted; seq 3 100000; } | cmp -s - "$folder/out" || fail 'the rest of a long input is another'
