#!/usr/bin/env bash
# `sorrel top` on a terminal: top_screen.sh SORREL COMMAND [WORDS…]
# COMMAND is a job of 8 ranks that goes on until the file of its last word exists (@ stands for it). The screen must show its ranks,
# obey the keys, and give the terminal back. 77: there is no tmux, or this sorrel has no screen.
set -u
sorrel=$1
shift
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
command -v tmux >/dev/null || exit 77
folder=$(mktemp -d) job=
terminal() { tmux -S "$folder/socket" -f /dev/null "$@"; }
trap 'terminal kill-server 2>/dev/null; [ -z "$job" ] || kill -9 "$job" 2>/dev/null; rm -rf "$folder"' EXIT
screen() { terminal capture-pane -p -t top; }
fail() {
  printf 'FAILED: %s\nscreen:\n%s\n' "$1" "$(screen)"
  exit 1
}
"$sorrel" top </dev/null >"$folder/out" 2>&1
grep -q 'built without ncurses' "$folder/out" && exit 77
grep -qx 'sorrel: top needs a terminal; without one: sorrel top --once' "$folder/out" || fail "no terminal: $(cat "$folder/out")"
"${@/#@/$folder/end}" >"$folder/out" 2>"$folder/err" &
job=$!
is_ready() { grep -q ready "$folder/out"; }
wait_until 60000 is_ready || fail "the job has not begun"
# A line of the shell, so that the screen after `top` can be seen.
terminal new-session -d -s top -x 110 -y 20 "LC_ALL=C.UTF-8 sh -c '\"$sorrel\" top --interval 0.2 $job; echo status \$?; exec cat'"
shows() { [[ $(screen | tr '\n' '~') =~ $1 ]]; }
expect() { wait_until 60000 shows "$1" || fail "expected $1"; }
press() { terminal send-keys -t top "$@"; }
expect '^ sorrel top +job 1/1 +sorted by fewest ranks [^~]*~job [0-9]+: 1 process.*8 ranks: .*~ *4-7 .4. +waits +MPI_Barrier'
# The load of each worker at the looks so far, behind its line.
expect '~worker +thread [^~]* state +history *~ *0 [^~]*[^ ~0-9a-z] *~'
press s
expect 'sorted by rank .*~ *0 +runs on worker.*~ *2 +waits +MPI_Recv.*~ *4-7 .4. +waits'
press Right
# Eight columns less: the number of a job of few digits is gone.
expect '~[0-9]*:? ?1 process'
terminal resize-window -t top -x 110 -y 12
press Left Down
expect '^[^~]*~worker +thread'
press Home
expect '^[^~]*~job '
terminal resize-window -t top -x 60 -y 8
expect '^[^~]*~job [0-9]+: [^~]*~worker'
press q
expect '^status 0~'
terminal respawn-pane -k -t top "LC_ALL=C.UTF-8 sh -c '\"$sorrel\" top --interval 0.2 $job; echo status \$?; exec cat'"
expect '~job [0-9]+: '
touch "$folder/end"
wait "$job"
expect "^sorrel: job $job has ended~status 0~"
job=
[ ! -s "$folder/err" ] || fail "the job has written on standard error"
