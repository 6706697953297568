#!/usr/bin/env bash
# Reports sources that are not laid out as .clang-format says; with --fix lays them out.
# Exit status: 0 all right, 1 some are not, 77 clang-format 19 or git is missing (a skip for ctest).
# mpi.h keeps the standard's own layout.
set -euo pipefail
cd "$(dirname "$0")/../.."

find_clang_format() {
  local candidate
  for candidate in clang-format-19 .venv/bin/clang-format clang-format; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 19\.'; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

clang_format=$(find_clang_format) || { echo "format: clang-format 19 is not installed; skipped"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "format: not a git checkout; skipped"; exit 77; }

mode=(--dry-run -Werror)
[ "${1-}" = --fix ] && mode=(-i)
git ls-files -z -- '*.c' '*.h' '*.cpp' '*.hpp' ':!include/mpi/mpi.h' |
  xargs -0 --no-run-if-empty "$clang_format" --style=file "${mode[@]}" ||
  { echo "format: run './dev lint --fix'"; exit 1; }
echo "format: every source is laid out as .clang-format says"
