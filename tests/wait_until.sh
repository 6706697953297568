# Waiting with a limit, for the scripts of tests, which source this.

now_ms() { date +%s%3N; }
# wait_until LIMIT_MS COMMAND...: whether it became true in time.
wait_until() {
  local deadline=$(($(now_ms) + $1))
  shift
  until "$@"; do
    (($(now_ms) < deadline)) || return 1
    sleep 0.01
  done
}
