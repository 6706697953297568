#!/usr/bin/env bash
# strange_umask.sh SORREL: with a umask that forbids all access, the cache is still readable by its owner. A measurement
# beside other work is not kept, so measuring is repeated until one is.
set -euo pipefail
sorrel=$1
rm -rf masked
for _ in {1..100}; do
  (umask 777 && XDG_CACHE_HOME=$PWD/masked "$sorrel" info ./program >/dev/null)
  [ ! -e masked/sorrel/probe ] || break
done
[ -e masked/sorrel/probe ] || { echo "skipped: 100 measurements were disturbed by other work"; exit 77; }
mode=$(stat -c %a masked/sorrel/probe)
[ "$mode" = 600 ] || { echo "FAILED: the mode is $mode, not 600"; exit 1; }
