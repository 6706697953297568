#!/usr/bin/env bash
# older_glibc.sh CMAKE
#
# A program that is built with -DSORREL_GLIBC=2.28 and calls newer functions runs here, and needs no newer version of the C library. A call of a
# function that has no fallback is an error of the linker.
set -euo pipefail
cmake=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ "$(uname -m)" = x86_64 ] || { echo "for x86_64"; exit 77; }
"$cmake" -S "$here/older_glibc" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DSORREL_GLIBC=2.28
"$cmake" --build "$work/build"
"$work/build/newer_functions"
needed=$(readelf -V "$work/build/newer_functions" | grep -o 'GLIBC_2[.0-9]*' | sort -V)
newest=$(tail -n 1 <<<"$needed")
[ "$(printf '%s\n' GLIBC_2.28 "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ] || { echo "needs $newest"; exit 1; }

echo 'int main(void) { extern void arc4random_buf(void*, unsigned long); int number; arc4random_buf(&number, sizeof number); }' >"$work/newer.c"
cc "$work/newer.c" -o "$work/newer"
! cc "$work/newer.c" -L "$work/build/glibc" -o "$work/newer" 2>"$work/log" || { echo "a new function has been linked"; exit 1; }
grep -q "undefined reference to .arc4random_buf" "$work/log" || { cat "$work/log"; exit 1; }
