#!/usr/bin/env bash
# Compiles a Fortran program for another MPI's interface and runs it: fortran.sh SORREL EXPECTED "RUN OPTIONS" COMPILER ARGUMENTS...
# EXPECTED is an extended regular expression for what it prints, lines joined by ~. With STATUS in the environment, the run ends with this
# status, and EXPECTED is for standard error.
set -eu
sorrel=$1 expected=$2 options=$3
shift 3
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$@" -w -g -o program 2>messages || { cat messages; exit 1; }
# shellcheck disable=SC2086
"$sorrel" run $options ./program >output 2>errors && status=0 || status=$?
[ "$status" = "${STATUS:-0}" ] || { cat output errors; exit 1; }
[ -z "${STATUS:-}" ] || mv errors output
[[ $(tr '\n' '~' <output) =~ $expected ]] || { cat output errors 2>&1; echo "expected: $expected"; exit 1; }
