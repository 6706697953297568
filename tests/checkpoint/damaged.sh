#!/bin/sh
# A damaged checkpoint is left out, and the one before it used; a changed program is refused.
#
# usage: damaged.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
cp "$program" "$folder/steps"
$sorrel run -n 3 --checkpoint "$folder/save" "$folder/steps" 30 10 > "$folder/out" 2> "$folder/err" || fail "ended with $?"
[ -e "$folder/save/ckpt.2/MANIFEST" ] && [ -e "$folder/save/ckpt.3/MANIFEST" ] || fail "two checkpoints are not there"
[ ! -e "$folder/save/ckpt.1" ] || fail "the oldest checkpoint is there"
$sorrel run -n 3 --checkpoint "$folder/save" "$folder/steps" 1 1 2> "$folder/err" && fail "another job uses the folder"
grep -q 'has the checkpoints of a job' "$folder/err" || fail "does not say that the folder is used"
cp "$folder/steps" "$folder/kept"
printf x >> "$folder/steps"
objcopy --add-section .changed="$folder/err" --remove-section .note.gnu.build-id "$folder/steps" 2> /dev/null
$sorrel restart "$folder/save" > "$folder/out" 2> "$folder/err" && fail "restarts a program that has changed"
grep -q 'the program or the machine has changed: then the program is' "$folder/err" || fail "does not say what has changed"
cp -p "$folder/kept" "$folder/steps"
file=$folder/save/ckpt.3/process.0000
truncate -s $(($(stat -c %s "$file") - 100)) "$file"
$sorrel restart "$folder/save" > "$folder/out" 2> "$folder/err" || fail "the restart ended with $?"
grep -q 'checkpoint 3 is damaged and left out' "$folder/err" || fail "does not say that the newest is damaged"
[ "$(sed -n 2p "$folder/out" | cut -d ' ' -f 1)" = 20 ] || fail "does not go on with the checkpoint before"
