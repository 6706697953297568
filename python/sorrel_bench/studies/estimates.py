"""Medians with bootstrap intervals, and what they say about a claim."""

import dataclasses
import functools
from collections.abc import Mapping

import numpy
from scipy import stats

CONFIDENCE = 0.90
# The interval between the least and the largest of five values contains the median of their source in 94 % of all cases: with fewer
# values there is no interval of 90 %.
ROUNDS_MIN = 5
RESAMPLES = 2000
OTHER_WORK_MAX = 0.06  # of the machine, as for the bars of all benchmarks


@dataclasses.dataclass(frozen=True)
class Estimate:
    """The median of the rounds, its interval if there are enough of them, and the share of the machine that other work took."""

    median: float
    low: float | None
    high: float | None
    rounds: int
    other_work: float = 0.0
    bound: float | None = None  # the least value that is physically possible

    @property
    def is_below_bound(self) -> bool:
        return self.bound is not None and self.median < self.bound

    def with_bound(self, bound: float | None) -> "Estimate":
        return dataclasses.replace(self, bound=bound)

    def scaled(self, factor: float) -> "Estimate":
        def times(value: float | None) -> float | None:
            return None if value is None else factor * value

        ends = sorted(times(end) for end in (self.low, self.high)) if self.low is not None else (None, None)
        return dataclasses.replace(self, median=factor * self.median, low=ends[0], high=ends[1], bound=times(self.bound))

    def plus(self, offset: float) -> "Estimate":
        low, high = (None if end is None else end + offset for end in (self.low, self.high))
        return dataclasses.replace(self, median=self.median + offset, low=low, high=high, bound=None)

    def as_json(self) -> dict:
        return {**dataclasses.asdict(self), "is_below_bound": self.is_below_bound}


@functools.cache
def _interval(values: tuple[float, ...]) -> tuple[float, float]:
    """The percentile interval of the bootstrap; the same values always give the same interval. Tables, figures and claims ask for the
    same one."""
    data = numpy.asarray(values, dtype=float)
    if numpy.all(data == data[0]):
        return values[0], values[0]
    found = stats.bootstrap((data,), numpy.median, confidence_level=CONFIDENCE, n_resamples=RESAMPLES, method="percentile",
                            random_state=numpy.random.default_rng(1))  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def estimate(values: list[float], other_work: float = 0.0) -> Estimate | None:
    if not values:
        return None
    low, high = _interval(tuple(values)) if len(values) >= ROUNDS_MIN else (None, None)
    return Estimate(float(numpy.median(values)), low, high, len(values), other_work)


def ratio(values: Mapping[int, float], bases: Mapping[int, float], other_work: float = 0.0) -> Estimate | None:
    """The ratio of two values by rounds: both were measured in the same minutes."""
    return estimate([values[r] / bases[r] for r in sorted(values) if bases.get(r)], other_work)


HOLDS, FAILS, NOT_JUDGED = "holds here", "does not hold here", "not judged"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A statement of a study, and the value that decides about it: it holds if the value is from `least` to `most`."""

    text: str
    source: str  # authors, year, and the place
    published: str  # the number of the text, or ""
    quantity: str  # what the value is
    value: Estimate | None
    least: float | None = None
    most: float | None = None
    reason: str = ""  # why there is no value

    @property
    def rule(self) -> str:
        words = [f"at least {self.least:g}" if self.least is not None else "", f"at most {self.most:g}" if self.most is not None else ""]
        return ", ".join(filter(None, words))

    @property
    def verdict(self) -> tuple[str, str]:
        """The verdict and its reason."""
        value = self.value
        if value is None:
            return NOT_JUDGED, self.reason or "no measurement"
        if value.other_work > OTHER_WORK_MAX:
            return NOT_JUDGED, f"other work took {100 * value.other_work:.0f} % of the machine"
        if value.is_below_bound:
            return NOT_JUDGED, f"the value is below the physical bound {value.bound:.3g}"
        if value.low is None or value.high is None:
            return NOT_JUDGED, f"{value.rounds} rounds give no interval; {ROUNDS_MIN} are needed"
        told = f"{self.quantity} {value.median:.3g}, interval {value.low:.3g} to {value.high:.3g}; {self.rule}"
        is_above = self.least is None or value.low >= self.least
        is_below = self.most is None or value.high <= self.most
        if is_above and is_below:
            return HOLDS, told
        if (self.least is not None and value.high < self.least) or (self.most is not None and value.low > self.most):
            return FAILS, told
        return NOT_JUDGED, f"the interval crosses the bar: {told}"

    def as_json(self) -> dict:
        verdict, reason = self.verdict
        told = {name: getattr(self, name) for name in ("text", "source", "published", "quantity", "least", "most")}
        return {**told, "value": self.value.as_json() if self.value else None, "verdict": verdict, "reason": reason}
