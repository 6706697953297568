#!/usr/bin/env python3
"""Counts the instructions that ranks execute for each call of a function.

Machines without performance counters still count exactly: a worker's thread is stepped one instruction at a time (ptrace), and
each address is given to the function that holds it. Two builds are compared by running it with each. The clock plays no part, so
other work on the machine does not disturb it. Choose a function that the program calls once
a round.

The ranks share one process and one worker. The program must go on for longer than the trace takes; those of bench/probes do:

  mpicc -O2 -o message_rate bench/probes/message_rate.c
  bench/instructions.py --call MPI_Recv -n 2 -- ./message_rate 60
  bench/instructions.py --sorrel ../before/build/release/bin/sorrel --call MPI_Recv -n 2 -- ./message_rate 60
"""

import argparse
import bisect
import collections
import ctypes
import dataclasses
import os
import pathlib
import platform
import signal
import subprocess
import sys
import time

PTRACE_PEEKUSER, PTRACE_SINGLESTEP, PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 3, 9, 17, 0x4206, 0x4207
RIP_OFFSET = 16 * 8  # in struct user of x86-64
WALL = 0x40000000
START_SECONDS_MAX = 20
EXIT_SKIPPED = 77


class CannotCount(Exception):
    """The machine does not allow it; the text says why."""


@dataclasses.dataclass(frozen=True)
class Mapping:
    """One executable mapping of a file: addresses [begin, end), and where the file's part begins."""

    begin: int
    end: int
    offset: int
    path: str


@dataclasses.dataclass(frozen=True)
class Place:
    """The function that holds an instruction, and whether it is the first one."""

    function: str
    is_begin: bool = False


class Functions:
    """The functions of one file, found by their place in the file."""

    def __init__(self, path: str):
        self.name = pathlib.Path(path).name
        symbols = _output("nm", "-C", "--defined-only", path) or _output("nm", "-CD", "--defined-only", path)
        rows = (line.split(" ", 2) for line in symbols.splitlines() if not line.startswith(" "))
        found = sorted((int(value, 16), name) for value, kind, name in rows if kind in "tTwWi")
        self._begins = [begin for begin, _ in found]
        self._names = [name for _, name in found]
        headers = (line.split() for line in _output("readelf", "-lW", path).splitlines())
        self._segments = [(int(row[1], 16), int(row[2], 16), int(row[4], 16)) for row in headers if row[:1] == ["LOAD"]]

    def at(self, place: int) -> "Place":
        value = next((place - offset + value for offset, value, size in self._segments if offset <= place < offset + size), place)
        i = bisect.bisect(self._begins, value) - 1
        if i < 0:
            return Place(self.name, False)
        return Place(f"{self.name}: {self._names[i]}", value == self._begins[i])


class Symbols:
    """The functions of a process."""

    def __init__(self, maps: str):
        self._mappings = sorted(parse_maps(maps), key=lambda mapping: mapping.begin)
        self._begins = [mapping.begin for mapping in self._mappings]
        self._files: dict[str, Functions] = {}
        self._known: dict[int, Place] = {}

    def at(self, address: int) -> Place:
        if address not in self._known:
            self._known[address] = self._find(address)
        return self._known[address]

    def _find(self, address: int) -> Place:
        i = bisect.bisect(self._begins, address) - 1
        if i < 0 or address >= self._mappings[i].end:
            return Place("(no file)")
        mapping = self._mappings[i]
        if mapping.path not in self._files:
            self._files[mapping.path] = Functions(mapping.path)
        return self._files[mapping.path].at(address - mapping.begin + mapping.offset)


def parse_maps(text: str) -> list[Mapping]:
    """The executable mappings of files in a text like /proc/PID/maps."""
    found = []
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
            begin, end = (int(value, 16) for value in fields[0].split("-"))
            found.append(Mapping(begin, end, int(fields[2], 16), fields[5]))
    return found


@dataclasses.dataclass(frozen=True)
class Row:
    function: str
    instructions: float
    entries: float


