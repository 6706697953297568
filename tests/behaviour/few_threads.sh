#!/usr/bin/env bash
# Runs a command as a user without the right to start threads: few_threads.sh COMMAND [WORDS…]. The limit does not hold for root.
# Status 77: this user cannot become another one, or that one cannot run the command.
set -u
as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
[ "$(id -u)" = 0 ] || as_other=()
"${as_other[@]}" test -x "$1" || exit 77
"${as_other[@]}" prlimit --nproc=0 true || exit 77
exec "${as_other[@]}" prlimit --nproc=0 "$@"
