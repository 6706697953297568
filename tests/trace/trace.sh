#!/usr/bin/env bash
# Traces of jobs that end in every way. The environment has the paths SORREL, PROGRAM (messages), SOURCE and PYTHON.
#   trace.sh run RANKS MESSAGES WORDS...         of a job that ends well: what follows "sorrel run -n RANKS"
#   trace.sh crash | killed | full | damaged     of others
# Skipped (77) without Perfetto's Python package.
set -u
what=$1
shift
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
file=$folder/job.trace
fail() {
  printf 'FAILED: %s\nstderr:\n%s\n' "$1" "$(head -c 3000 "$folder/err")"
  exit 1
}
check() {
  "$PYTHON" "$(dirname "${BASH_SOURCE[0]}")/check_trace.py" "$@" >"$folder/checked" 2>&1
  local status=$?
  [ "$status" = 77 ] && exit 77
  [ "$status" = 0 ] || fail "$(tail -3 "$folder/checked")"
  cat "$folder/checked"
}
run() { timeout 100 "$SORREL" run --trace "$file" "$@" >"$folder/out" 2>"$folder/err"; }
# The job and its launcher are killed when all messages have been sent.
run_until_killed() {
  "$SORREL" run --trace "$file" "$@" "$PROGRAM" 20 wait >"$folder/out" 2>"$folder/err" &
  local job=$!
  is_done() { grep -qx done "$folder/out"; }
  wait_until 30000 is_done
  local found=$?
  kill -KILL "$job"
  wait "$job" 2>/dev/null
  [ "$found" = 0 ] || fail "the job does not start"
}
no_parts_left() { [ ! -e "$file.parts" ] || fail "the folder of the parts is left: $(ls "$file.parts")"; }

case $what in
  run)
    ranks=$1 messages=$2
    shift 2
    run -n "$ranks" "$@" || fail "the job's status is $?"
    grep -qx done "$folder/out" || fail "the job's output is missing"
    [ ! -s "$folder/err" ] || fail "standard error is not empty"
    check "$file" --ranks "$ranks" --messages "$messages" --line "MPI_Barrier=messages.c:$(grep -n -m1 'MPI_Barrier' "$SOURCE" | cut -d: -f1)" \
      --line "MPI_Waitall=messages.c:$(grep -n -m1 MPI_Waitall "$SOURCE" | cut -d: -f1)"
    no_parts_left
    ;;
  crash)
    run -n 4 --workers 2 "$PROGRAM" 20 crash
    [ $? = 134 ] || fail "the status of a crash is lost"
    grep -q 'sorrel: rank 0: aborted' "$folder/err" || fail "no report"
    check "$file" --ranks 4 --messages 160
    no_parts_left
    ;;
  profile)
    timeout 100 "$SORREL" run --profile --profile-json "$folder/profile.json" -n 4 --workers 2 "$PROGRAM" 20 >"$folder/out" 2>"$folder/err" ||
      fail "the job's status is $?"
    grep -q '^sorrel: profile: 4 ranks on 2 workers' "$folder/err" || fail "no table"
    grep -Eq "^ +MPI_Waitall .* exchange \\(messages.c:$(grep -n -m1 MPI_Waitall "$SOURCE" | cut -d: -f1)\\)$" "$folder/err" || fail "no row of MPI_Waitall"
    python3 - "$folder/profile.json" <<'PYTHON' || fail "the numbers in JSON are wrong: $(cat "$folder/profile.json")"
import json, sys
profile = json.load(open(sys.argv[1]))
calls = {call["function"]: call for call in profile["calls"]}
assert calls["MPI_Isend"]["count"] == 80, calls["MPI_Isend"]
assert calls["MPI_Waitall"]["count"] == 80 and calls["MPI_Wait"]["count"] == 80
assert sum(call["messages"] for call in profile["calls"] if call["function"] == "MPI_Isend") == 160
assert sum(call["bytes"] for call in profile["calls"]) == 80 * (8 + 100000)
assert {size["below_bytes"]: size["count"] for size in profile["message_sizes"]} == {16: 80, 131072: 80}
assert [rank["rank"] for rank in profile["ranks"]] == [0, 1, 2, 3]
for call in profile["calls"]:
    assert 0 <= call["waiting_seconds"] <= call["seconds"], call
for rank in profile["ranks"]:
    assert rank["computing_seconds"] >= 0 and rank["hidden_waiting_seconds"] <= rank["waiting_seconds"], rank
PYTHON
    ;;
  killed)
    # The job is killed with its launcher; what it has done until then is in the parts.
    run_until_killed -n 4 --workers 2
    [ ! -e "$file" ] || fail "a killed launcher has written a trace"
    sleep 0.3
    "$SORREL" trace -o "$file" "$file.parts" >"$folder/out" 2>"$folder/err" || fail "no trace of the parts"
    check "$file" --ranks 4 --messages 160 --open-flows
    ;;
  full)
    # The first two chunks fit.
    (ulimit -f 900 && run -n 4 --workers 1 "$PROGRAM" 4000) || fail "the job has not gone on"
    grep -qx done "$folder/out" || fail "the job's output is missing"
    grep -Eq 'sorrel: the trace ends here: .*: File too large' "$folder/err" || fail "no message"
    [ "$(grep -c 'the trace ends here' "$folder/err")" = 1 ] || fail "more than one message"
    [ -e "$file" ] || "$SORREL" trace -o "$file" "$file.parts" >/dev/null 2>"$folder/err" || fail "no trace of the parts"
    check "$file" --ranks 4 --messages 1000 --open-flows
    ;;
  damaged)
    run_until_killed -n 4 --procs 2 --workers 1
    parts=$file.parts
    cp "$parts/1-0.part" "$folder/whole"
    trace_of() { "$SORREL" trace -o "$file" "$parts" >"$folder/out" 2>"$folder/err"; }
    # Cut anywhere, also in a record.
    for bytes in 4001 100000; do
      head -c $bytes "$folder/whole" >"$parts/1-0.part"
      trace_of || fail "cut to $bytes bytes"
      check "$file" --open-flows
    done
    : >"$parts/1-0.part"
    trace_of || fail "empty"
    grep -q '1-0.part is empty' "$folder/err" || fail "no warning about an empty part"
    check "$file" --ranks 2 --open-flows
    head -c 5000 "$SORREL" >"$parts/1-0.part"
    trace_of || fail "foreign"
    grep -q '1-0.part is not a part of a trace' "$folder/err" || fail "no warning about a foreign part"
    # A length that leads out of the file, in the place of every record's.
    "$PYTHON" - "$folder/whole" "$parts/1-0.part" <<'PYTHON'
import random, sys
data = bytearray(open(sys.argv[1], "rb").read())
random.seed(7)
for _ in range(2000):
    data[random.randrange(32, len(data))] = random.randrange(256)
open(sys.argv[2], "wb").write(data)
PYTHON
    trace_of || fail "noise"
    rm "$parts"/*.part
    trace_of && fail "no parts, and no error"
    grep -q 'has no part of a trace' "$folder/err" || fail "no error about a folder without parts"
    ;;
esac
