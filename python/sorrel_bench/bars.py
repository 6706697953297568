"""The promised values, compared with the samples: one bar for each, `ok` if `value` is at most `bar`.

Values are floors; a second bar is about the median, because a floor hides what most operations take. `value`, `peer_value` and `bar` have the same unit; `ratio` is value over peer's. A bar that is set
by a peer has no verdict without that peer; a bar that is a number has one. settle() decides which bars are judged, for
every benchmark.
"""

import dataclasses
import enum
from collections.abc import Callable, Sequence

from .implementations import TRANSLATED
from .runner import Samples

OWN = "Sorrel"
# If other work took more of the machine during the runs, times are not judged.
FOREIGN_SHARE_MAX = 0.06
# A median over its floor.
STEADY = 1.5


class Doubt(enum.Enum):
    """Why a bar is not judged."""

    BUSY = "other work"
    SPREAD = "spread"


@dataclasses.dataclass
class Bar:
    name: str
    value: float | None
    unit: str
    peer: str
    peer_value: float | None
    bar: float | None
    rule: str
    is_timed: bool = True  # False: other work does not change the value
    doubt: Doubt | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.peer_value if self.value is not None and self.peer_value else None

    @property
    def is_reached(self) -> bool | None:
        return self.value <= self.bar if self.value is not None and self.bar is not None else None

    @property
    def ok(self) -> bool | None:
        """The verdict; None without one."""
        return None if self.doubt else self.is_reached

    def as_json(self) -> dict:
        """The bar as JSON; without `ok` if it is not judged."""
        told = {name: getattr(self, name) for name in ("name", "value", "unit", "peer", "peer_value", "ratio", "bar", "rule")}
        return {**told, **({"not_judged": self.doubt.value} if self.doubt else {"ok": self.ok})}


def settle(bars: Sequence[Bar], halves: Sequence[Sequence[Bar]], foreign_share: float) -> str:
    """Decides which bars are judged; returns a sentence about those that are not, or "".

    `halves` are the same bars by the even and by the odd rounds alone. A timed bar is not judged if other work shared
    the machine with the runs, or if the two halves, or one half and all rounds, disagree: then the spread is wider than
    the distance to the bar.
    """
    verdicts: dict[str, set[bool | None]] = {}
    for bar in (bar for some in (bars, *halves) for bar in some):
        verdicts.setdefault(bar.name, set()).add(bar.is_reached)
    for bar in bars:
        if bar.is_timed and bar.is_reached is not None:
            is_mixed = {True, False} <= verdicts[bar.name]
            bar.doubt = Doubt.BUSY if foreign_share > FOREIGN_SHARE_MAX else Doubt.SPREAD if is_mixed else None
    doubts = [bar.doubt for bar in bars if bar.doubt]
    if Doubt.BUSY in doubts:
        return (f"Not judged: {len(doubts)} of {len(bars)} bars, because other work took {100 * foreign_share:.0f} % of the "
                f"machine during the runs (limit {100 * FOREIGN_SHARE_MAX:.0f} %).")  # fmt: skip
    if doubts:
        return f"Not judged: {len(doubts)} of {len(bars)} bars, because the halves of the rounds disagree about them."
    return ""


class Judge:
    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def floor(self, experiment: str, implementation: str, series: str) -> float | None:
        found = self._samples.get(experiment, implementation, series)
        return found.floor if found else None

    def median(self, experiment: str, implementation: str, series: str) -> float | None:
        found = self._samples.get(experiment, implementation, series)
        return found.median if found else None

    def fixed(self, name: str, experiment: str, series: str, unit: str, peer: str, most: float) -> list[Bar]:
        """At most a number, whatever the peer's value; and a median not far above the floor."""
        value, peer_value = (self.floor(experiment, who, series) for who in (OWN, peer))
        bar = Bar(name, value, unit, peer, peer_value, most, f"<= {most:g} {unit}")
        own, others = (self.median(experiment, who, series) for who in (OWN, peer))
        steady = None if value is None else STEADY * value
        return [bar, Bar(f"{name}, median", own, unit, peer, others, steady, f"<= {STEADY:g} x its floor")]

    def against(self, name: str, experiment: str, series: str, unit: str, peer: str, factor: float) -> list[Bar]:
        """At most a multiple of a peer's value, floors and medians."""
        bars = []
        for title, of in ((name, self.floor), (f"{name}, median", self.median)):
            value, peer_value = (of(experiment, who, series) for who in (OWN, peer))
            most = None if peer_value is None else factor * peer_value
            bars.append(Bar(title, value, unit, peer, peer_value, most, f"<= {factor:.3g} x {peer}"))
        return bars

    def against_copy(self, name: str, experiment: str) -> list[Bar]:
        bars = []
        for title, of in ((name, self.floor), (f"{name}, median", self.median)):
            value, copy = (of(experiment, OWN, series) for series in ("half_round_trip", "best_copy"))
            most = None if copy is None else 1.1 * copy
            bars.append(Bar(title, value, "ns", "best copy", copy, most, "<= 1.1 x the best copy"))
        return bars

    def translated(self, name: str) -> list[Bar]:
        """Programs of another MPI beside those of the standard interface. The time of a message of a window has 1/64 of the MPI_Waitall."""
        rows = (("8 B half round trip, same worker", "pingpong_8_same_worker", "half_round_trip", "ns", 1, 10),
                ("allreduce of one double, 16 ranks, 2 workers", "allreduce_16", "allreduce", "us", 1.02, 0),
                ("MPI_Waitall of 64, a message, same worker", "waitall_64_same_worker", "message", "ns", 1.05, 0),
                ("MPI_Waitall of 64, a message, two workers", "waitall_64_two_workers", "message", "ns", 1.05, 0))  # fmt: skip
        bars = []
        for title, experiment, series, unit, factor, more in rows:
            value, own = self.floor(experiment, name, series), self.floor(experiment, OWN, series)
            most = None if own is None else factor * own + more
            bars.append(Bar(f"{name}: {title}", value, unit, OWN, own, most, f"<= {OWN} + {more} {unit}" if more else f"<= {factor:g} x {OWN}"))
        return [bar for bar in bars if bar.value is not None]

    def quotient(self, name: str, unit: str, of: Callable[[str], float | None], most: float, is_timed: bool = True) -> Bar:
        """A ratio within one implementation, and AMPI's for comparison."""
        return Bar(name, of(OWN), unit, "AMPI", of("AMPI"), most, f"<= {most:g} {unit}", is_timed)

    def cg2d_over_one_rank(self, ranks: int) -> Callable[[str], float | None]:
        def of(implementation: str) -> float | None:
            many = self.floor(f"cg2d_{ranks}", implementation, "step")
            one = self.floor("cg2d_1", implementation, "step")
            return many / one if many and one else None

        return of

    def cg_loop_over_ideal(self, ranks: int) -> Callable[[str], float | None]:
        def of(implementation: str) -> float | None:
            iteration = self.floor(f"cg_loop_{ranks}", implementation, "iteration")
            compute = self.floor(f"cg_loop_{ranks}", implementation, "compute")
            return iteration / (compute * ranks / 2) if iteration and compute else None

        return of

    def growth_per_rank(self, series: str) -> Callable[[str], float | None]:
        """KiB that each rank adds beyond the first."""

        def of(implementation: str) -> float | None:
            many = self.floor("startup_1024", implementation, series)
            one = self.floor("startup_1", implementation, series)
            return (many - one) / 1023 if many is not None and one is not None else None

        return of


