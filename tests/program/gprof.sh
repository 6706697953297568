#!/usr/bin/env bash
# gprof.sh PROGRAM COMMAND…: COMMAND, which runs PROGRAM (built with gcc -pg), leaves a profile of each rank with the calls of its
# function `work`.
set -euo pipefail
program=$1
shift
command -v gprof >/dev/null || { echo "skipped: gprof is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
GMON_OUT_PREFIX=profile "$@"
profiles=(profile.*)
[ "${#profiles[@]}" = 2 ] || { echo "${#profiles[@]} profiles of 2 ranks: ${profiles[*]}"; exit 1; }
for profile in "${profiles[@]}"; do
  gprof -b -p "$program" "$profile" | grep -qE " 50 .* work$" || { gprof -b -p "$program" "$profile"; exit 1; }
done
