"""`sorrel bench openmp`: the cost of OpenMP's constructs in programs that are not recompiled, with the compiler's
library and with Sorrel's; ranks with OpenMP inside; and four fits of scikit-learn at once."""

import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from . import machine, report
from .bars import OWN, Bar, settle
from .disturbance import RUNS

PARTS = ("overheads", "hybrid", "fits")
PEER = "libgomp"
DEPENDENT_TASK_NS_MAX = 120.0
HYBRID_MAX = 1.05
FITS_MAX = 1.05
FIT_JOBS = 4
FIT_WORDS = ["3", "20000"]
INSTALL_SKLEARN = "python3 -m venv v && v/bin/pip install scikit-learn, then PYTHON=v/bin/python sorrel bench openmp"


def _sources() -> pathlib.Path:
    here = pathlib.Path(__file__).resolve().parents
    for folder in (here[2] / "bench/openmp", here[1] / "bench/openmp"):
        if folder.is_dir():
            return folder
    raise SystemExit("sorrel: bench: the sources of bench/openmp were not found")


def _environment(threads: int) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "MP_", "SORREL_", "GOMP_"))}
    return kept | {"OMP_NUM_THREADS": str(threads)}


def _run(words: list[str], threads: int) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, env=_environment(threads)).stdout


def read_overheads(text: str) -> dict[str, float]:
    """Parses lines of a name and nanoseconds."""
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines() if line.strip()}


class Programs:
    def __init__(self, command: str, folder: pathlib.Path) -> None:
        self.missing: list[str] = []
        self.troubles: list[str] = []
        self._command = command
        self.overheads = self._compile(folder / "overheads", ["gcc"], "overheads.c")
        self.hybrid = self._compile(folder / "hybrid", [command, "cc"], "hybrid.c")
        self.has_fits = importlib.util.find_spec("sklearn") is not None
        if not self.has_fits:
            self.missing.append(f"scikit-learn ({INSTALL_SKLEARN})")

    def _compile(self, program: pathlib.Path, compiler: list[str], source: str) -> str | None:
        words = [*compiler, "-O2", "-fopenmp", str(_sources() / source), "-o", str(program)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            self.missing.append("gcc")
            return None
        if done.returncode == 0:
            return str(program)
        self.troubles.append(f"{source}: {(done.stderr.strip().splitlines() or ['does not compile'])[-1][:200]}")
        return None

    def measure_overheads(self, threads: int) -> dict[str, dict[str, float]]:
        return {
            PEER: read_overheads(_run([self.overheads, str(threads)], threads)),
            OWN: read_overheads(_run([self._command, "run", "--omp", self.overheads, str(threads)], threads)),
        }

    def measure_hybrid(self, cores: int) -> tuple[float, float]:
        """Seconds with a rank of one thread for each core, and with eight ranks of two threads for each core. Each is
        run twice, in an order that cancels changes of the machine's speed."""
        def seconds(ranks: int, threads: int) -> float:
            words = [self._command, "run", "--omp", "-n", str(ranks), self.hybrid, "1024", "300"]
            return float(_run(words, threads).split()[0])

        first = seconds(cores, 1)
        mixed = (seconds(8 * cores, 2) + seconds(8 * cores, 2)) / 2
        return (first + seconds(cores, 1)) / 2, mixed

    def measure_fits(self, cores: int) -> tuple[float, float]:
        """Seconds until the last of the jobs ends: with libgomp and one thread each, and under Sorrel with a thread for
        each core."""
        fit = [sys.executable, str(_sources() / "fit.py"), *FIT_WORDS]
        plain = self._last_of(fit, 1)
        own = self._last_of([self._command, "run", "--omp", *fit], cores)
        if own[1] != plain[1]:
            self._report_failure(f"fits: {own[1]} under Sorrel, {plain[1]} without")
        if not own[2].startswith("/"):
            self._report_failure(f"fits: Sorrel's library was not loaded")
        return plain[0], own[0]

    def _last_of(self, words: list[str], threads: int) -> tuple[float, str, str]:
        jobs = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment(threads))
                for _ in range(FIT_JOBS)]  # fmt: skip
        for job in jobs:
            if job.stdout.readline().strip() != "ready":
                raise SystemExit(f"sorrel: bench: {' '.join(words)} does not start")
        for job in jobs:
            job.stdin.write("go\n")
            job.stdin.flush()
        results = [job.communicate()[0].split() for job in jobs]
        return max(float(result[0]) for result in results), results[0][1], results[0][2]

    def _report_failure(self, text: str) -> None:
        if text not in self.troubles:
            self.troubles.append(text)


