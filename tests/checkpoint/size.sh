#!/bin/sh
# A block of a rank makes a saved job longer by about its own length, also if it lies in a large page that is mostly unused.
#
# usage: size.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
for what in nothing block; do
  "$sorrel" run -n 4 --checkpoint "$folder/$what" "$program" 10 10 0 "$what" > "$folder/out" 2> "$folder/err" || fail "the run ended with $?"
done
longer=$(($(du -sk "$folder/block" | cut -f 1) - $(du -sk "$folder/nothing" | cut -f 1)))
[ "$longer" -ge 350 ] || fail "400 KiB more are $longer KiB in the file"
[ "$longer" -le 600 ] || fail "400 KiB more are $longer KiB in the file"
