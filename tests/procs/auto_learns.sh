#!/bin/sh
# auto_learns.sh SORREL PROGRAM - the runs of a job with `--procs auto`: four try both forms in turn, none is made twice, and the next
# ones use what these have shown. Exit status 77 (skipped) with one core, or if
# other work disturbs all runs.
set -u
sorrel=$1 program=$2
[ "$(nproc)" -ge 2 ] || { echo "skipped: one core"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
table=$XDG_CACHE_HOME/sorrel/forms
ranks=$((2 * $(nproc)))

fail() {
  echo "$*" >&2
  cat "$folder/notes" "$table" >&2
  exit 1
}

# run ARGUMENT...: the form of the run is left in $form; its output must be that of one run.
run() {
  "$sorrel" run --verbose --procs auto -n $ranks "$@" >"$folder/output" 2>"$folder/notes" || fail "the run failed"
  [ "$(grep -c "^$ranks ranks" "$folder/output")" = 1 ] || fail "the program did not run once"
  form=$(sed -n 's/^sorrel: note: --procs auto: \([0-9]*\) process.*/\1/p' "$folder/notes")
}

# Other work may keep a trial out of the table: the form of the next run follows from the table alone.
forms=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
  run "$program"
  case $(cat "$folder/notes") in
    *"that try both forms"*) forms="$forms $form" ;;
    *"earlier runs took"*) break ;;
    *) echo "skipped: only one core may be used"; exit 77 ;;
  esac
done
case $forms in
  " 1"*) ;;
  *) fail "the first run has the forms:$forms" ;;
esac

# The table decides: the job's line is rewritten with times that are known.
job=$(sed -n 's/:.*//p' "$table" 2>/dev/null | tail -n 1)
[ -n "$job" ] || { echo "skipped: other work disturbed every run"; exit 77; }
echo "$job: 5 5; 2 2" >"$table"
run "$program"
[ "$form" -ge 2 ] || fail "processes were faster, but the run had $form"
grep -q "earlier runs took 5 s in one process and 2 s in a process for each core" "$folder/notes" || fail "the times are not named"
echo "$job: 2 2; 5 5" >"$table"
run "$program"
[ "$form" = 1 ] || fail "one process was faster, but the run had $form"
# A settled job is not timed any more; other arguments are another job.
[ "$(cat "$table")" = "$job: 2 2; 5 5" ] || fail "a settled job was timed again"
run "$program" another
grep -q "run 1 of 4 that try both forms" "$folder/notes" || fail "other arguments are the same job"
# Options that need one form leave the table alone.
cp "$table" "$folder/before"
"$sorrel" run --verbose --procs auto --workers 1 -n $ranks "$program" >"$folder/output" 2>"$folder/notes" || fail "the run failed"
grep -q "try both" "$folder/notes" && fail "a run with --workers is a trial"
cmp -s "$table" "$folder/before" || fail "a run with --workers was timed"
exit 0
