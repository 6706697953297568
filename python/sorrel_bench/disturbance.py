"""Other work on the machine during a measurement, and repetition of disturbed measurements."""

import os
import resource
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
ATTEMPTS_MAX = 4


def busy_seconds(has_stolen: bool) -> float:
    """Processor time of the allowed processors since the machine's start, niced work included; on request also the time
    stolen by the machine's host."""
    allowed = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    ticks = 0
    with open("/proc/stat", encoding="ascii") as file:
        for name, *fields in map(str.split, file):
            if name in allowed:
                user, nice, system, _idle, _wait, interrupts, soft_interrupts, stolen = map(int, fields[:8])
                ticks += user + nice + system + interrupts + soft_interrupts + (stolen if has_stolen else 0)
    return ticks / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Processor time of this process and of its reaped children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Watch:
    """From construction to end(): the share of this process's processors taken by other work and by the machine's host.

    All processes started meanwhile must have been reaped by then; otherwise they count as other work.
    """

    def __init__(self) -> None:
        self._began, self._busy, self._own = time.monotonic(), busy_seconds(has_stolen=True), _own_seconds()

    def end(self) -> tuple[float, float]:
        """Seconds, and the share of the machine that other work took of them. The share is below 0 by some ticks of the
        kernel's clock as often as above it, so the mean of many is correct."""
        seconds = time.monotonic() - self._began
        foreign = busy_seconds(has_stolen=True) - self._busy - (_own_seconds() - self._own)
        available = max(seconds, 1e-9) * len(os.sched_getaffinity(0))
        return seconds, foreign / available


class Runs:
    """The runs that count for a result: the share of the machine that other work took during them."""

    def __init__(self) -> None:
        self._seconds = self._foreign = 0.0

    def add(self, seconds: float, foreign_share: float) -> None:
        self._seconds += seconds
        self._foreign += seconds * foreign_share

    def include(self, others: "Runs") -> None:
        self._seconds += others._seconds
        self._foreign += others._foreign

    def watched(self, run: Callable[[], Result]) -> Result:
        """Runs the function; the run counts."""
        watch = Watch()
        result = run()
        self.add(*watch.end())
        return result

    @property
    def foreign_share(self) -> float:
        """The mean over the time of all runs; 0 without any."""
        return max(0.0, self._foreign / self._seconds) if self._seconds > 0 else 0.0


# The runs of this command: a command measures one benchmark.
RUNS = Runs()


def least_disturbed(attempt: Callable[[], Result], foreign: Callable[[Result], float], is_enough: Callable[[Result], bool]) -> Result:
    """Repeats until an attempt is good enough, at most four times: returns the attempt with the least other work."""
    runs = []
    while len(runs) < ATTEMPTS_MAX:
        runs.append(attempt())
        if is_enough(runs[-1]):
            break
    return min(runs, key=foreign)
