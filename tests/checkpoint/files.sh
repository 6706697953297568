#!/bin/sh
# What ranks write into files that stay open is the same if ranks change their process, if a process is killed and the job goes on, and
# if the whole job is killed and restarted.
#
# usage: files.sh SORREL FILES_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
steps=80
mkdir "$folder/expected" "$folder/files"
i=0
while [ $i -lt $steps ]; do
  i=$((i + 1))
  echo "line $i"
done > "$folder/input"
begin() {
  rm -rf "$folder/files"
  mkdir "$folder/files"
  cp "$folder/input" "$folder/files"
}
run() {
  what=$1
  shift
  "$@" > "$folder/out" 2> "$folder/err" || fail "$what: ended with $?"
}
compare() {
  diff -r "$folder/expected" "$folder/files" > "$folder/difference" && return
  head -c 2000 "$folder/difference"
  fail "$1: the files differ"
}
begin
run "plain" $sorrel run -n 6 --procs 2 "$program" "$folder/files" $steps 1000
mv "$folder/files" "$folder/expected.made"
rm -rf "$folder/expected"
mv "$folder/expected.made" "$folder/expected"
[ "$(ls "$folder/expected" | wc -l)" -gt 12 ] || fail "the program has made no files"
for seed in 1 2 3; do
  begin
  run "moves $seed" env SORREL_MOVE_SEED=$seed $sorrel run -n 6 --procs 3 --workers 1 --balance measured --verbose "$program" "$folder/files" $steps 1000
  grep -q '^[1-9][0-9]* moves$' "$folder/out" || fail "no rank with files has moved"
  grep 'stays in process' "$folder/err" && fail "a rank with files stays"
  compare "moves $seed"
done
# Rank 1 kills its process after the checkpoints of steps 15 and 30; the first one is whole then.
for options in "--procs 2" "--procs 3 --balance measured" "--workers 2"; do
  begin
  run "survives $options" env SORREL_MOVE_SEED=5 $sorrel run -n 6 $options --checkpoint memory "$program" "$folder/files" $steps 15 40
  grep -q '^sorrel: the job goes on from checkpoint' "$folder/err" || fail "$options: the job was not killed"
  grep -q refused "$folder/out" && fail "$options: not saved"
  compare "survives $options"
done
begin
$sorrel run -n 6 --procs 2 --checkpoint "$folder/save" "$program" "$folder/files" $steps 15 40 > "$folder/out" 2> "$folder/err"
[ $? -eq 137 ] || fail "the run to be killed was not"
run "restart" $sorrel restart --procs 3 "$folder/save"
compare "restart"
grep -q '^sorrel: note: files are again as long as at the checkpoint: ' "$folder/err" || fail "does not say that files were cut"
