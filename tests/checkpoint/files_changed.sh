#!/bin/sh
# Files that have changed since the job was saved: what was appended stays, with a note; a file that is missing or too short is an error.
#
# usage: files_changed.sh SORREL FILES_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
mkdir "$folder/files"
i=0
while [ $i -lt 80 ]; do
  i=$((i + 1))
  echo "line $i"
done > "$folder/files/input"
# Saved at steps 15 and 30, killed at step 40.
$sorrel run -n 4 --procs 2 --checkpoint "$folder/save" "$program" "$folder/files" 80 15 40 append > "$folder/out" 2> "$folder/err"
[ $? -eq 137 ] || fail "the run to be killed was not"
generation=$(ls "$folder/save" | sed -n 's/^ckpt\.\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
first=$((generation * 15))
last=$(tail -n 1 "$folder/files/append.2")
[ "$last" -ge "$first" ] || fail "the file ends with step $last, before the checkpoint"
restart() {
  rm -rf "$folder/again"
  cp -r "$folder/save" "$folder/again"
  $sorrel restart "${@:---procs=1}" "$folder/again" > "$folder/out" 2> "$folder/err"
}
# Every file stays as it is.
refuse() {
  reason=$1 line=$2
  shift 2
  wc -c "$folder"/files/* > "$folder/before"
  restart "$@" && fail "restarts although $reason"
  grep -Eq "^sorrel: cannot restart: $line" "$folder/err" || fail "does not say that $reason"
  wc -c "$folder"/files/* | diff "$folder/before" - || fail "has changed files although $reason"
}
mv "$folder/files/raw.1" "$folder/raw"
refuse "a file is missing" "rank 1: cannot open $folder/files/raw.1 again: No such file or directory"
refuse "a file is missing, which another process finds out" "rank 1: cannot open $folder/files/raw.1 again: No such file or directory" --procs=3
head -c 5 "$folder/raw" > "$folder/files/raw.1"
refuse "a file is too short" "rank 1: $folder/files/raw.1 has 5 bytes, and had [0-9]+ when the rank was saved"
# The program that was saved is another one now.
cp "$folder/raw" "$folder/files/raw.1"
stack_kib=$(ulimit -s)
if [ "$stack_kib" != unlimited ]; then
  ulimit -S -s $((stack_kib / 2))
  refuse "stacks have another size" "the program or the machine has changed: then stacks have .*, now stacks have "
  ulimit -S -s "$stack_kib"
fi
# A copy has all that is needed, and another number in the file system.
rm "$folder/files/raw.1"
cp "$folder/raw" "$folder/files/raw.1"
restart || fail "the restart with a copied file ended with $?"
[ "$(grep -c '^sorrel: note: rank [12]: ' "$folder/err")" -eq 1 ] || fail "does not note once that files have changed"
i=0
while [ $i -lt 80 ]; do
  i=$((i + 1))
  printf '%d;' $i
done > "$folder/expected"
cmp "$folder/expected" "$folder/files/raw.1" || fail "the copied file was not written on"
{
  seq 1 "$last"
  seq $((first + 1)) 80
} | cmp - "$folder/files/append.2" || fail "not all lines since the checkpoint, and only these, come again"
