"""The experiments: each is one probe with its arguments, ranks and workers."""

import dataclasses
import fnmatch

from .implementations import Implementation

# Limit for an MPI whose ranks are processes: beyond it the experiment measures the kernel.
PROCESS_RANKS_MAX = 64


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    probe: str
    ranks: int
    workers: int
    arguments: tuple[str, ...] = ()
    # Starts of the program per round; more for quick starts that give one sample only.
    starts: int = 1
    # Only with Sorrel; or only with MPIs whose ranks are threads.
    is_own_only: bool = False
    needs_light_ranks: bool = False

    def concerns(self, implementation: Implementation) -> bool:
        if implementation.is_sorrel:
            return True
        if self.is_own_only:
            return False
        if implementation.has_light_ranks:
            return True
        # Processes that take turns on one core, or need minutes to start, give no useful result.
        return not self.needs_light_ranks and self.ranks <= PROCESS_RANKS_MAX


def _on(workers: int) -> str:
    return "one worker" if workers == 1 else f"{workers} workers"


def _two_ranks(name: str, title: str, probe: str, *arguments: object) -> list[Experiment]:
    """Both ranks on one worker, and each on its own worker."""
    return [
        Experiment(
            name=f"{name}_{'same_worker' if workers == 1 else 'two_workers'}",
            title=f"{title}, {'same worker' if workers == 1 else 'two workers'}",
            probe=probe,
            ranks=2,
            workers=workers,
            arguments=tuple(str(workers if a == "WORKERS" else a) for a in arguments),
            needs_light_ranks=workers == 1,
        )
        for workers in (1, 2)
    ]


def _kneighbor(bytes_: int, title: str) -> Experiment:
    return Experiment(
        f"kneighbor_{bytes_}", f"kNeighbor, 8 ranks, K=3, {title}", "kneighbor", 8, 2, (str(bytes_), "3")
    )


def _cg2d(ranks: int) -> Experiment:
    return Experiment(
        f"cg2d_{ranks}",
        f"cg2d 1000x1000, {ranks} rank{'s' if ranks > 1 else ''}, {_on(1)}",
        "cg2d",
        ranks,
        1,
        ("--grid", "1000", "--steps", "100"),
        is_own_only=ranks > 1024,
        needs_light_ranks=True,
    )


def _startup(ranks: int) -> Experiment:
    return Experiment(
        f"startup_{ranks}", f"start-up and memory, {ranks} rank{'s' if ranks > 1 else ''}", "startup", ranks, 2,
        starts=1 if ranks > 1024 else 3,
    )  # fmt: skip


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment("yield_8", "yield, 8 ranks, one worker", "yield", 8, 1, needs_light_ranks=True),
    Experiment("allocate", "malloc and free of one block, 1 rank", "allocate", 1, 1),
    *_two_ranks("pingpong_8", "8 B half round trip", "pingpong", 8, "WORKERS"),
    *_two_ranks("pingpong_1Mi", "1 MiB half round trip", "pingpong", 1 << 20, "WORKERS"),
    *_two_ranks("message_rate", "message rate, 8 B, window 32", "message_rate", 8, 32),
    *_two_ranks("waitall_64", "MPI_Waitall of 64 messages of 8 B", "message_rate", 8, 64),
    _kneighbor(64, "64 B"),
    _kneighbor(4096, "4 KiB"),
    _kneighbor(16384, "16 KiB"),
    *_two_ranks("match_4096", "matching at depth 4096, reversed", "match", 4096),
    Experiment("allreduce_512", "allreduce of one double, 512 ranks, one worker", "allreduce", 512, 1,
               needs_light_ranks=True),  # fmt: skip
    Experiment("allreduce_16", "allreduce of one double, 16 ranks, 2 workers", "allreduce", 16, 2),
    *(_cg2d(ranks) for ranks in (1, 64, 256, 4096)),
    Experiment("cg_loop_16", "CG-like loop, 16 ranks, 2 workers", "cg_loop", 16, 2),
    Experiment("cg_loop_64", "CG-like loop, 64 ranks, 2 workers", "cg_loop", 64, 2),
    *(_startup(ranks) for ranks in (1, 64, 1024, 4096)),
)


def select(patterns: list[str]) -> list[Experiment]:
    """Experiments whose names match one of the shell patterns; all without patterns."""
    return [
        experiment
        for experiment in EXPERIMENTS
        if not patterns or any(fnmatch.fnmatch(experiment.name, pattern) for pattern in patterns)
    ]
