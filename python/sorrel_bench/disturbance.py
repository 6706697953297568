"""What others take of the machine while something is measured, and measurements done again for it."""

import os
from collections.abc import Callable
from typing import TypeVar

Run = TypeVar("Run")
ATTEMPTS_MAX = 4


def busy_seconds(has_stolen: bool) -> float:
    """Of all processors since the machine's start, niced work included; also what its host has given to others, if asked."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    user, nice, system, _idle, _wait, interrupts, soft_interrupts, stolen, *_ = fields
    ticks = user + nice + system + interrupts + soft_interrupts + (stolen if has_stolen else 0)
    return ticks / os.sysconf("SC_CLK_TCK")


def least_disturbed(attempt: Callable[[], Run], foreign: Callable[[Run], float], is_enough: Callable[[Run], bool]) -> Run:
    """Attempts until one is enough, four at most: the one of which others took the least share of the machine."""
    runs = []
    while len(runs) < ATTEMPTS_MAX:
        runs.append(attempt())
        if is_enough(runs[-1]):
            break
    return min(runs, key=foreign)
