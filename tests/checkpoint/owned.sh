#!/bin/sh
# Checkpoints are for their user only: modes of folders and files whatever the mask, folders and files that others may write or own, links and
# files that are none.
#
# usage: owned.sh SORREL STEPS_PROGRAM
set -u
sorrel=$1 program=$2
. "$(dirname "$0")/folder.sh"
run() {
  timeout 90 "$sorrel" run -n 2 --checkpoint "$folder/save" "$program" 12 4 > "$folder/out" 2> "$folder/err"
}
restart() {
  timeout 90 "$sorrel" restart "$folder/save" > "$folder/out" 2> "$folder/err"
}
refuses() {
  "$1"
  status=$?
  [ $status = 2 ] || fail "$2: $1 ended with $status"
  grep -q "$3" "$folder/err" || fail "$2: $1 does not say: $3"
}
again() {
  rm -rf "$folder/save"
  cp -rp "$folder/kept" "$folder/save"
}
# Modes, under a mask that allows everything and one that takes away the rights of the owner.
for mask in 000 0277; do
  rm -rf "$folder/save"
  (umask $mask && run) || fail "umask $mask: ended with $?"
  for file in save save/ckpt.2 save/ckpt.3; do
    [ "$(stat -c %a "$folder/$file")" = 700 ] || fail "umask $mask: $file has the mode $(stat -c %a "$folder/$file")"
  done
  for file in JOB ckpt.2/MANIFEST ckpt.3/MANIFEST ckpt.2/process.0000 ckpt.3/process.0000; do
    [ "$(stat -c %a "$folder/save/$file")" = 600 ] || fail "umask $mask: $file has the mode $(stat -c %a "$folder/save/$file")"
  done
done
cp -rp "$folder/save" "$folder/kept"
# A folder that other users may write, and one of another user.
rm -rf "$folder/save" && mkdir -m 777 "$folder/save"
refuses run "mode 777" "save may be written by other users (mode 0777)"
[ -z "$(ls "$folder/save")" ] || fail "writes to a folder of mode 777"
if [ "$(id -u)" = 0 ]; then
  chmod 700 "$folder/save"
  chown 65534 "$folder/save"
  refuses run "owner" "save belongs to user 65534"
fi
# A link of this user in the place of the folder is followed; one of another user is not, with which that user would choose the folder.
rm -rf "$folder/save" "$folder/private" && mkdir -m 700 "$folder/private"
ln -s "$folder/private" "$folder/save"
run || fail "own link: ended with $?"
[ -f "$folder/private/JOB" ] || fail "does not follow the link of this user"
restart || fail "own link: restart ended with $?"
if [ "$(id -u)" = 0 ]; then
  chown -h 65534 "$folder/save"
  refuses restart "link of another user" "save is a symbolic link of user 65534"
  rm -r "$folder/private" && mkdir -m 700 "$folder/private"
  refuses run "link of another user" "save is a symbolic link of user 65534"
  [ -z "$(ls "$folder/private")" ] || fail "writes where a link of another user leads"
fi
rm "$folder/save"
# A link in the place of the file that a start begins with.
rm -rf "$folder/save" && mkdir -m 700 "$folder/save"
echo kept > "$folder/mine"
ln -s "$folder/mine" "$folder/save/JOB.tmp"
run || fail "with JOB.tmp there: ended with $?"
[ "$(cat "$folder/mine")" = kept ] || fail "follows a link"
# A restart runs only what belongs to this user, and what no other user may write.
for file in . JOB ckpt.2 ckpt.3 ckpt.2/MANIFEST ckpt.3/process.0000; do
  again
  chmod o+w "$folder/save/$file"
  refuses restart "$file" "may be written by other users"
  [ "$(id -u)" != 0 ] && continue
  again
  chown 65534 "$folder/save/$file"
  refuses restart "$file" "belongs to user 65534"
done
# Whatever lies in the place of a file: no wait, no crash, and no link is followed.
for file in MANIFEST process.0000; do
  for kind in folder fifo link; do
    again
    path=$folder/save/ckpt.3/$file
    rm "$path"
    case $kind in
      folder) mkdir "$path" ;;
      fifo) mkfifo -m 600 "$path" ;;
      link) ln -s /dev/zero "$path" ;;
    esac
    if [ $kind = link ]; then
      refuses restart "$file: $kind" "$file is a symbolic link"
    else
      restart || fail "$file: $kind: ended with $?"
      grep -q "checkpoint 3 is damaged and left out: .*$file is a" "$folder/err" || fail "$file: $kind: does not say what it is"
    fi
  done
done
again
mv "$folder/save/ckpt.3" "$folder/moved" && ln -s "$folder/moved" "$folder/save/ckpt.3"
refuses restart "ckpt.3" "ckpt.3 is a symbolic link"
