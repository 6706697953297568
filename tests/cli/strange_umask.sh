#!/usr/bin/env bash
# strange_umask.sh SORREL: a umask that forbids everything leaves a cache that its owner can read. What is measured beside
# other work is not kept, so it is measured again until one measurement is.
set -euo pipefail
sorrel=$1
rm -rf masked
for _ in {1..100}; do
  (umask 777 && XDG_CACHE_HOME=$PWD/masked "$sorrel" info ./program >/dev/null)
  [ ! -e masked/sorrel/probe ] || break
done
[ -e masked/sorrel/probe ] || { echo "FAILED: 100 measurements, and none was kept"; exit 1; }
mode=$(stat -c %a masked/sorrel/probe)
[ "$mode" = 600 ] || { echo "FAILED: the mode is $mode, not 600"; exit 1; }
