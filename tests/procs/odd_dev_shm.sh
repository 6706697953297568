#!/usr/bin/env bash
# Runs a program with an unusable /dev/shm: odd_dev_shm.sh KIND STDERR COMMAND [WORDS…]
# KIND: full, fifo, link, open or foreign: so it is before the program starts; `truncated`: the page is truncated while
# the program runs. The command gets one more word: the file that ends it. It must end with status 0, and its standard
# error must match the extended regular expression STDERR (newlines are ~). In a mount namespace of its own, which needs
# root; 77 otherwise.
set -u
unshare --mount true 2>/dev/null || { echo "no mount namespaces for this user: not tested"; exit 77; }
if [[ -z ${IS_INSIDE:-} ]]; then
  IS_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
kind=$1 expected=$2
shift 2
mount -t tmpfs -o size=64k tmpfs /dev/shm || exit 77
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
page=/dev/shm/sorrel-4-$(id -u)-$(printf %x "$(stat -Lc %i /proc/self/ns/pid)")
case $kind in
  full) dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null ;;
  fifo) mkfifo -m 600 "$page" ;;
  link) ln -s /etc/passwd "$page" ;;
  open) touch "$page" && chmod 666 "$page" ;;
  foreign) touch "$page" && chmod 600 "$page" && chown 12345 "$page" ;;
  truncated) ;;
  *) echo "no such kind: $kind"; exit 1 ;;
esac
timeout 120 "$@" "$folder/over" >"$folder/out" 2>"$folder/err" </dev/null &
command=$!
if [[ $kind == truncated ]]; then
  # A program that works uses its page.
  wait_until 60000 test -s "$folder/out" || echo "the program does not begin"
  [ -s "$page" ] || echo "there is no page"
  truncate -s 0 "$page"
fi
wait_until 60000 test -s "$folder/err"
# Time for any later failure.
sleep 0.3
touch "$folder/over"
wait "$command"
status=$?
text=$(tr '\n' '~' <"$folder/err")
[[ $status == 0 && $text =~ $expected ]] && exit 0
printf 'status %s\nstderr:\n%s\nexpected: %s\n' "$status" "$text" "$expected"
exit 1