def judge(samples: Samples) -> list[Bar]:
    j = Judge(samples)
    kneighbor = "kNeighbor in MPI, 8 ranks, K=3, 2 workers"
    matching = "matching at depth 4096, reversed"
    loop = "CG-like loop over its ideal, 2 workers"
    start = "start-up to the first collective"
    return [
        *j.fixed("yield, rank to rank, same worker, 8 ranks", "yield_8", "yield", "ns", "AMPI", 15),
        *j.fixed("8 B half round trip, same worker", "pingpong_8_same_worker", "half_round_trip", "ns", "AMPI", 45),
        *j.against("8 B half round trip, two workers", "pingpong_8_two_workers", "half_round_trip", "ns", "Open MPI", 1),
        # Its ranks are processes, with the C library's heap.
        *(
            bar
            for title, series, factor in (("64 B", "64", 1.0), ("4 KiB", "4096", 1.0), ("1 MiB", "1048576", 0.5))
            for bar in j.against(f"malloc and free of {title} in a rank", "allocate", series, "ns", "Open MPI", factor)
        ),
        *j.against_copy("1 MiB half round trip, same worker", "pingpong_1Mi_same_worker"),
        *j.against_copy("1 MiB half round trip, two workers", "pingpong_1Mi_two_workers"),
        *j.fixed("message rate, 8 B, window 32, two workers", "message_rate_two_workers", "message", "ns", "Open MPI", 30),
        *j.against(f"{kneighbor}: 64 B", "kneighbor_64", "iteration", "us", "AMPI", 1 / 3),
        *j.against(f"{kneighbor}: 4 KiB", "kneighbor_4096", "iteration", "us", "AMPI", 1 / 2),
        *j.against(f"{kneighbor}: 16 KiB", "kneighbor_16384", "iteration", "us", "AMPI", 0.6),
        *(
            bar
            for queue in ("posted", "unexpected")
            for place in ("same worker", "two workers")
            for bar in j.fixed(f"{matching}, {queue}, {place}", f"match_4096_{place.replace(' ', '_')}", queue, "ns", "AMPI", 100)
        ),
        *j.fixed("allreduce of one double, 512 ranks, 1 worker", "allreduce_512", "allreduce", "us", "AMPI", 20),
        *(
            j.quotient(f"cg2d 1000x1000, 1 worker: {ranks} ranks against 1 rank", "x 1 rank", j.cg2d_over_one_rank(ranks), most)
            for ranks, most in ((64, 1.03), (256, 1.10), (4096, 2.5))
        ),
        j.quotient(f"{loop}: 16 ranks", "x ideal", j.cg_loop_over_ideal(16), 1.08),
        j.quotient(f"{loop}: 64 ranks", "x ideal", j.cg_loop_over_ideal(64), 1.10),
        *j.fixed(f"{start}: 64 ranks", "startup_64", "first_collective", "ms", "AMPI", 12),
        *j.fixed(f"{start}: 4096 ranks", "startup_4096", "first_collective", "ms", "AMPI", 400),
        j.quotient("memory per rank beyond the program's own", "KiB", j.growth_per_rank("other_memory"), 12, is_timed=False),
        j.quotient("image copy per rank", "KiB", j.growth_per_rank("image_memory"), 40, is_timed=False),
        *(bar for name in TRANSLATED.values() for bar in j.translated(name)),
    ]  # fmt: skip
