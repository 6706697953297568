#!/usr/bin/env bash
# Runs a command and compares its results: expect.sh STATUS STDOUT STDERR COMMAND [ARGUMENTS…]
# STDOUT and STDERR are extended regular expressions over the whole text; - means that nothing may be printed. A command
# that ends with status 2 must have printed one line of error and started nothing.
set -u
status=$1 stdout=$2 stderr=$3
shift 3
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
"$@" >"$folder/out" 2>"$folder/err" </dev/null
got=$?
out=$(tr '\n' '~' <"$folder/out")
err=$(tr '\n' '~' <"$folder/err")
fail() {
  printf 'FAILED: %s\nstatus %s, expected %s\nstdout: %s\nexpected: %s\nstderr: %s\nexpected: %s\n' \
    "$1" "$got" "$status" "$out" "$stdout" "$err" "$stderr"
  exit 1
}
matches() {  # text pattern
  if [ "$2" = - ]; then [ -z "$1" ]; else [[ $1 =~ $2 ]]; fi
}
[ "$got" = "$status" ] || fail "exit status"
matches "$out" "$stdout" || fail "stdout"
matches "$err" "$stderr" || fail "stderr"
if [ "$status" = 2 ]; then
  [ "$(wc -l <"$folder/err")" = 1 ] || fail "an error is one line"
  [[ $err == sorrel:* ]] || fail "an error begins with sorrel:"
  [[ $out != *STARTED* ]] || fail "a program was started"
fi
exit 0
