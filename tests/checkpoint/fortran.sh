#!/bin/sh
# What a program in Fortran prints and writes into files is the same if its ranks change their process, if a process is killed and the
# job goes on, and if the job is killed and restarted. What cannot go has a line.
#
# usage: fortran.sh TREE WHAT MPIFORT_FLAGS...
# WHAT: moves, survives, restarts, kills, refused.
set -u
tree=$1 what=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
sorrel=$tree/bin/sorrel
. "$here/folder.sh"
unset FC SORREL_FC CC SORREL_CC
"$tree/bin/mpi/mpifort" -g -O1 -J "$folder" "$@" "$here/kept.f" "$here/steps.f90" -o "$folder/steps" > "$folder/out" 2> "$folder/err" ||
  fail "the program does not compile"
export STEPS_FOLDER="$folder/files"
# run TEXT COMMAND...: from an empty folder of files.
run() {
  text=$1
  shift
  rm -rf "$STEPS_FOLDER"
  mkdir "$STEPS_FOLDER"
  "$@" > "$folder/out" 2> "$folder/err" || fail "$text: ended with $?"
}
compare_files() {
  diff -r "$folder/expected" "$STEPS_FOLDER" > "$folder/difference" && return
  head -c 2000 "$folder/difference"
  fail "$1: the files differ"
}
run "plain" "$sorrel" run -n 6 --procs 2 "$folder/steps" 60 10
grep -v refused "$folder/out" > "$folder/history"
mv "$STEPS_FOLDER" "$folder/expected"
[ "$(ls "$folder/expected" | wc -l)" -eq 43 ] || fail "the program has not made 43 files"
case $what in
moves)
  for seed in 1 2; do
    SORREL_MOVE_SEED=$seed run "moves $seed" "$sorrel" run -n 6 --procs 3 --workers 1 --balance measured --verbose "$folder/steps" 60 10
    grep -Eq '^sorrel: balance: [1-9][0-9]+ ranks moved between processes in [1-9]' "$folder/err" || fail "seed $seed: hardly any rank has moved"
    grep 'stays in process' "$folder/err" && fail "seed $seed: a rank stays"
    grep -v refused "$folder/out" | diff "$folder/history" - || fail "seed $seed: the history differs"
    compare_files "moves $seed"
  done
  ;;
survives)
  # Dies after the third checkpoint: the second one is whole.
  for options in "--procs 2" "--procs 3 --balance measured" "--workers 2"; do
    SORREL_MOVE_SEED=5 run "survives $options" "$sorrel" run -n 6 $options --checkpoint memory "$folder/steps" 60 10 3
    grep -q '^sorrel: the job goes on from checkpoint' "$folder/err" || fail "$options: the job was not killed"
    grep -q refused "$folder/out" && fail "$options: not saved"
    compare_files "survives $options"
  done
  ;;
restarts)
  mkdir "$STEPS_FOLDER"
  "$sorrel" run -n 6 --procs 2 --checkpoint "$folder/save" "$folder/steps" 60 10 3 lines 2 > "$folder/out" 2> "$folder/err"
  [ $? -eq 137 ] || fail "the run to be killed was not"
  cp -r "$STEPS_FOLDER" "$folder/left"
  unset STEPS_FOLDER
  for options in "" "--procs 3" "--procs 1 --workers 2"; do
    STEPS_FOLDER=$folder/files
    # The files that were left, not copies: INQUIRE finds units by the number of a file.
    for file in "$folder"/left/*; do cat "$file" > "$STEPS_FOLDER/${file##*/}"; done
    rm -rf "$folder/again"
    cp -r "$folder/save" "$folder/again"
    "$sorrel" restart $options "$folder/again" > "$folder/out" 2> "$folder/err" || fail "restart $options: ended with $?"
    compare_files "restart $options"
    step=$(grep -v '^line' "$folder/out" | sed -n 2p | cut -d ' ' -f 1)
    [ "$step" -gt 10 ] || fail "restart $options: begins at step $step"
    # Behind the third checkpoint the files may have got nothing before the job was killed.
    [ "$step" -gt 20 ] ||
      grep -q '^sorrel: note: files are again as long as at the checkpoint: ' "$folder/err" || fail "restart $options: does not say that files were cut"
    grep -v '^line' "$folder/out" | tail -n +2 > "$folder/second"
    tail -n +"$step" "$folder/history" | diff - "$folder/second" || fail "restart $options: the history differs"
    seq -f 'line %.0f' "$step" 60 > "$folder/lines"
    grep '^line' "$folder/out" | diff "$folder/lines" - || fail "restart $options: lines are lost, or come twice"
  done
  ;;
kills)
  mkdir "$STEPS_FOLDER"
  python3 -B "$here/kills.py" "$sorrel" "$folder/steps" 4 --procs 2 > "$folder/out" 2> "$folder/err" || fail "kills.py ended with $?"
  ;;
refused)
  run "scratch" "$sorrel" run -n 3 --workers 2 --checkpoint memory "$folder/steps" 4 4 0 scratch
  grep -Eq '^sorrel: no checkpoint, and the job goes on: descriptor [0-9]+ \(.*gfortrantmp.*\) is open$' "$folder/err" ||
    fail "does not say that a scratch file is open"
  [ "$(wc -l < "$folder/err")" -eq 1 ] || fail "says more than one line"
  grep -q '^refused$' "$folder/out" || fail "the call does not tell"
  ;;
esac
