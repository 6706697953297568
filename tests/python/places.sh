#!/usr/bin/env bash
# Places in a script in traces, profiles and checks: places.sh trace|profile|leak|order|crash SORREL PYTHON WORDS…, where WORDS are options
# of `run`. Skipped (77) without Perfetto's Python package, which a trace needs.
set -u
what=$1 sorrel=$2 python=$3
shift 3
here=$(dirname "${BASH_SOURCE[0]}")
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
fail() {
  printf 'FAILED: %s\nstderr:\n%s\n' "$1" "$(head -c 4000 "$folder/err")"
  exit 1
}
# place_of MARK: places.py:LINE.
place_of() { echo "places.py:$(grep -n -m1 "# $1$" "$here/places.py" | cut -d: -f1)"; }
# run STATUS OPTIONS… -- WHAT: the job must end with this status.
run() {
  local wanted=$1
  shift
  timeout 100 "$sorrel" run "$@" >"$folder/out" 2>"$folder/err" </dev/null
  local status=$?
  [ "$status" = "$wanted" ] || fail "the job's status is $status, expected $wanted"
}
has() { grep -Eq "$1" "$folder/err" || fail "no line like: $1"; }
script=("$python" "$here/places.py")
case $what in
  trace)
    run 0 --trace "$folder/job.trace" "$@" "${script[@]}" calls
    "$python" "$here/../trace/check_trace.py" "$folder/job.trace" --open-flows --line "MPI_Barrier=$(place_of met)" \
      --line "MPI_Barrier=$(place_of ended)" --line "MPI_Get_version=$(place_of imported)" --line "MPI_Mprobe=$(place_of passed)" \
      >"$folder/err" 2>&1
    status=$?
    [ "$status" = 77 ] && exit 77
    [ "$status" = 0 ] || fail "the trace is wrong"
    ;;
  profile)
    run 0 --profile "$@" "${script[@]}" calls
    has "^ +MPI_Barrier .* meet \\($(place_of met)\\)$"
    has "^ +MPI_Mprobe .* pass_on \\($(place_of passed)\\)$"
    has "^ +MPI_Barrier .* <module> \\($(place_of ended)\\)$"
    ;;
  leak)
    run 66 --check "$@" "${script[@]}" leak
    has "^$(place_of leaked): warning: ranks? 0.*: MPI_Comm_dup \\[leak-communicator\\]$"
    ;;
  order)
    run 66 --check "$@" "${script[@]}" order
    has "^($(place_of first)|$(place_of second)): error: ranks? .*: MPI_.* \\[collective-order\\]$"
    has "^ +ranks? .*: MPI_.* at ($(place_of first)|$(place_of second)), the call of the other rank$"
    ;;
  crash)
    run 66 --check "$@" "${script[@]}" crash
    has "^$(place_of crashed): error: rank 1 \\[crash\\]$"
    ;;
esac
