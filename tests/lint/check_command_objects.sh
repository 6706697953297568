#!/usr/bin/env bash
# check_command_objects.sh ARCHIVE ARCHIVE...: what the command links where only `run` is built (SORREL_RUN_ONLY, ./dev demo): the
# archives need no function of this project that none of them defines, but for those of cutting grids.
set -euo pipefail
names() { nm -C "$@" 2>/dev/null | sed -nE 's/^[0-9a-f ]*[A-Za-z] (sorrel::.*)$/\1/p' | sort -u; }
missing=$(comm -23 <(names --undefined-only "$@") <(names --defined-only "$@") | grep -v '^sorrel::grid::' || true)
[[ -z $missing ]] && exit 0
echo "the command needs functions that only sorrel_grid brings; name their module for tools in layers.toml:"
echo "$missing"
exit 1
