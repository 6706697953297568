#!/usr/bin/env bash
# Traces of jobs that end in every way. The environment has the paths SORREL, PROGRAM (messages), SOURCE and PYTHON.
#   trace.sh run RANKS MESSAGES WORDS...         of a job that ends well: what follows "sorrel run -n RANKS"
#   trace.sh work CHECKS WORDS...                of a job with loops, tasks, ...: options of check_trace.py, what follows "sorrel run"
#   trace.sh otf2        an archive in the format OTF2
#   trace.sh processor   read by Perfetto's own trace processor, where it is installed
#   trace.sh clicked     the page of `sorrel report`, clicked through in a browser
#   trace.sh report      what `sorrel report` says about one
#   trace.sh limited     by `ulimit -f`
#   trace.sh full_disk   on a file system that has no more space
#   trace.sh governor    of a job that gets fewer threads when another one starts
#   trace.sh interrupted by SIGTERM, while the trace is made
#   trace.sh crash | killed | damaged            of others
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
run() { timeout 250 "$SORREL" run --trace "$file" "$@" >"$folder/out" 2>"$folder/err"; }
# kill_jobs LAUNCHER...: their processes are killed with them, and write no more when they are gone. Dead ones that are not collected yet count as gone.
kill_jobs() {
  local processes launcher
  processes=$(for launcher; do cat "/proc/$launcher/task/$launcher/children"; done)
  kill -KILL "$@"
  wait "$@" 2>/dev/null
  # shellcheck disable=SC2086
  are_gone() { [ -z "$processes" ] || ! ps -o stat= $processes | grep -qv '^Z'; }
  wait_until 60000 are_gone || fail "processes of the job outlive its launcher"
}
# The job and its launcher are killed when all messages have been sent.
run_until_killed() {
  "$SORREL" run --trace "$file" "$@" "$PROGRAM" 20 wait >"$folder/out" 2>"$folder/err" &
  local job=$!
  is_done() { grep -qx done "$folder/out"; }
  wait_until 90000 is_done
  local found=$?
  kill_jobs "$job"
  [ "$found" = 0 ] || fail "the job does not start"
}
# A trace and its parts, of which neither is whole: the job has gone on, and both can be read. $1: the system's message.
check_cut_trace() {
  grep -qx done "$folder/out" || fail "the job's output is missing"
  [ "$(grep -Ec "^sorrel: the trace ends here: .*: $1$" "$folder/err")" = 1 ] || fail "not one message about the parts"
  [ "$(grep -Ec "^sorrel: warning: .*job.trace ends within its first [0-9]+ events, .*: $1$" "$folder/err")" = 1 ] || fail "not one message about the trace"
  grep -q "^sorrel: note: the events of the job are in $file.parts;" "$folder/err" || fail "no note about the parts"
  check "$file" --ranks 4 --messages 100 --open-flows --cut
  "$SORREL" report "$file" -o "$folder/page.html" >"$folder/out" 2>"$folder/err" || fail "no report of a trace that ends early"
  "$SORREL" trace -o "$folder/whole.trace" "$file.parts" >"$folder/out" 2>"$folder/err" || fail "no trace of the parts"
  check "$folder/whole.trace" --ranks 4 --messages 1000 --open-flows
  [ "$(stat -c %s "$folder/whole.trace")" -gt "$(stat -c %s "$file")" ] || fail "the trace of the parts has not more than the one that ends early"
}
no_parts_left() { [ ! -e "$file.parts" ] || fail "the folder of the parts is left: $(ls "$file.parts")"; }

case $what in
  interrupted)
    # The trace is a pipe without a reader, so that its making lasts.
    mkfifo "$file"
    "$SORREL" run --trace "$file" -n 4 --workers 2 "$PROGRAM" 20 >"$folder/out" 2>"$folder/err" &
    job=$!
    has_come_to_its_end() { grep -q "^done$" "$folder/out"; }
    has_ended() {
      kill -TERM "$job" 2>/dev/null
      ! kill -0 "$job" 2>/dev/null
    }
    wait_until 90000 has_come_to_its_end || fail "the job does not end"
    wait_until 90000 has_ended || fail "the command does not end"
    wait "$job"
    [ $? = 143 ] || fail "the command does not end by the signal"
    no_parts_left
    [ -p "$file" ] || fail "the pipe has been removed"
    grep -q "^sorrel: interrupted; the events of the job are removed" "$folder/err" || fail "no message"
    ;;
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
  work)
    checks=$1
    shift
    run "$@" || fail "the job's status is $?"
    # shellcheck disable=SC2086
    check "$file" --open-flows $checks
    "$SORREL" report "$file" --json "$folder/report.json" -o "$folder/page.html" >"$folder/out" 2>"$folder/err" || fail "no report"
    python3 - "$folder/report.json" <<'PYTHON' || fail "the numbers of the report are wrong"
