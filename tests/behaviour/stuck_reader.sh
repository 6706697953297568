#!/usr/bin/env bash
# Runs a command whose standard error is a pipe that nothing reads: stuck_reader.sh COMMAND [WORDS…]
set -u
folder=$(mktemp -d)
mkfifo "$folder/errors"
sleep 60 <"$folder/errors" >/dev/null 2>&1 &
reader=$!
trap 'kill "$reader"; rm -rf "$folder"' EXIT
"$@" 2>"$folder/errors"
