#!/usr/bin/env bash
# Runs a command as a user without the right to start threads: few_threads.sh COMMAND [WORDS…]. The limit does not hold for root.
# Ends with status 77 where there is no way to be another user, or where that user does not reach the command.
set -u
as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
[ "$(id -u)" = 0 ] || as_other=()
"${as_other[@]}" test -x "$1" || exit 77
"${as_other[@]}" prlimit --nproc=0 true || exit 77
exec "${as_other[@]}" prlimit --nproc=0 "$@"
