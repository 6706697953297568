#!/bin/sh
# A tool that is linked with a program, and one that is preloaded, observe its calls: observed.sh FAMILY SORREL WITH_TOOL WITHOUT TOOL
family=$1
shift
sorrel=$1 with=$2 without=$3 tool=$4
failed=0

# prints WORDS...: each line once, by 6 ranks that share a process, and by processes.
prints() {
  out=$(timeout 200 "$@" 2>&1) || failed=1
  for line in "sum 55" "tool: 15 sends, 60 bytes, at most 5 sends of a rank"; do
    [ "$(echo "$out" | grep -cx "$line")" = 1 ] && continue
    echo "$*: expected one line '$line':"
    echo "$out"
    failed=1
  done
}
prints "$sorrel" run -n 6 --workers 2 "$with"
prints "$sorrel" run -n 6 --procs 2 --workers 1 "$with"
# The command loads the tool, too, and has none of the objects that Open MPI's handles are.
if [ "$family" = mpich ]; then
  prints env LD_PRELOAD="$tool" "$sorrel" run -n 6 --workers 2 "$without"
  prints env LD_PRELOAD="$tool" "$sorrel" run -n 6 --procs 6 "$without"
fi
"$sorrel" info "$with" | grep -q "^  tool .*$(basename "$tool").* observes 2 functions" || { echo "info does not name the tool"; failed=1; }
exit $failed
