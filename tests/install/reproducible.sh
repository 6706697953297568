#!/usr/bin/env bash
# reproducible.sh CMAKE SOURCES [CMAKE_OPTION...]
#
# Builds what packages contain twice, from two clones in folders with names of different lengths, and compares the two installed trees byte by byte.
set -euo pipefail
cmake=$1 sources=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git -C "$sources" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

for place in one another/folder; do
  git clone --quiet --no-hardlinks "$sources" "$work/$place"
  (
    cd "$work/$place"
    "$cmake" --preset package -DSORREL_UNITY=ON --log-level=WARNING "${@:3}"
    "$cmake" --build --preset package
    "$cmake" --install build/package --strip --prefix "$work/installed/${place%%/*}"
  ) >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
done

diff -r --no-dereference "$work/installed/one" "$work/installed/another"
echo "$(find "$work/installed/one" -type f | wc -l) files, equal in both"
