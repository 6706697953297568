"""The output: the progress line, the two tables, the result file."""

import sys
import time
from collections.abc import Callable, Iterable, Sequence

from .bars import OWN, Bar
from .experiments import Experiment
from .implementations import Implementation
from .runner import Runner, Samples, Series

LINE_SECONDS = 5  # between progress lines if they cannot be overwritten


class Progress:
    """One progress line: overwritten on a terminal, else printed now and then."""

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._done = 0
        self._is_terminal = sys.stderr.isatty()
        self._last = -float("inf")

    def step(self, text: str) -> None:
        self._done += 1
        line = f"{self._what} {self._done}/{self._total}: {text}"
        if self._is_terminal:
            print(f"\r\033[K{line[:110]}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._last >= LINE_SECONDS:
            print(line, file=sys.stderr, flush=True)
            self._last = time.monotonic()

    def end(self) -> None:
        if self._is_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def number(value: float | None) -> str:
    """About three figures, no exponent: 0.0042, 0.152, 15.2, 15 234."""
    if value is None:
        return "-"
    size = abs(value)
    digits = 4 if size < 0.1 else 3 if size < 1 else 2 if size < 10 else 1 if size < 1000 else 0
    return f"{value:,.{digits}f}".replace(",", " ")


def _rows_of(
    samples: Samples, experiment: Experiment, implementations: Sequence[Implementation]
) -> Iterable[tuple[str, str, Series, Series | None]]:
    """Name, implementation, its samples and Sorrel's, for every series of one experiment."""
    names = dict.fromkeys(name for (e, _, name) in samples.series if e == experiment.name)
    for name in names:
        for implementation in implementations:
            series = samples.get(experiment.name, implementation.name, name)
            if series is not None:
                yield name, implementation.name, series, samples.get(experiment.name, OWN, name)


def print_samples(runner: Runner, is_shown: Callable[[Experiment], bool] = lambda _: True) -> None:
    print("\nFloors and medians; ratio: the peer's value over Sorrel's, so above 1 Sorrel needs less.\n")
    head = f"{'experiment':<51}{'MPI':<10}{'floor':>10}{'median':>10} {'unit':<5}"
    print(f"{head}{'floor ratio':>12}{'median ratio':>14}{'samples':>9}")
    for experiment in filter(is_shown, runner.plan.experiments):
        shown = ""
        for name, mpi_name, series, own in _rows_of(runner.samples, experiment, runner.plan.implementations):
            label = experiment.title if shown == "" else f"  {name}" if name != shown else ""
            ratios = ("", "")
            if own is not None and mpi_name != OWN and own.floor > 0 and own.median > 0:
                ratios = (number(series.floor / own.floor), number(series.median / own.median))
            print(
                f"{label:<51}{mpi_name:<10}{number(series.floor):>10}{number(series.median):>10} {series.unit:<5}"
                f"{ratios[0]:>12}{ratios[1]:>14}{len(series.values):>9}"
            )
            shown = name


def print_bars(bars: Sequence[Bar], kind: str = "floors") -> None:
    """Prints the bars. After settle()."""
    verdicts = {True: "yes", False: "NO", None: "-"}
    print(f"\nBars: a value, its upper bound, and the value of the best peer; {kind}.\n")
    print(f"{'':<59}{'value':>9} {'unit':<9}{'bar':>9} {'ok':<11}{'peer':<9}{'value':>10}{'ratio':>8}  rule")
    for bar in bars:
        verdict = "not judged" if bar.doubt else verdicts[bar.ok]
        print(
            f"{bar.name:<59}{number(bar.value):>9} {bar.unit:<9}{number(bar.bar):>9} {verdict:<11}"
            f"{bar.peer:<9}{number(bar.peer_value):>10}{number(bar.ratio):>8}  {bar.rule}"
        )


def print_end(sentence: str) -> None:
    """The last line of a command: settle()'s sentence, if there is one."""
    if sentence:
        print(f"\n{sentence}")


def print_failures(runner: Runner, missing: Sequence[str]) -> None:
    if missing:
        print(f"\nMissing on this machine, so their rows have no figures: {', '.join(missing)}")
    if runner.troubles:
        print("\nFailed:")
    for error in runner.troubles:
        print(f"  {error.implementation}, {error.what}: {error.message}")


SAME_SHOWN = 3  # failures with the same message


def print_gaps(missing: Iterable[str], troubles: Iterable[str]) -> None:
    for what in missing:
        print(f"Missing: {what}")
    # WHERE: MESSAGE (COMMAND)
    of_message: dict[str, list[str]] = {}
    for what in troubles:
        of_message.setdefault(what.partition(": ")[2].partition(" (")[0], []).append(what)
    for same in of_message.values():
        for what in same[:SAME_SHOWN]:
            print(f"Failed: {what}")
        if len(same) > SAME_SHOWN:
            print(f"Failed in the same way: {len(same) - SAME_SHOWN} more")


def as_json(runner: Runner, bars: Sequence[Bar], machine: dict, missing: Sequence[str]) -> dict:
    return {
        "benchmark": "probes",
        "machine": machine,
        "options": {
            "rounds": runner.plan.rounds,
            "series_seconds": runner.plan.series_seconds,
            "cpus": list(runner.plan.cpus),
        },
        "implementations": [{"name": i.name, "version": i.version} for i in runner.plan.implementations],
        "missing": list(missing),
        "samples": [
            {"experiment": experiment, "implementation": mpi_name, "series": name, "unit": series.unit,
             "floor": series.floor, "median": series.median, "values": series.values}
            for (experiment, mpi_name, name), series in runner.samples.series.items()
        ],
        "troubles": [vars(error) for error in runner.troubles],
        "bars": [bar.as_json() for bar in bars],
    }  # fmt: skip
