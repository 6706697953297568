#!/bin/sh
# compare_seeds.sh SORREL PROGRAM OPTIONS...: the same seed gives the same output, to the simulated nanosecond; ten
# seeds give several outputs.
set -u
sorrel=$1
program=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for seed in 0 1 2 3 4 5 6 7 8 9; do
  for run in a b; do
    "$sorrel" run "$@" --seed $seed "$program" with_times > "$folder/$run" || exit 1
  done
  cmp -s "$folder/a" "$folder/b" || { echo "seed $seed is not repeatable:"; diff "$folder/a" "$folder/b"; exit 1; }
  "$sorrel" run "$@" --seed $seed "$program" >> "$folder/orders.$seed" || exit 1
  cksum < "$folder/orders.$seed" >> "$folder/kinds"
done
kinds=$(sort -u "$folder/kinds" | wc -l)
[ "$kinds" -ge 8 ] || { echo "ten seeds gave $kinds orders only"; exit 1; }
