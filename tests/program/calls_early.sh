#!/usr/bin/env bash
# calls_early.sh PROGRAM LIBRARY: a constructor that precedes those of LIBRARY may call every function that LIBRARY interposes.
# PROGRAM makes the calls (subjects/calls_early.c), without LIBRARY and with it. A call may crash with LIBRARY only if it does without.
set -euo pipefail
program=$1
library=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Functions that create files do.
cd "$folder"
LD_PRELOAD=$library "$program" >"$folder/with"
# The address of a stream as an int has either sign, each time that a program starts.
sign=$(sed -n 's/^fgetc \([sS]\)pzzzz .*/\1/p' "$folder/with")
for ((start = 0; start < 30; ++start)); do
  "$program" >"$folder/without"
  ! grep -q "^fgetc ${sign:?}pzzzz " "$folder/without" || break
done
# NAME ARGUMENTS returned, or NAME ARGUMENTS signal NUMBER; 9 ends a call that waits.
crashes='signal (04|05|06|07|08|11)$'
grep -E "returned$|signal 09$" "$folder/without" | cut -d' ' -f1,2 | sort >"$folder/good"
grep -E "$crashes" "$folder/with" | cut -d' ' -f1,2 | sort >"$folder/bad"
names=$(cut -d' ' -f1 "$folder/good" | uniq | wc -l)
[ "$names" -ge 250 ] || { echo "only $names functions were called"; exit 1; }
grep -q "^fopen ppzzzz$" "$folder/good" || { echo "fopen was not called"; exit 1; }
# From arguments that are no streams and no sets of descriptors, the C library and the kernel read less than Sorrel's library does.
# A thread whose function is none crashes unless the process ends before it runs.
worse=$(comm -12 "$folder/good" "$folder/bad" | grep -vE '^(clearerr_unlocked p|pselect [^z]|(pthread|thrd)_create )' || true)
[ -z "$worse" ] || { echo "crash before the constructors of $library:"; echo "$worse"; exit 1; }
echo "$names functions"
