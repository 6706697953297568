#!/usr/bin/env bash
# gdb_stacks.sh GDB HELPER COMMAND...: eight ranks on one worker under gdb; rank 0 computes. `sorrel stacks` must show every rank, also
# those that are suspended, and leave the selected frame as it was. Skipped (77) if gdb may not trace.
set -u
gdb=$1 helper=$2
shift 2
"$gdb" -q -nx -batch -ex run --args true 2>&1 | grep -q "exited normally" || exit 77
output=$("$gdb" -q -nx -batch -ex 'set pagination off' -ex 'set confirm off' -ex 'set breakpoint pending on' -ex "source $helper" \
  -ex 'break compute_until_file' -ex run -ex up -ex 'echo <all>\n' -ex 'sorrel stacks' -ex 'echo <one>\n' -ex 'sorrel stacks 5' \
  -ex 'echo <frame>\n' -ex frame -ex 'bt' -ex 'echo <none>\n' -ex 'sorrel stacks 8' -ex kill --args "$@" 2>&1)
python3 - "$output" <<'PYTHON' && exit
import re, sys
parts = dict(re.findall(r"<(\w+)>\n(.*?)(?=<\w+>\n|\Z)", sys.argv[1], re.S))
stacks = {}
for ranks, calls in re.findall(r"^rank ([\d,-]+)(?: \(\d+\))?\n((?:  #\d+ .*\n)+)", parts["all"], re.M):
    for run in ranks.split(","):
        first, last = (run.split("-") * 2)[:2]
        for rank in range(int(first), int(last) + 1):
            assert rank not in stacks, f"rank {rank} is shown twice"
            stacks[rank] = [re.sub(r"activity\.c:\d+", "activity.c", call) for call in re.findall(r"#\d+ (.*)", calls)]
assert sorted(stacks) == list(range(8)), stacks
assert stacks[0] == ["compute_until_file (activity.c)", "main (activity.c)"], stacks[0]
for rank in range(1, 8):
    assert stacks[rank][-1] == "main (activity.c)" and len(stacks[rank]) > 1, (rank, stacks[rank])
assert any(calls == ["MPI_Barrier", "main (activity.c)"] for calls in stacks.values()), stacks
assert re.match(r"rank 5\n  #0 MPI_", parts["one"]) and parts["one"].count("rank") == 1, parts["one"]
assert re.match(r"#1 .* main .*activity\.c", parts["frame"]), parts["frame"]
assert re.search(r"^#0 +compute_until_file .*activity\.c", parts["frame"], re.M), parts["frame"]
assert "the ranks of this process are 0 to 7" in parts["none"], parts["none"]
PYTHON
tail -60 <<<"$output"
exit 1
