#!/usr/bin/env bash
# Which measurements `sorrel plan` keeps: plan_measure.sh TREE FAKE_MEASURE MACHINE_FILE WORK
# TREE's command runs with FAKE_MEASURE in the place of the measuring program.
set -eu
tree=$1 fake=$2 machine=$3 work=$4
rm -rf "$work" && mkdir -p "$work"/{bin,libexec/sorrel,cache} && cd "$work"
cp "$tree/bin/sorrel" bin/sorrel
ln -s "$tree/lib" lib
ln -s "$tree/include" include
cp "$fake" libexec/sorrel/measure
export XDG_CACHE_HOME=$work/cache MEASURED=$work/measured.json MEASURE_SECONDS=0
kept=$work/cache/sorrel/machine-$(uname -n).json

# measured SPREAD: sets the result of the next measurement.
measured() { sed "1,/^{/s/^{/{ \"measurement\": {\"date\": \"\", \"spread\": $1},/" "$machine" >"$MEASURED"; }
plan() { bin/sorrel plan 64 64 -n 4 "$@" >out 2>err || { cat out err; exit 1; }; }
expect() { # FILE PATTERN
  grep -Eq -e "$2" "$1" || { echo "not in $1: $2"; cat out err; exit 1; }
}
machine_line='^machine: .* \(measured 20[0-9-]+ [0-9:]+ UTC, spread 90 %, other work [0-9]+ %; '
refusal='^sorrel: note: the machine was busy, so this is not kept: measured .*, spread [0-9]+ %, other work [0-9]+ % \(limits 25 % and 10 %\); measure again when it is quiet, or keep it with --measure --force$'

# A wide spread: used, not kept.
measured 0.9
plan
expect out "$machine_line"
expect err "$refusal"
[ -z "$(ls cache/sorrel)" ] || { echo "kept or left behind:"; ls cache/sorrel; exit 1; }

# Kept with --force, and read again without measuring.
plan --measure --force
expect out "$machine_line"
! grep 'not kept' err
plan
expect out "$machine_line"
[ ! -s err ] || { cat err; exit 1; }
plan --json
expect out '"spread": 0.9'
expect out '"other_work": '

# Other work on all processors: not kept, and the earlier result stays.
measured 0.01
hogs=()
trap 'kill "${hogs[@]}" 2>/dev/null || true' EXIT
for _ in $(seq "$(nproc)"); do
  bash -c 'while :; do :; done' &
  hogs+=($!)
done
MEASURE_SECONDS=1 plan --measure
kill "${hogs[@]}"
expect out '^machine: .* spread 1 %, other work ([2-9][0-9]|1[0-9]{1,2}) %; '
expect err "$refusal"
expect "$kept" '"spread": 0.9'

# A file kept by an earlier version lacks these values.
cp "$machine" "$kept"
plan
expect out '^machine: [^(]* \([0-9]+ of [0-9]+ values assumed\)$'
[ ! -s err ] || { cat err; exit 1; }

# A cluster: the launcher's command comes first, and the file is written only if the machine was quiet.
cat >launcher <<'END'
#!/bin/sh
echo "$@" >"$(dirname "$0")/launched"
exec "$@"
END
chmod +x launcher
measured 0.01
plan --measure --force --machine cluster.json --launch "$work/launcher" --processes 3
expect out '^machine: .* \(measured 20'
expect launched " run --share fixed -n [0-9]+ --workers [0-9]+ .*/measure cluster [0-9]+ $work/cluster.json.[0-9]+$"
read -r ranks workers processors < <(sed -E 's/.* -n ([0-9]+) --workers ([0-9]+) .* cluster ([0-9]+) .*/\1 \2 \3/' launched)
[ "$ranks" = $((6 * workers)) ] && [ "$processors" = $((3 * workers)) ] || { cat launched; exit 1; }
plan --machine cluster.json
expect out '^machine: .* \(measured 20'
[ ! -s err ] || { cat err; exit 1; }
measured 0.9
plan --measure --machine other.json --launch "$work/launcher" --processes 2
expect err "$refusal"
[ ! -e other.json ] || { echo "other.json was written"; exit 1; }
refused() { # PATTERN WORDS...
  ! bin/sorrel plan 64 64 -n 4 "${@:2}" >out 2>err || { echo "accepted: ${*:2}"; exit 1; }
  expect err "$1"
}
refused '^sorrel: --launch requires --measure, --machine FILE and --processes N$' --measure --launch mpiexec --machine c.json
refused '^sorrel: --processes requires --launch$' --measure --processes 2
refused 'excludes --machine, unless --launch' --measure --machine c.json
refused "^sorrel: --processes must be a whole number from 1 to 100000, not '0'" --measure --machine c.json --launch mpiexec --processes 0
refused '^sorrel: --launch: cannot start /no/launcher$' --measure --machine c.json --launch /no/launcher --processes 2
