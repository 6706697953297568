"""The sweep of `sorrel bench mpi --only sizes`: every operation at every size, and the jumps between neighbouring sizes.

A jump is a doubling of the bytes that takes far more, or far less, than the machine's best copy of twice the bytes does.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from .report import number
from .runner import Samples

PART = "sizes"
PROBE = "sizes"
OPERATIONS = ("bcast", "allgather", "alltoall", "allreduce", "reduce", "gather", "sendrecv", "put", "strided")
# Operations that write as many blocks as there are ranks, on each rank.
OF_ALL_BLOCKS = ("allgather", "alltoall")
# Operations that compute, or copy in pieces: not compared with one copy.
NO_COPY = ("allreduce", "reduce", "strided")
LARGEST, LARGEST_QUICK = 4 << 20, 1 << 16
# Factors: up, of the growth that is expected (twice the time, or what the copy's time grows by); down, of the time before.
JUMP_UP, JUMP_DOWN = 1.5, 0.75
# Ranks and workers: one rank a core, and ranks that share a core.
SHAPES = ((2, 2), (8, 1))


def name_of(ranks: int, workers: int) -> str:
    return f"{PART}_{ranks}_{workers}"


def title_of(ranks: int, workers: int) -> str:
    return f"{ranks} ranks, {workers} worker" + ("s" if workers > 1 else "")


def times_of(samples: Samples, experiment: str, implementation: str, operation: str) -> dict[int, float]:
    """Floors by size."""
    prefix = f"{operation}_"
    return {
        int(series.removeprefix(prefix)): found.floor
        for (e, i, series), found in samples.series.items()
        if (e, i) == (experiment, implementation) and series.startswith(prefix)
    }


@dataclasses.dataclass(frozen=True)
class Jump:
    """Between a size and the next one."""

    bytes: int
    larger: int
    growth: float
    copy_growth: float


def jumps(times: dict[int, float], copies: dict[int, float]) -> list[Jump]:
    sizes = sorted(times.keys() & copies.keys())
    found = []
    for size, larger in zip(sizes, sizes[1:], strict=False):
        growth, copy_growth = times[larger] / times[size], copies[larger] / copies[size]
        if growth > JUMP_UP * max(larger / size, copy_growth) or growth < JUMP_DOWN:
            found.append(Jump(size, larger, growth, copy_growth))
    return found


def lines_of(samples: Samples, ranks: int, workers: int, implementations: Sequence[str]) -> Iterator[str]:
    """The table of a shape: times of the first implementation, then the jumps of all."""
    experiment = name_of(ranks, workers)
    for implementation in implementations:
        copies = times_of(samples, experiment, implementation, "copy")
        if not copies:
            continue
        found = {operation: times_of(samples, experiment, implementation, operation) for operation in OPERATIONS}
        marked = {operation: jumps(times, copies) for operation, times in found.items()}
        yield ""
        yield f"{implementation}, {title_of(ranks, workers)}: us, ! behind a jump; copy: the best copy of the machine, on every rank"
        yield f"{'bytes':>8}" + "".join(f"{operation:>12}" for operation in ("copy", *OPERATIONS))
        for size in sorted(copies):
            marks = {operation: "!" if any(jump.larger == size for jump in marked[operation]) else " " for operation in OPERATIONS}
            cells = (f"{number(found[operation].get(size)):>11}{marks[operation]}" for operation in OPERATIONS)
            yield f"{size:>8}{number(copies[size]):>11} " + "".join(cells)
        for operation in OPERATIONS:
            for jump in marked[operation]:
                yield (
                    f"jump: {implementation}, {operation}, {jump.bytes} to {jump.larger} B: {jump.growth:.2f} times as long; "
                    f"the copy {jump.copy_growth:.2f}"
                )
        yield from shares(found, copies, ranks)


def shares(found: dict[str, dict[int, float]], copies: dict[int, float], ranks: int) -> Iterator[str]:
    """From 4 to 128 KiB: bytes a second over those of the best copy, for operations that copy whole blocks."""
    for operation in OPERATIONS:
        if operation in NO_COPY:
            continue
        blocks = ranks if operation in OF_ALL_BLOCKS else 1
        of_size = {size: blocks * copies[size] / time for size, time in found[operation].items() if 4096 <= size <= 131072}
        if of_size:
            cells = "  ".join(f"{size >> 10} KiB {share:.2f}" for size, share in sorted(of_size.items()))
            yield f"of the best copy's speed: {operation:<10} {cells}"
