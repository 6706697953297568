# Sourced by the scripts that kill parts of jobs: which processes of a job live, and the time limit. These scripts set
# `folder` (with the job's `out` and `err`), `name` (of its processes), `job` (its process id) and `i` (the repetition).
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"

# A fraction of a second may take this long when other processes use the processors.
readonly soon_ms=40000
fail() {
  printf 'FAILED in repetition %s: %s\nstdout:\n%s\nstderr:\n%s\n' "$i" "$1" "$(cat "$folder/out")" "$(cat "$folder/err")"
  pkill -9 -x "$name"
  exit 1
}
# A dead process that its new parent has not collected yet does not count.
living() { pgrep -x -r D,R,S,T "$name"; }
started() { grep -q started "$folder/out"; }
ended() { ! kill -0 "$job" 2>/dev/null; }
