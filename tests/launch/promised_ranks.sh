#!/usr/bin/env bash
# A job has room for as many ranks as `sorrel info` reports, and not for twice as many: promised_ranks.sh SORREL PROGRAM
set -u
sorrel=$1 program=$2
promised=$("$sorrel" info "$program" | sed -n 's/^ *ranks *at most \([0-9]*\) .*/\1/p')
[ -n "$promised" ] || { echo "no promise"; exit 1; }
[ "$promised" -le 40000 ] || { echo "$promised ranks take too long to try"; exit 77; }
# Each rank with thread-locals needs a thread.
threads=$(ulimit -u)
pids=$(cat "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/pids.max" 2>/dev/null)
for limit in "$threads" "${pids:-max}"; do
  [[ $limit == *[!0-9]* ]] || [ "$limit" -gt $((promised + 1000)) ] || { echo "only $limit threads"; exit 77; }
done
printed=$("$sorrel" run -n "$promised" "$program") || { echo "$promised ranks: status $?"; exit 1; }
[ "$printed" = "$promised ranks" ] || { echo "printed: $printed"; exit 1; }
refused=$("$sorrel" run -n $((promised * 5 / 4)) "$program" 2>&1)
[ $? = 2 ] && [[ $refused == "sorrel: "*"at most "*" ranks "* ]] || { echo "no error: $refused"; exit 1; }
