#!/bin/sh
# The file of any process decides: with one that is cut, changed or missing, the checkpoint before is used.
#
# usage: torn.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
$sorrel run -n 5 --procs 3 --checkpoint "$folder/save" "$program" 20 10 > "$folder/out" 2> "$folder/err" || fail "ended with $?"
[ "$(ls "$folder/save/ckpt.2" | tr '\n' ' ')" = "MANIFEST process.0000 process.0001 process.0002 " ] || fail "files are missing"
for process in 0 1 2; do
  for damage in cut changed missing; do
    rm -rf "$folder/damaged"
    cp -r "$folder/save" "$folder/damaged"
    file=$folder/damaged/ckpt.2/process.000$process
    case $damage in
      cut) truncate -s -100 "$file" ;;
      changed) printf x | dd of="$file" bs=1 seek=10000 conv=notrunc 2> /dev/null ;;
      missing) rm "$file" ;;
    esac
    $sorrel restart --procs 2 "$folder/damaged" > "$folder/out" 2> "$folder/err" || fail "$file $damage: ended with $?"
    grep -q 'checkpoint 2 is damaged and left out' "$folder/err" || fail "$file $damage: does not say that it is damaged"
    [ "$(sed -n 2p "$folder/out" | cut -d ' ' -f 1)" = 10 ] || fail "$file $damage: does not go on with the checkpoint before"
  done
done
