#!/bin/sh
# A job whose program does not ask for it is saved, goes on from there after kill -9, and has the same history.
#
# usage: every.sh SORREL STEPS_PROGRAM period|signal|alone [RUN_OPTIONS]
set -u
sorrel=$1 program=$2 how=$3 options=${4:---workers 2}
. "$(dirname "$0")/folder.sh"
fail() {
  echo "$*"
  kill -9 "$pid" 2> /dev/null
  for file in expected first second; do echo "--- $file"; tail -n 80 "$folder/$file" "$folder/$file.err" 2>&1; done
  exit 1
}
ranks=3 every="--every 100ms" pid=
[ "$how" = alone ] && ranks=1
[ "$how" = signal ] && every=
# It makes steps until the file is there: however fast it is, it runs when it is saved.
STEPS_UNTIL=$folder/end $sorrel run -n $ranks $options --checkpoint "$folder/save" $every "$program" 100 1000000 > "$folder/first" 2> "$folder/first.err" &
pid=$!
tries=0
# within COMMAND...: waits for it.
within() {
  until "$@"; do
    sleep 0.02
    tries=$((tries + 1))
    [ $tries -lt 4000 ] || fail "not in time: $*"
    kill -0 $pid 2> /dev/null || fail "the job has ended before: $*"
  done
}
if [ "$how" = signal ]; then
  within [ -s "$folder/first" ]
  kill -USR2 $pid
fi
# The first one may be made in the first step, as if the program began: a later one shows that it goes on.
awaited=2
[ "$how" = signal ] && awaited=1
newest() { ls "$folder/save" 2> /dev/null | sed -n 's/^ckpt\.\([0-9]*\)$/\1/p' | sort -n | tail -n 1; }
is_saved() { [ "$(newest)" -ge $awaited ] 2> /dev/null; }
within is_saved
kill -9 $pid
wait $pid 2> /dev/null
touch "$folder/end"
$sorrel restart "$folder/save" > "$folder/second" 2> "$folder/second.err" || fail "the restart ended with $?"
step=$(sed -n 1p "$folder/second" | cut -d ' ' -f 1)
last=$(tail -n 1 "$folder/second" | cut -d ' ' -f 1)
[ "$step" -gt 1 ] || fail "the restarted job begins with step $step"
$sorrel run -n $ranks $options "$program" "$last" 1000000 > "$folder/expected" 2> "$folder/expected.err" || fail "the plain run ended with $?"
tail -n +"$step" "$folder/expected" | cmp - "$folder/second" || fail "the history differs"
