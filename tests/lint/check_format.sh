#!/usr/bin/env bash
# Reports sources whose layout differs from .clang-format; with --fix formats them.
# Exit status: 0 no differences, 1 differences, 77 clang-format 19 or git is missing (a skip for ctest).
# mpi.h keeps the layout of the standard.
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
