#!/usr/bin/env bash
# What users put around a program works for ranks, too.
#
# usage: surroundings.sh WHAT SORREL PROGRAM, with a program of subjects/prints_and_waits.c
#   line     A line arrives while the program runs, below `stdbuf -oL`.
#   core     A rank that crashes leaves a core file, after `ulimit -c unlimited`. Skipped where the system writes it elsewhere.
set -u
what=$1 sorrel=$2 program=$3
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
case $what in
  line)
    set -o pipefail
    $sorrel run -n 1 stdbuf -oL "$program" "$folder/seen" | { read -r line && [ "$line" = "a line" ] && touch seen; cat; }
    ;;
  core)
    case $(cat /proc/sys/kernel/core_pattern) in \|* | /*) exit 77 ;; esac
    ulimit -c unlimited 2>/dev/null || exit 77
    $sorrel run -n 2 --workers 1 "$program" crash 2>err
    [ $? -eq 139 ] || { cat err; exit 1; }
    grep -q "rank 1.*Segmentation fault" err && [ -n "$(find . -name 'core*' -size +0)" ]
    ;;
esac
