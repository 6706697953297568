#!/usr/bin/env python3
"""demo_acts.py SORREL [BUSY]: all four acts of `sorrel demo` come true, beside BUSY busy processes, and its programs are shown."""
import os
import pty
import re
import subprocess
import sys
import time

BUSY_LIMIT_S = 240  # of a machine on which tests build and run beside it
ACTS = {
    "A": r"32 ranks \d+\.\d\d s(, [\w. ]+)*; 4096 ranks \d+\.\d\d s",
    "B": r"found after \d+\.\d\d s: rank 618 waits in MPI_Recv for a message from 617 with tag 10, main \(hang\.c:\d+\); the one from 617 with tag 11 matches no receive",
    "C": r"kill -9 \d+ at step \d+: \d+\.\d\d s later the job goes on from checkpoint \d+, and its result is right",
    "D": r"a step takes [\d.]+ ms in place of [\d.]+ ms: [\d.]+ times as fast, as the cores compute for \d+ % of the time in place of \d+ %",
}


def expect(is_so: bool, what: str) -> None:
    if not is_so:
        sys.exit(f"FAILED: {what}")


def in_terminal(command: list[str]) -> tuple[str, int]:
    """What the command shows in a terminal, and its status."""
    child, descriptor = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    shown = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def acts_are_true(sorrel: str) -> None:
    begin = time.monotonic()
    done = subprocess.run([sorrel, "demo"], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr, flush=True)
    expect(done.returncode == 0, f"status {done.returncode}")
    expect(time.monotonic() - begin < BUSY_LIMIT_S, "it takes too long")
    expect("\x1b" not in done.stdout, "plain text where there is no terminal")
    words = " ".join(done.stdout.split())
    for letter, line in ACTS.items():
        expect(re.search(line, words) is not None, f"act {letter} did not come true")
    expect(re.search(r"\d+ s\. Now yours: sorrel try \./app$", words) is not None, "it ends with the next command")
    rows = re.findall(r"^ +(?:\d+ ranks)? +core \d+ +\|(.*)\|$", done.stdout, re.M)
    # The last row is a core with many ranks. How full it becomes depends on what else the machine does.
    expect(len(rows) >= 2 and any(mark in rows[-1] for mark in ":+#"), "the picture has fuller blocks for many ranks")


def is_drawn_live(sorrel: str) -> None:
    shown, status = in_terminal([sorrel, "demo", "--acts", "D"])
    expect(status == 0, f"status {status} in a terminal:\n{shown}")
    expect(shown.count("core 0") > 4, "the picture is drawn while it happens")
    expect(re.search("\x1b\\[38;5;\\d+m[▁▂▃▄▅▆▇█]", shown) is not None, "in colours")
    expect(re.search("\x1b\\[\\d+A", shown) is not None, "over the same lines")


def sources_are_shown(sorrel: str) -> None:
    for name in ("many", "hang", "survive", "latency"):
        text = subprocess.run([sorrel, "demo", "--show", name], capture_output=True, text=True, check=True).stdout
        expect("MPI_Init(&argc, &argv);" in text and text.endswith("}\n"), f"{name} is not shown")


def main() -> int:
    sorrel = sys.argv[1]
    busy_count = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy_count)]
    try:
        acts_are_true(sorrel)
        if not busy:
            is_drawn_live(sorrel)
            sources_are_shown(sorrel)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
