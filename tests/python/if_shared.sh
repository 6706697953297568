#!/usr/bin/env bash
# Runs a command if ranks of this interpreter can share a process: if_shared.sh SORREL PYTHON COMMAND [ARGUMENTS…]; else status 77.
reason=$("$1" info --json "$2" | sed -n 's/^ *"own_process_reason": "\(.*\)",*$/\1/p')
[ -z "$reason" ] || { echo "$reason"; exit 77; }
shift 2
exec "$@"
