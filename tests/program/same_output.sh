#!/usr/bin/env bash
# same_output.sh SORREL PROGRAM OPTIONS...: runs the program with each set of options, an argument with words, and checks that
# all print the same, and something.
set -u
sorrel=$1 program=$2
shift 2

first=
for options in "$@"; do
  # shellcheck disable=SC2086
  output=$("$sorrel" run $options "$program" 2>&1) || { echo "status $? with $options: $output"; exit 1; }
  [[ -n $output ]] || { echo "no output with $options"; exit 1; }
  [[ -n $first ]] || first=$output
  [[ $output == "$first" ]] || { echo "with $1:"; echo "$first"; echo "with $options:"; echo "$output"; exit 1; }
done
