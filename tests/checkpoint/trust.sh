#!/bin/sh
# A restart refuses what no job of this user has written, and --trust starts it; --list says what is there.
#
# usage: trust.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
export XDG_STATE_HOME="$folder/state"
restart() {
  timeout 90 "$sorrel" restart "$@" "$folder/save" > "$folder/out" 2> "$folder/err"
}
refused() {
  restart
  status=$?
  [ $status = 2 ] || fail "$1: ended with $status"
  grep -q "$2" "$folder/err" || fail "$1: does not say: $2"
}
list() {
  restart --list || fail "--list: ended with $?"
  grep -Eq "$1" "$folder/out" || fail "--list does not say: $1"
}
timeout 90 "$sorrel" run -n 3 --checkpoint "$folder/save" "$program" 30 10 > "$folder/out" 2> "$folder/err" || fail "ended with $?"
[ "$(stat -c '%a %s' "$folder/state/sorrel/key")" = "600 32" ] || fail "the key is $(stat -c '%a %s' "$folder/state/sorrel/key")"
grep -q '^writer Sorrel [0-9].* on .*Linux' "$folder/save/ckpt.3/MANIFEST" || fail "the manifest does not say what has written it"
cp -rp "$folder/save" "$folder/kept"
list '^Job +sorrel run -n 3 --checkpoint .*/save .* 30 10$'
list '^ +3  [0-9-]+ [0-9:]+ +1 +[0-9.]+ MiB  whole$'
restart || fail "ended with $?"
# Another user's, as the key says.
export XDG_STATE_HOME="$folder/other"
refused "another key" "no job of this user has written checkpoint 3 of .*: its code does not fit the key .*/other/sorrel/key; it was written by Sorrel [0-9]"
list '^ +3 .* whole, and not of your jobs .--trust.$'
restart --trust || fail "--trust: ended with $?"
export XDG_STATE_HOME="$folder/state"
# Another program with this memory.
sed -i 's/"30"/"31"/' "$folder/save/JOB"
refused "another program" "no job of this user has written checkpoint 3"
# A job of another version.
sed -i 's/"version": 3/"version": 2/' "$folder/save/JOB"
refused "another version" "JOB was written by Sorrel [0-9].* on .*: checkpoints go on with the version that has written them, and this is Sorrel [0-9]"
# Damage is listed, and left as it is.
rm -rf "$folder/save" && cp -rp "$folder/kept" "$folder/save"
truncate -s -1 "$folder/save/ckpt.3/process.0000"
list '^ +3 .* damaged: .*process.0000: '
list '^ +2 .* whole$'
# Without a home.
rm -rf "$folder/save"
timeout 90 env -u HOME XDG_STATE_HOME=/proc/none "$sorrel" run -n 3 --checkpoint "$folder/save" "$program" 4 2 > "$folder/out" 2> "$folder/err" || fail "ended with $?"
grep -q 'note: checkpoints have no code, and a restart needs --trust: ' "$folder/err" || fail "does not say that there is no key"
refused "no code" "no job of this user has written checkpoint 2"
restart --trust || fail "without a code, --trust: ended with $?"
