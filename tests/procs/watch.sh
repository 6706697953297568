# For the scripts that kill parts of jobs, which source it: who of a job lives, and what is soon. They set
# `folder` (with the job's `out` and `err`), `name` (of its processes), `job` (what they started) and `i` (the repetition).
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"

# What takes a fraction of a second may take this long where others keep the processors busy.
readonly soon_ms=10000
fail() {
  printf 'FAILED in repetition %s: %s\nstdout:\n%s\nstderr:\n%s\n' "$i" "$1" "$(cat "$folder/out")" "$(cat "$folder/err")"
  pkill -9 -x "$name"
  exit 1
}
# A dead one that its new parent has not collected yet is gone.
living() { pgrep -x -r D,R,S,T "$name"; }
started() { grep -q started "$folder/out"; }
ended() { ! kill -0 "$job" 2>/dev/null; }