import json, sys
report = json.load(open(sys.argv[1]))
assert all(call["call"].startswith("MPI_") for call in report["calls"]), report["calls"]
for rank in report["ranks"]:
    times = [rank[name] for name in ("computing_seconds", "transfer_seconds", "waiting_seconds")]
    assert min(times) >= 0 and sum(times) <= report["seconds"] * 1.0001, rank
PYTHON
    no_parts_left
    ;;
  processor)
    processor=${TRACE_PROCESSOR:-$(command -v trace_processor_shell || command -v trace_processor)}
    [ -n "$processor" ] || { echo "skipped: Perfetto's trace_processor_shell is not in PATH, and TRACE_PROCESSOR is not set"; exit 77; }
    # ask QUERY: a column of the answer, without its heading.
    ask() {
      echo "$1" >"$folder/query"
      "$processor" -q "$folder/query" "$file" 2>"$folder/err" | tail -n +2 | tr -d '"'
    }
    for shape in "--workers 2" "--procs 2 --workers 1"; do
      # shellcheck disable=SC2086
      run -n 8 $shape "$PROGRAM" 20 || fail "the status of the job is $?"
      [ -z "$(ask "SELECT name FROM stats WHERE severity IN ('error', 'data_loss') AND value != 0;")" ] || fail "errors when it is read"
      [ "$(ask "SELECT count(*) FROM slice WHERE name = 'MPI_Isend';")" = 320 ] || fail "calls of MPI_Isend are missing"
      [ "$(ask 'SELECT count(*) FROM flow;')" -ge 320 ] || fail "messages are missing"
      [ "$(ask 'SELECT count(*) FROM slice WHERE dur < 0;')" = 0 ] || fail "slices do not end"
      [ "$(ask "SELECT count(DISTINCT name) FROM track WHERE name GLOB 'rank [0-7]';")" = 8 ] || fail "tracks of ranks are missing"
    done
    ;;
  crash)
    run -n 4 --workers 2 "$PROGRAM" 20 crash
    [ $? = 134 ] || fail "the status of a crash is lost"
    grep -q 'sorrel: rank 0: aborted' "$folder/err" || fail "no report"
    check "$file" --ranks 4 --messages 160
    no_parts_left
    ;;
  profile)
    timeout 250 "$SORREL" run --profile --summary --profile-json "$folder/profile.json" -n 4 --workers 2 "$PROGRAM" 20 >"$folder/out" 2>"$folder/err" ||
      fail "the job's status is $?"
    grep -q '^sorrel: profile: 4 ranks on 2 workers' "$folder/err" || fail "no table"
    grep -Eq '^sorrel: summary: 4 ranks on 2 workers, .* 160 messages, 8000640 bytes$' "$folder/err" || fail "no summary"
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
for worker in profile["workers"]:
    times = [worker[name] for name in ("computing_seconds", "transfer_seconds", "idle_seconds")]
    assert min(times) >= 0 and abs(sum(times) - profile["seconds"]) < 1e-6, worker
assert profile["threads"]["granted_seconds"] > 0 and profile["threads"]["without_thread_seconds"] >= 0, profile["threads"]
for rank in profile["ranks"]:
    assert rank["computing_seconds"] >= 0 and rank["hidden_waiting_seconds"] <= rank["waiting_seconds"], rank
PYTHON
    ;;
  report)
    run -n 8 --wire nodes=2,latency=2ms --workers 1 "$PROGRAM" 20 || fail "the job's status is $?"
    "$SORREL" report "$file" --json "$folder/report.json" --latency 1ms -o "$folder/page.html" >"$folder/out" 2>"$folder/err" ||
      fail "no report"
    # A busy machine may take cores from the job, and make its times differ from those of a replay.
    grep -Ev '^sorrel: (threads were taken: |warning: not predicted: )' "$folder/err" && fail "standard error has other lines"
    python3 - "$folder/report.json" "$folder/page.html" "messages.c:$(grep -n -m1 MPI_Waitall "$SOURCE" | cut -d: -f1)" <<'PYTHON' || fail "the numbers are wrong"
import json, re, sys
report = json.load(open(sys.argv[1]))
assert report["rank_count"] == 8 and report["worker_count"] == 1, report
sent = {(cell["from"], cell["to"]): cell for cell in report["messages"]}
for rank in range(8):
    cell = sent[rank, (rank + 1) % 8]
    assert cell["count"] >= 40 and cell["bytes"] >= 20 * 100008, cell
