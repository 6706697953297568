#!/usr/bin/env bash
# same_bits.sh ALONE COMMAND...: the flow that COMMAND computes is ALONE's, to the last digit printed.
set -euo pipefail
alone=$1
shift
arguments=(--points 50 --steps 300 --serial 0.1)
flow() { "$@" "${arguments[@]}" | sed -n 's/.*energy/energy/p'; }
expected=$(flow "$alone") found=$(flow "$@")
[ -n "$expected" ] && [ "$expected" = "$found" ] || { printf 'expected %s\n   found %s\n' "$expected" "$found"; exit 1; }
