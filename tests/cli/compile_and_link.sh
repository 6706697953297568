#!/usr/bin/env bash
# The wrapper of TREE builds C and C++ programs that are position-independent and find the library by a RUNPATH:
# compile_and_link.sh TREE SOURCES WORK
set -eu
tree=$1 sources=$2 work=$3
unset CC CXX SORREL_CC SORREL_CXX
rm -rf "$work" && mkdir -p "$work/a folder" && cd "$work"
"$tree/bin/mpi/mpicc" -O1 -c "$sources/hello.c" -o hello.o
"$tree/bin/mpi/mpicc" hello.o -o hello
"$tree/bin/sorrel" cc "$sources/hello.c" -o "a folder/hello" -DTEXT='"a  b"'
"$tree/bin/mpi/mpicxx" "$sources/hello.cpp" -o hello_cxx
CC="$tree/bin/mpi/mpicc" "$tree/bin/mpi/mpicc" "$sources/hello.c" -o recursive
for program in hello "a folder/hello" hello_cxx recursive; do
  headers=$(readelf -hd "$program")
  grep -q 'Type:.*DYN' <<<"$headers" || { echo "$program is not PIE"; exit 1; }
  grep -q 'RUNPATH' <<<"$headers" || { echo "$program has no RUNPATH"; exit 1; }
  "./$program" >out
  grep -q 'rank 0 of 1' out
done
# The compiler is the user's choice; it gets each argument unchanged, and its status is returned.
printf '#!/bin/sh\nfor word; do printf "<%%s>" "$word"; done; exit 5\n' >compiler && chmod +x compiler
status=0
SORREL_CC=$work/compiler "$tree/bin/sorrel" cc -c 'a  b' '' '*' '$(x)' >words || status=$?
[ "$status" = 5 ]
grep -qF "<-c><a  b><><*><\$(x)>" words
