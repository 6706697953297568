#!/usr/bin/env bash
# Pages of a flight recorder: flight.sh CASE SORREL PROGRAMS [OPTIONS…], where PROGRAMS is the folder of the test programs and OPTIONS
# are those of `sorrel run` for a job of 4 ranks. 77: skipped.
#
#   ends KIND STATUS PROGRAM WORDS…   in place of OPTIONS: a job that ends so writes one page
#   group                             SIGTERM to all processes of the job at once, as timeout(1) sends it
#   alone                             SIGTERM to a process of the job, and not to `sorrel run`
#   idle                              a job that sleeps
#   good                              a job without errors writes no page
#   gone, full                        a page that cannot be written
set -u
what=$1 sorrel=$2 programs=$3
shift 3
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
folder=$(mktemp -d) job=
trap '[ -z "$job" ] || kill -9 "$job" 2>/dev/null; rm -rf "$folder"' EXIT
fail() {
  printf 'FAILED: %s\nstderr:\n%s\n' "$1" "$(head -c 6000 "$folder/err")"
  exit 1
}
# The screen matches this regular expression; ~ stands for the end of a line.
screen_has() { [[ $(tr '\n' '~' <"$folder/err") =~ $1 ]] || fail "expected $1"; }
# There is one page, the screen names it, and EXPRESSION of Python holds for its data `d`.
page_has() {
  local pages=("$folder"/pages/*.html)
  [ ${#pages[@]} = 1 ] && [ -e "${pages[0]}" ] || fail "pages: ${pages[*]}"
  grep -qxF "sorrel: page: ${pages[0]}" "$folder/err" || fail "the page is not named"
  python3 - "${pages[0]}" "$1" <<'END' || fail "the page"
import json, os, re, sys
assert os.stat(sys.argv[1]).st_mode & 0o777 == 0o600, oct(os.stat(sys.argv[1]).st_mode)
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
assert text.startswith("<!doctype html>") and text.endswith("</html>\n"), text[-100:]
assert not re.search(r"(src|href)\s*=", text), "the page needs another file"
data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
# With `<!--<script` in it, no tag would end the element.
assert "<" not in data, data
d = json.loads(data)
if not (d["version"] == 1 and eval(sys.argv[2])):
    sys.exit(f"{sys.argv[2]} does not hold for\n{json.dumps(d, indent=1)[:5000]}")
END
}
run() { timeout 60 "$sorrel" run -n 4 --flight "$folder/pages" "$@" >"$folder/out" 2>"$folder/err"; }
start() {
  # A process group of its own.
  set -m
  "$sorrel" run -n 4 --flight "$folder/pages" "$@" "$programs/flight" "$folder/end" >"$folder/out" 2>"$folder/err" &
  job=$!
  set +m
  is_ready() { grep -qs ready "$folder/out"; }
  wait_until 60000 is_ready || fail "the job has not begun"
}
end() {
  wait "$job"
  local status=$?
  job=
  [ "$status" = "$1" ] || fail "status $status instead of $1"
}
terminated='d["kind"] == "terminated" and [r["state"] for r in d["look"]["rank_states"]].count("waits") >= 3
  and any(r["call"] == "MPI_Barrier" and "flight.c:" in r["place"] for r in d["look"]["rank_states"])
  and d["look"]["rank_states"][2]["unexpected_messages"] == 1 and d["next"].startswith("sorrel run --trace flight.trace -n 4 ")'
terminated=${terminated//$'\n'/}
try_case() {
  case $what in
    ends)
      kind=$1 status=$2 program=$3
      shift 3
      run "$programs/$program" "$@"
      got=$?
      [ "$got" = "$status" ] || fail "status $got instead of $status"
      screen_has "~sorrel: page: [^~]*~sorrel: to see more: sorrel run --check -n 4 --flight [^~]*$program[^~]*~$"
      page_has "(d['kind'] == '$kind' == d['report']['kind'] and d['report']['status'] == $status and d['program'] == '$program'
        and '--check' in d['next'] and '--check' not in d['command'] and ($EXPRESSION))"
      ;;
    group)
      start "$@"
      kill -TERM -- "-$job"
      end 143
      screen_has "^sorrel: SIGTERM after [^~]*~job [0-9]+: [^~]*~.*4 ranks: .*~ *1-3 .3. +waits +MPI_Barrier +.*unexpected messages~ +1 +at rank 2~"
      screen_has "~sorrel: to see more: sorrel run --trace flight.trace -n 4 [^~]*; sorrel report flight.trace~"
      page_has "$terminated"
      ;;
    alone)
      start "$@"
      child=$(pgrep -P "$job" | tail -1)
      kill -TERM "$child"
      end 143
      screen_has "^sorrel: process [01] .ranks [0-9-]*. was killed by signal 15 .Terminated.~sorrel: page: "
      page_has "d['kind'] == 'killed' and d['report']['signal'] == 15"
      ;;
    idle)
      start "$@"
      sleep 8
      touch "$folder/end"
      end 0
      if ! [ -s "$folder/err" ]; then
        echo "skipped: other programs use the cores: load $(cat /proc/loadavg)"
        exit 77
      fi
      screen_has "^sorrel: the job used [0-9]+ % of [0-9]+ cores? for 00:[01][0-9]; where its ranks were, in [0-9]+ samples?:~ +share +state +in +at~ +75 % +waits +MPI_Barrier +main .flight.c:[0-9]+.~"
      page_has 'd["kind"] == "idle" and d["busy_share"] < 0.5 and d["samples"][0]["call"] == "MPI_Barrier"'
      ;;
    good)
      touch "$folder/end"
      run "$@" "$programs/flight" "$folder/end" || fail "status $?"
      [ ! -s "$folder/err" ] || fail "the job has written on standard error"
      [ -d "$folder/pages" ] && [ -z "$(ls "$folder/pages")" ] || fail "the folder: $(ls -d "$folder"/pages "$folder"/pages/*)"
      # The folders above it are made, too.
      run --flight "$folder/above/below" "$programs/flight" "$folder/end" && [ -d "$folder/above/below" ] || fail "a folder below a new one"
      # A variable names the folder, too, and an empty one none. Where there can be no folder, the job runs, and one line says so.
      for place in "$folder/out:is not a folder" "$folder/out/below:Not a directory" "/proc/none:No such file or directory"; do
        SORREL_FLIGHT=${place%:*} timeout 60 "$sorrel" run -n 3 "$programs/flight" "$folder/end" >"$folder/other" 2>"$folder/err" ||
          fail "status $? with $place"
        screen_has "^sorrel: note: no flight recorder: the folder of pages ${place%:*} .--flight, SORREL_FLIGHT.: ${place#*:}~$"
      done
      SORREL_FLIGHT= timeout 60 "$sorrel" run -n 4 "$programs/flight" "$folder/end" >"$folder/other" 2>"$folder/err" || fail "an empty variable"
      ;;
    gone)
      start "$@"
      rm -r "$folder/pages"
      kill -TERM "$job"
      end 143
      screen_has "~sorrel: the page [^~]*/pages/flight-[^~]*.html cannot be written: No such file or directory~"
      ;;
    full)
      mkdir "$folder/pages"
      if [ "${1:-}" != mounted ]; then
        unshare --user --map-root-user --mount mount -t tmpfs none "$folder/pages" 2>/dev/null ||
          { echo "skipped: file systems cannot be mounted here"; exit 77; }
        rm -r "$folder"
        exec unshare --user --map-root-user --mount "${BASH_SOURCE[0]}" full "$sorrel" "$programs" mounted
      fi
      mount -t tmpfs -o size=8k none "$folder/pages" || exit 77
      run "$programs/deadlocks" receives
      [ $? = 3 ] || fail "the status of the job is $?"
      screen_has "~sorrel: the page [^~]*.html cannot be written: No space left on device~sorrel: to see more: [^~]*~$"
      [ -z "$(ls "$folder/pages")" ] || fail "a part of a page is left"
      umount "$folder/pages"
      ;;
  esac
}
# A look has a limit of time, which a busy machine may exceed.
if [ "$what" = group ]; then
  for _ in 1 2 3; do
    rm -rf "$folder"/*
    (
      trap '[ -z "$job" ] || kill -9 "$job" 2>/dev/null' EXIT
      try_case "$@"
    ) && exit 0
  done
  exit 1
fi
try_case "$@"