def judge(
    medians: dict[str, dict[str, float]], hybrid: tuple[float, float] | None, fits: tuple[float, float] | None
) -> list[Bar]:
    own, peer = medians.get(OWN, {}), medians.get(PEER, {})
    bars = [Bar(name, own.get(name), "ns", PEER, value, value, f"<= 1 x {PEER}") for name, value in peer.items()]
    if "dependent-chain" in own:
        bars.append(Bar("a dependent task", own["dependent-chain"], "ns", PEER, peer["dependent-chain"],
                        DEPENDENT_TASK_NS_MAX, f"<= {DEPENDENT_TASK_NS_MAX:g} ns"))  # fmt: skip
    if hybrid is not None:
        plain, mixed = hybrid
        bars.append(Bar("8 ranks x 2 threads a core", mixed, "s", "1 rank x 1 thread a core", plain, HYBRID_MAX * plain,
                        f"<= {HYBRID_MAX:g} x that"))  # fmt: skip
    if fits is not None:
        plain, shared = fits
        bars.append(Bar(f"{FIT_JOBS} scikit-learn fits at once", shared, "s", "1 thread each", plain, FITS_MAX * plain,
                        f"<= {FITS_MAX:g} x that"))  # fmt: skip
    return bars


def _medians(pairs: list[tuple[float, float]]) -> tuple[float, float] | None:
    return (statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)) if pairs else None


def bars_of(
    samples: dict[str, dict[str, list[float]]], hybrids: list[tuple[float, float]], fits: list[tuple[float, float]]
) -> list[Bar]:
    medians = {name: {c: statistics.median(times) for c, times in found.items()} for name, found in samples.items()}
    return judge(medians, _medians(hybrids), _medians(fits))


def main(arguments) -> int:
    facts = machine.describe()
    rounds = arguments.rounds or (3 if arguments.quick else 9)
    parts = [part for part in PARTS if not arguments.only or part in arguments.only]
    cores = len(os.sched_getaffinity(0))
    samples: dict[str, dict[str, list[float]]] = {PEER: {}, OWN: {}}
    hybrids: list[tuple[float, float]] = []
    fits: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(prefix="sorrel-bench-") as folder:
        programs = Programs(arguments.command, pathlib.Path(folder))
        progress = report.Progress(rounds, "round")
        for _ in range(rounds):
            progress.step(", ".join(parts))
            if programs.overheads and "overheads" in parts:
                for name, times in RUNS.watched(lambda: programs.measure_overheads(2)).items():
                    for construct, ns in times.items():
                        samples[name].setdefault(construct, []).append(ns)
            if programs.hybrid and "hybrid" in parts:
                hybrids.append(RUNS.watched(lambda: programs.measure_hybrid(cores)))
            if programs.has_fits and "fits" in parts:
                fits.append(RUNS.watched(lambda: programs.measure_fits(cores)))
        progress.end()
    bars = bars_of(samples, hybrids, fits)
    halves = [
        bars_of({n: {c: t[w::2] for c, t in found.items()} for n, found in samples.items()}, hybrids[w::2], fits[w::2])
        for w in (0, 1) if w < rounds
    ]  # fmt: skip
    doubts = settle(bars, halves, RUNS.foreign_share)
    print(f"OpenMP's constructs, 2 threads, {cores} CPUs, ns each; medians of {rounds} rounds, each a median of 21:")
    report.print_bars(bars)
    report.print_gaps(programs.missing, programs.troubles)
    report.print_end(doubts)
    if arguments.json is not None:
        facts |= machine.after_runs()
        result = {"machine": facts, "options": {"quick": arguments.quick, "rounds": rounds}, "missing": programs.missing,
                  "troubles": programs.troubles, "samples": samples, "hybrid_s": hybrids, "fits_s": fits,
                  "bars": [bar.as_json() for bar in bars]}  # fmt: skip
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if programs.troubles else 0