calls = {call["call"]: call for call in report["calls"]}
assert calls["MPI_Waitall"]["count"] == 160 and sys.argv[3] in calls["MPI_Waitall"]["place"], calls["MPI_Waitall"]
for rank in report["ranks"]:
    times = [rank[name] for name in ("computing_seconds", "transfer_seconds", "waiting_seconds")]
    assert min(times) >= 0 and sum(times) <= report["seconds"] * 1.0001, rank
    assert abs(sum(wait["seconds"] for wait in rank["waits"].values()) - rank["waiting_seconds"]) < 1e-6, rank
# Two messages of each round, at least, go from node to node one after the other.
assert report["waits"]["in_flight"]["exposed_seconds"] > 0.02, report["waits"]
path = sum(step["seconds"] for step in report["critical_path"])
assert 0.9 * report["seconds"] < path < 1.0001 * report["seconds"], path
for worker in report["workers"]:
    times = [worker[name] for name in ("computing_seconds", "transfer_seconds", "idle_seconds")]
    assert min(times) >= 0 and abs(sum(times) - report["seconds"]) < 1e-6, worker
    assert 0 <= worker["without_thread_seconds"] <= worker["idle_seconds"], worker
assert report["threads"]["were_taken"] == ("taken" in report), report["threads"]
if report["not_predicted"]:
    assert report["predictions"] == [] or "-n" not in {row["what"].split()[0] for row in report["predictions"]}, report["predictions"]
else:
    assert {"no latency between processes", "latency 1 ms between processes"} <= {row["what"] for row in report["predictions"]}
assert "taken" not in report or report["advice"] == report["predictions"] == [], report["advice"]
for row in report["predictions"]:
    assert row["least_seconds"] <= row["seconds"] <= row["most_seconds"], row
page = open(sys.argv[2]).read()
assert not re.search(r'(src|href)=|https?:', page) and page.endswith("</html>\n")
PYTHON
    "$SORREL" report "$file" -o /dev/full >"$folder/out" 2>"$folder/err" && fail "a full disk is no error"
    grep -qx 'sorrel: /dev/full cannot be written: No space left on device' "$folder/err" || fail "no message about a full disk"
    ;;
  otf2)
    command -v otf2-print >/dev/null || { echo "skipped: otf2-print is not installed (Debian: otf2-tools)"; exit 77; }
    file=$folder/job.otf2
    for _ in 1 2; do
      run -n 4 --procs 2 --workers 1 "$PROGRAM" 20 && continue
      grep -q 'OTF2 is not supported' "$folder/err" && { echo "skipped: sorrel is built without OTF2"; exit 77; }
      fail "the job's status is $?"
    done
    no_parts_left
    otf2-print "$file/traces.otf2" >"$folder/printed" 2>"$folder/err" || fail "otf2-print cannot read it"
    [ ! -s "$folder/err" ] || fail "otf2-print complains"
    count() { grep -c "^$1 " "$folder/printed"; }
    [ "$(count MPI_SEND)" -ge 160 ] && [ "$(count MPI_SEND)" = "$(count MPI_RECV)" ] || fail "$(count MPI_SEND) sends, $(count MPI_RECV) receives"
    [ "$(count ENTER)" -gt 480 ] && [ "$(count ENTER)" = "$(count LEAVE)" ] || fail "$(count ENTER) begins, $(count LEAVE) ends"
    otf2-print -G "$file/traces.otf2" | grep -Eq 'REGION .*"MPI_Waitall".*messages.c' || fail "no region of MPI_Waitall with its source"
    mkdir "$folder/mine.otf2" && touch "$folder/mine.otf2/notes"
    file=$folder/mine.otf2
    run -n 4 "$PROGRAM" 1 && fail "a folder of the user is no error"
    grep -qx "sorrel: --trace: $file exists and is no OTF2 archive" "$folder/err" || fail "no message about a folder of the user"
    [ -e "$folder/mine.otf2/notes" ] || fail "a file of the user is gone"
    ;;
  clicked)
    run -n 8 --wire nodes=2,latency=200us --workers 1 "$PROGRAM" 20 || fail "the job's status is $?"
    "$SORREL" report "$file" -o "$folder/page.html" >"$folder/out" 2>"$folder/err" || fail "no report"
    "$PYTHON" "$(dirname "${BASH_SOURCE[0]}")/click_report.py" "$folder/page.html"
    exit
    ;;
  killed)
    # The job is killed with its launcher; what it has done until then is in the parts.
    run_until_killed -n 4 --workers 2
    [ ! -e "$file" ] || fail "a killed launcher has written a trace"
    "$SORREL" trace -o "$file" "$file.parts" >"$folder/out" 2>"$folder/err" || fail "no trace of the parts"
    check "$file" --ranks 4 --messages 160 --open-flows
    ;;
  governor)
    # Both jobs want all processors, and their ranks wait often.
    workers=$(nproc)
    [ "$workers" -ge 2 ] || workers=2
    "$SORREL" run -n "$workers" --workers "$workers" "$PROGRAM" 1 compute >"$folder/peer" 2>&1 &
    peer=$!
    "$SORREL" run --trace "$file" -n "$workers" --workers "$workers" "$PROGRAM" 1 compute >"$folder/out" 2>"$folder/err" &
    job=$!
    has_decided() { grep -qx done "$folder/out" && [ -e "$file.parts/0-governor.part" ]; }
    wait_until 90000 has_decided
    found=$?
    kill_jobs "$peer" "$job"
    [ "$found" = 0 ] || fail "the governor decides nothing"
    "$SORREL" trace -o "$file" "$file.parts" >"$folder/out" 2>"$folder/err" || fail "no trace of the parts"
    check "$file" --ranks "$workers" --open-flows --counter "threads granted"
    "$SORREL" report "$file" --json "$folder/report.json" -o "$folder/page.html" >"$folder/out" 2>"$folder/err" || fail "no report"
    python3 - "$folder/report.json" <<'PYTHON' || fail "the shares of workers are wrong"
