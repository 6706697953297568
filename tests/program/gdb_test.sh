#!/usr/bin/env bash
# gdb_test.sh GDB HELPER COMMAND...: four ranks under gdb. One breakpoint must be set in every image, and `sorrel` must
# print the globals of a rank, not those of the template image. Skipped (77) if gdb may not trace.
set -u
gdb=$1 helper=$2
shift 2

"$gdb" -q -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
output=$("$gdb" -q -batch \
  -ex 'set pagination off' -ex 'set confirm off' -ex 'set breakpoint pending on' -ex "source $helper" \
  -ex 'break globals.c:next_local if calls == 3' -ex run -ex 'info breakpoints' -ex 'bt 2' -ex 'sorrel ranks' \
  -ex 'sorrel all initialised' -ex 'sorrel all calls' -ex 'sorrel print 2 *first.next' -ex 'sorrel print 1 words[0]' \
  -ex 'sorrel print initialised - zero_initialised' -ex kill --args "$@" 2>&1)

failures=0
expect() {
  grep -qE "$1" <<< "$output" && return
  echo "missing: $1"
  failures=1
}
expect 'hit Breakpoint 1\.[1-5], next_local'
expect '^1\.5 +y .* in next_local at .*globals\.c'
expect '^#1 .* in main .* at .*globals\.c'
expect '^rank +3  image at 0x'
for rank in 0 1 2 3; do expect "^rank $rank: $((7 + rank))\$"; done
expect '^rank 2: \{next = 0x0, value = 2\}'
expect '^rank 1: 0x[0-9a-f]+ "odd"'
expect '^rank [0-3]: 7$'
((failures == 0)) || echo "$output" | tail -60
exit $failures
