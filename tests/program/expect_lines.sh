#!/usr/bin/env bash
# expect_lines.sh STATUS COUNT REGEX COMMAND...: runs a command with three lines of input and checks its exit status and
# its output: COUNT lines that all match the regular expression, or, if COUNT is "some", at least one line that matches.
# A note that ranks stay is not counted: it comes only if they have been uneven, as beside other work. Neither are lines that match the regular
# expression NOT_COUNTED.
set -u
status=$1 count=$2 regex=$3
shift 3

output=$(printf 'one\ntwo\nthree\n' | "$@" 3>&1 2>&1)
got=$?
output=$(printf '%s\n' "$output" | grep -vE "^sorrel: note: ranks stay in process${NOT_COUNTED:+|$NOT_COUNTED}")
fail() {
  echo "$1, from: ${*:2}"
  printf '%s\n' "$output" | head -40
  exit 1
}
# A skip of the command is a skip of the test.
[[ $got != 77 || $status == 77 ]] || { printf '%s\n' "$output" && exit 77; }
[[ $got == "$status" ]] || fail "exit status $got, not $status" "$@"
matching=$(printf '%s\n' "$output" | grep -cE "$regex")
if [[ $count == some ]]; then
  ((matching > 0)) || fail "no line matches '$regex'" "$@"
else
  lines=$(printf '%s\n' "$output" | wc -l)
  ((matching == count && lines == count)) || fail "$matching of $lines lines match '$regex', expected $count" "$@"
fi
