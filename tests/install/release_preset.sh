#!/usr/bin/env bash
# release_preset.sh CMAKE SOURCES
#
# The release preset needs neither Google Benchmark nor GoogleTest: it configures without both, reports what is skipped,
# and still installs `sorrel bench`.
set -euo pipefail
cmake=$1 sources=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1"
  cat "$work/log"
  exit 1
}
(cd "$sources" && "$cmake" --preset release -B "$work/build" \
  -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON) >"$work/log" 2>&1 ||
  fail "the release preset does not configure"
grep -q 'bench/micro is skipped: no Google Benchmark (Debian: libbenchmark-dev)' "$work/log" ||
  fail "no message that the micro-benchmarks are skipped"
"$cmake" --build "$work/build" --target help >"$work/targets"
! grep -E '^(bench_|test_)' "$work/targets" || fail "targets that need a missing library"
grep -q '^sorrel:' "$work/targets" || fail "no target sorrel"
grep -q 'share/sorrel/python' "$work/build/bench/cmake_install.cmake" || fail "the driver of sorrel bench is not installed"
