# For the scripts that kill parts of jobs, which source it: who of a job lives, and waiting with a limit. They set
# `folder` (with the job's `out` and `err`), `name` (of its processes), `job` (what they started) and `i` (the repetition).

fail() {
  printf 'FAILED in repetition %s: %s\nstdout:\n%s\nstderr:\n%s\n' "$i" "$1" "$(cat "$folder/out")" "$(cat "$folder/err")"
  pkill -9 -x "$name"
  exit 1
}
now_ms() { date +%s%3N; }
# A dead one that its new parent has not collected yet is gone.
living() { pgrep -x -r D,R,S,T "$name"; }
# wait_until LIMIT_MS COMMAND...: whether it became true in time.
wait_until() {
  local deadline=$(($(now_ms) + $1))
  shift
  until "$@"; do
    (($(now_ms) < deadline)) || return 1
    sleep 0.01
  done
}
started() { grep -q started "$folder/out"; }
ended() { ! kill -0 "$job" 2>/dev/null; }
