#!/usr/bin/env bash
# Runs a program with 1, 2, 3 and 7 workers, and in 2 and 5 processes, and compares the output: compare_workers.sh
# SORREL RANKS PROGRAM. The limits of collectives must not change it either: all at 0, all at 16 MiB, and the latter
# without the one that comes before reduce.on_arrival.
set -eu
expected=$("$1" run -n "$2" --workers 1 "$3" | sort)
[ -n "$expected" ] || { echo "nothing was printed"; exit 1; }
tables=$(mktemp -d)
trap 'rm -r "$tables"' EXIT
for limit in bcast.staged allgather.staged reduce.segment allreduce.direct reduce.direct allreduce.repeated reduce.on_arrival; do
  echo "$limit 0 any any any" >> "$tables/0"
  echo "$limit 16777216 any any any" >> "$tables/16M"
done
{ echo "allreduce.repeated 0 any any any"; cat "$tables/16M"; } > "$tables/arrival"
tuned_placements=("0 --workers 2" "16M --workers 2" "arrival --workers 3" "arrival --workers 12" "16M --procs 3 --workers 1")
# Without limits all members exchange parts with all others: between processes for few.
(($2 > 20)) || tuned_placements+=("0 --procs 3 --workers 1")
for tuned in "${tuned_placements[@]}"; do
  # shellcheck disable=SC2086  # several words
  got=$(SORREL_TUNING="$tables/${tuned%% *}" "$1" run -n "$2" ${tuned#* } "$3" 2>&1 | sort)
  [ "$got" = "$expected" ] || { echo "$2 ranks differ with all limits at $tuned:"; diff <(echo "$expected") <(echo "$got") | head -20; exit 1; }
done
for placement in "--workers 2" "--workers 3" "--workers 7" "--procs 2 --workers 2" "--procs 5 --workers 1"; do
  # shellcheck disable=SC2086  # several words
  got=$("$1" run -n "$2" $placement "$3" | sort)
  if [ "$got" != "$expected" ]; then
    echo "$2 ranks differ between 1 worker and $placement:"
    diff <(echo "$expected") <(echo "$got") | head -20
    exit 1
  fi
done