import json, sys
report = json.load(open(sys.argv[1]))
for worker in report["workers"]:
    times = [worker[name] for name in ("computing_seconds", "transfer_seconds", "idle_seconds")]
    assert min(times) >= 0 and abs(sum(times) - report["seconds"]) < 1e-6, worker
threads = report["threads"]
assert 0 < threads["granted_seconds"] <= report["seconds"] * report["worker_count"] * 1.0001, threads
assert ("taken" in report) == threads["were_taken"], threads
PYTHON
    ;;
  limited)
    # The first three buffers of each worker fit. The trace of both workers does not.
    (ulimit -f 900 && run -n 4 --workers 2 "$PROGRAM" 60000) || fail "the status of the job is $?"
    check_cut_trace 'File too large'
    for output in "trace -o $folder/limited.trace $file.parts" "trace -o $folder/limited.otf2 $file.parts" "report $folder/whole.trace -o $folder/page.html"; do
      # shellcheck disable=SC2086
      (ulimit -f 8 && exec "$SORREL" $output >"$folder/out" 2>"$folder/err")
      status=$?
      { [ $status != 0 ] && [ $status -lt 128 ]; } || fail "the status of $output is $status"
      [ "$(grep -Ec '^sorrel: .*(too large$|OTF2 is not supported)' "$folder/err")" = 1 ] || fail "not one message about $output"
    done
    ;;
  full_disk)
    mkdir "$folder/disk"
    if [ "${1:-}" != mounted ]; then
      unshare --user --map-root-user --mount mount -t tmpfs none "$folder/disk" 2>/dev/null ||
        { echo "skipped: file systems cannot be mounted here"; exit 77; }
      rm -r "$folder"
      exec unshare --user --map-root-user --mount "${BASH_SOURCE[0]}" full_disk mounted
    fi
    mount -t tmpfs -o size=1500k none "$folder/disk" || exit 77
    file=$folder/disk/job.trace
    # Beside the buffers of both workers, three that are full have space: some 200 KiB are left for the trace, and not enough for all of it.
    run -n 4 --workers 2 "$PROGRAM" 20000 || fail "the status of the job is $?"
    check_cut_trace 'No space left on device'
    umount "$folder/disk"
    ;;
  damaged)
    run_until_killed -n 4 --procs 2 --workers 1
    parts=$file.parts
    # What was written, in one file: the part, and what the buffer had.
    "$PYTHON" - "$parts/1-0" "$folder/whole" <<'PYTHON'
import struct, sys
with open(sys.argv[1] + ".rest", "rb") as file:
    rest = file.read()
_, begin, end = struct.unpack("<QQQ", rest[:24])
with open(sys.argv[1] + ".part", "rb") as file:
    part = file.read()[:begin]
assert len(part) == begin
with open(sys.argv[2], "wb") as file:
    file.write(part + rest[64 : 64 + end - begin])
PYTHON
    rm "$parts/1-0.rest"
    size=$(stat -c %s "$folder/whole")
    trace_of() { "$SORREL" trace -o "$file" "$parts" >"$folder/out" 2>"$folder/err"; }
    # Cut anywhere, also in a record.
    for bytes in $((size / 3)) $((size - 1)); do
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
    data[random.randrange(40, len(data))] = random.randrange(256)
open(sys.argv[2], "wb").write(data)
PYTHON
    trace_of || fail "noise"
    rm "$parts"/*
    trace_of && fail "no parts, and no error"
    grep -q 'has no part of a trace' "$folder/err" || fail "no error about a folder without parts"
    ;;
esac
