#!/usr/bin/env bash
# gdb_in_a_library.sh GDB COMMAND...: a breakpoint in a library is one in each rank's instance of it, and a backtrace there leads
# to the rank's main. Skipped (77) if gdb may not trace.
set -u
gdb=$1
shift
"$gdb" -q -nx -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
output=$("$gdb" -q -nx -batch -ex 'set pagination off' -ex 'set confirm off' -ex 'set breakpoint pending on' \
  -ex 'break halo::receive if peer == 3' -ex run -ex 'info breakpoints' -ex 'bt 3' -ex kill --args "$@" 2>&1)
failures=0
expect() {
  grep -qE "$1" <<<"$output" && return
  echo "missing: $1"
  failures=1
}
expect 'hit Breakpoint 1\.[0-9]+, halo::receive \(peer=3\) at .*halo\.cpp'
# Four ranks, and the library as loaded.
expect '^1\.5 +y .* in halo::receive\(int\) at .*halo\.cpp'
expect '^#1 .* in halo_wait \(peer=3\) at .*halo\.cpp'
expect '^#2 .* in main .* at .*halo_user\.cpp'
((failures == 0)) || tail -60 <<<"$output"
exit $failures
