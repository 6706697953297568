#!/usr/bin/env bash
# Runs a job in a session of its own: expect_end.sh STATUS STDERR COMMAND [WORDS…]
# It must end by itself with this status within a few seconds, which a busy machine makes longer, and leave no process behind. Its
# standard error must match the extended regular expression STDERR (- means empty; newlines are ~). The job finds the name of the file
# that gets its standard error in STDERR_FILE.
set -u
status=$1 stderr=$2
shift 2
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
fail() {
  printf 'FAILED: %s\nstatus %s, expected %s\nstdout:\n%s\nstderr:\n%s\nexpected: %s\n' \
    "$1" "$got" "$status" "$(head -c 4000 "$folder/out")" "$(head -c 4000 "$folder/err")" "$stderr"
  exit 1
}
setsid --wait bash -c 'echo $$ >"$0/session"; STDERR_FILE=$0/err exec timeout 100 "$@"' "$folder" "$@" \
  >"$folder/out" 2>"$folder/err" <"${STDIN_FROM:-/dev/null}"
got=$?
[ "$got" = "$status" ] || fail "exit status"
text=$(tr '\n' '~' <"$folder/err")
if [ "$stderr" = - ]; then
  [ -z "$text" ] || fail "standard error is not empty"
else
  [[ $text =~ $stderr ]] || fail "standard error"
fi
# A killed process may take a moment to end; a dead one that its new parent has not collected yet counts as gone.
left() { ps -s "$(cat "$folder/session")" -o stat=,pid=,args= 2>/dev/null | grep -v '^Z'; }
no_process_left() { [ -z "$(left)" ]; }
wait_until 60000 no_process_left || { echo "left behind: $(left)"; fail "a process is left"; }
if [ -n "${STDOUT:-}" ]; then
  [[ $(tr '\n' '~' <"$folder/out") =~ $STDOUT ]] || fail "standard output is not $STDOUT"
fi