def per_call(places: list[Place], call: str) -> tuple[int, list[Row]]:
    """Whole rounds from one call of `call` to the next: their number, and the mean of each function in a round.

    `places` are the instructions in order; a call is the first instruction of a function whose name ends in `call`.
    """
    begins = [i for i, place in enumerate(places) if place.is_begin and place.function.endswith(call)]
    rounds = len(begins) - 1
    if rounds < 1:
        raise CannotCount(f"{call} was called {len(begins)} times in {len(places)} instructions; at least 2 are needed")
    traced = [place.function for place in places[begins[0] : begins[-1]]]
    counts = collections.Counter(traced)
    entries = collections.Counter(name for i, name in enumerate(traced) if i == 0 or traced[i - 1] != name)
    return rounds, [Row(name, count / rounds, entries[name] / rounds) for name, count in counts.most_common()]


def trace(thread: int, count: int) -> list[int]:
    """The addresses of the next `count` instructions of a thread."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def request(what: int, offset: int = 0, value: int = 0) -> int:
        ctypes.set_errno(0)
        answer = libc.ptrace(what, thread, offset, value)
        if ctypes.get_errno() != 0:
            raise CannotCount(f"ptrace of thread {thread}: {os.strerror(ctypes.get_errno())}")
        return answer

    request(PTRACE_SEIZE)
    request(PTRACE_INTERRUPT)
    os.waitpid(thread, WALL)
    addresses = []
    while len(addresses) < count:
        addresses.append(request(PTRACE_PEEKUSER, RIP_OFFSET))
        request(PTRACE_SINGLESTEP)
        _, status = os.waitpid(thread, WALL)
        if not os.WIFSTOPPED(status):
            raise CannotCount(f"the program ended after {len(addresses)} instructions; give it more work")
    request(PTRACE_DETACH)
    return addresses


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _ticks(task: pathlib.Path) -> int:
    """The processor time that a thread has used, in clock ticks."""
    fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def _processes_of(launcher: int) -> list[int]:
    found = [launcher]
    for process in found:
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


def busiest_thread(launcher: int) -> tuple[int, int]:
    """Process and thread below a launcher that have worked for at least 0.3 s: the worker."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        time.sleep(0.1)
        try:
            tasks = [task for pid in _processes_of(launcher) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
            task = max(tasks, key=_ticks)
            if _ticks(task) * 10 >= os.sysconf("SC_CLK_TCK") * 3:
                return int(task.parts[2]), int(task.name)
        except (FileNotFoundError, ProcessLookupError):
            continue  # something ended meanwhile
    raise CannotCount(f"no thread of the job worked within {START_SECONDS_MAX} s")


def count(options: argparse.Namespace) -> tuple[int, list[Row]]:
    command = [options.sorrel, "run", "-n", str(options.ranks), "--procs", "1", "--workers", "1", *options.program]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as job:
        try:
            process, thread = busiest_thread(job.pid)
            symbols = Symbols(pathlib.Path(f"/proc/{process}/maps").read_text())
            addresses = trace(thread, options.steps)
        finally:
            os.killpg(job.pid, signal.SIGKILL)
    return per_call([symbols.at(address) for address in addresses], options.call)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sorrel", default="build/release/bin/sorrel", metavar="FILE", help="the command of a build (%(default)s)")
    parser.add_argument("-n", dest="ranks", type=int, default=2, metavar="RANKS", help="number of ranks (%(default)s)")
    parser.add_argument("--call", required=True, metavar="FUNCTION", help="count between calls of this function, by any rank")
    parser.add_argument("--steps", type=int, default=100_000, metavar="N", help="length of the trace in instructions (%(default)s)")
    parser.add_argument("--rows", type=int, default=20, metavar="N", help="rows of the table (%(default)s)")
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="after '--': the program and its arguments")
    options = parser.parse_args()
    try:
        if platform.machine() != "x86_64":
            raise CannotCount(f"only x86-64 is known here, not {platform.machine()}")
        rounds, rows = count(options)
    except CannotCount as error:
        print(f"instructions: {error}", file=sys.stderr)
        return EXIT_SKIPPED
    print(f"{sum(row.instructions for row in rows):9.1f} instructions for each {options.call}, mean of {rounds}")
    for row in rows[: options.rows]:
        print(f"{row.instructions:9.2f} in {row.entries:5.2f} visits  {row.function[:110]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
