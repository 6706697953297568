"""The conjugate gradients of `sorrel bench virtual`: apps/cg2d with 1 to 4096 ranks, and the same blocks in a plain loop.

Also counts what the study of AMPI estimates: receives of a step, how many of them have to wait, and how often control goes
to another rank (bench/virtual/count_switches.c).
"""

from collections.abc import Sequence

from .bars import OWN, Bar
from .pictures import Chart, Line, Mark, Point
from .report import number
from .virtual_runs import ROOT, Build, Case, Results, table
from .virtual_setting import SOURCES, Setting, on, worker_counts

PART, COUNT = "cg", "count"
LOOP = "plain loop"
RANKS = (1, 4, 16, 64, 100, 256, 1024, 4096)
QUICK_RANKS = (1, 64, 1024)
GRID = "1000"
# Ranks that are processes and outnumber the cores this many times wait for time slices of the system.
PROCESSES_PER_CORE_MAX = 4
# From the study: "three context-switches for each partition" in a step, "less than half a microsecond" each.
STUDY_SWITCHES, STUDY_SWITCH_US = 3, 0.5
STUDY_RANKS, STUDY_RATIO = 100, 1.10
STUDY_NOTE = (
    "Published study (AMPI on one processor): 100 ranks cost 10 % on a Pentium 4; on an Athlon and a Pentium III Xeon they were "
    '"slightly faster", without a number.'
)
BARS_OVER_LOOP = {64: 1.03, 100: 1.03, 256: 1.05, 4096: 1.5}
BAR_OVER_ONE_RANK = 1.10


def ranks_of(setting: Setting) -> Sequence[int]:
    return QUICK_RANKS if setting.is_quick else RANKS


def row(ranks: int, workers: int) -> str:
    return f"{ranks} rank{'s' if ranks > 1 else ''}, {on(workers)}"


def builds(setting: Setting) -> list[Build]:
    cg2d, flags = ROOT / "apps/cg2d/cg2d.c", (f"-I{ROOT / 'apps/cg2d'}",)
    found = [Build(f"cg2d {i.name}", PART, i.compiler, (cg2d,), flags) for i in setting.implementations]
    found.append(Build(LOOP, PART, ("cc",), (SOURCES / "cg2d_loop.c",), flags))
    own = setting.with_name(OWN)
    found.append(Build("cg2d counted", COUNT, own.compiler, (cg2d, SOURCES / "count_switches.c"), flags))
    return found


def cases(setting: Setting) -> list[Case]:
    steps = "10" if setting.is_quick else "40"
    found = []
    for ranks in ranks_of(setting):
        for workers in worker_counts(setting):
            if workers == 1 and (path := setting.programs.path(LOOP)):
                found.append(Case(PART, row(ranks, 1), LOOP, (path, str(ranks), GRID, steps), 1))
            for implementation in setting.implementations:
                is_light = implementation.has_light_ranks
                if not is_light and (ranks < workers or ranks > PROCESSES_PER_CORE_MAX * workers or workers < setting.workers):
                    continue
                arguments = ("--grid", GRID, "--steps", steps)
                job = (f"cg2d {implementation.name}", arguments, ranks, workers)
                found += setting.case(PART, row(ranks, workers), implementation, job)
    return found


def count_cases(setting: Setting) -> list[Case]:
    own, program = setting.with_name(OWN), setting.programs.path("cg2d counted")
    if program is None:
        return []
    found = []
    for ranks in ranks_of(setting):
        word = setting.programs.folder / f"switches_{ranks}"
        [case] = setting.case(COUNT, row(ranks, 1), own, ("cg2d counted", ("--grid", GRID, "--steps", "30"), ranks, 1))
        found.append(Case(COUNT, case.row, OWN, ("env", f"COUNT_SWITCHES_FILE={word}", *case.command), 1, is_slow=True))
    return found


# ---- figures


def late_receives(results: Results, ranks: int) -> tuple[float, float, float] | None:
    """Counts of a rank in a step: receives, receives whose message was not sent yet, switches to another rank."""
    key = (COUNT, row(ranks, 1), OWN)
    found = {n: results.median(key, n) for n in ("receives", "late_receives", "waits", "blocked_waits", "reductions", "blocked_reductions")}
    if not found["waits"] or not found["reductions"]:
        return None
    steps = found["waits"]
    # A step has one wait and two reductions.
    switches = found["blocked_waits"] / steps + 2 * found["blocked_reductions"] / found["reductions"]
    return found["receives"] / steps, found["late_receives"] / steps, switches


def grain_us(results: Results, ranks: int) -> float | None:
    """The time that a rank computes in a step: that of a block in the plain loop."""
    floor = results.floor((PART, row(ranks, 1), LOOP), "step")
    return floor / ranks if floor else None


def estimate(grain: float) -> float:
    """The study's estimate of the share of time that switches take, for a time of computing in a step, in us."""
    return STUDY_SWITCHES * STUDY_SWITCH_US / grain


def over_loop(results: Results, ranks: int, column: str = OWN) -> float | None:
    return results.ratio((PART, row(ranks, 1), column), (PART, row(ranks, 1), LOOP), "step")


def over_one_rank(results: Results, ranks: int, column: str = OWN) -> float | None:
    return results.ratio((PART, row(ranks, 1), column), (PART, row(1, 1), column), "step")


def bars(results: Results, setting: Setting) -> list[Bar]:
    found = []
    for ranks, most in BARS_OVER_LOOP.items():
        name = f"cg, 1 worker: {ranks} ranks over a plain loop"
        found.append(Bar(name, over_loop(results, ranks), "x loop", "AMPI", over_loop(results, ranks, "AMPI"), most, f"<= {most:g} x loop"))
    value, peer = over_one_rank(results, STUDY_RANKS), over_one_rank(results, STUDY_RANKS, "AMPI")
    found.append(Bar("cg, 1 worker: 100 ranks over 1 rank", value, "x 1 rank", "AMPI", peer, BAR_OVER_ONE_RANK, "<= 1.1 x 1 rank"))
    worst = [
        (ratio, row(ranks, workers)) for ranks in ranks_of(setting) for workers in worker_counts(setting)
        if (ratio := results.ratio((PART, row(ranks, workers), OWN), (PART, row(ranks, workers), "AMPI"), "step"))
    ]  # fmt: skip
    value, where = max(worst, default=(None, "any"))
    found.append(Bar("cg: the worst ratio to AMPI", value, "x AMPI", "", None, 1.0, f"<= AMPI everywhere ({where})"))
    return found


# ---- output


def print_tables(results: Results, setting: Setting) -> None:
    if results.columns(PART):
        print_times(results, setting)
    if results.columns(PART) and results.columns(COUNT):
        print_grain(results, setting)


def print_times(results: Results, setting: Setting) -> None:
    columns = results.columns(PART)
    rows = {}
    for workers in worker_counts(setting):
        for ranks in ranks_of(setting):
            name = row(ranks, workers)
            cells = []
            for column in columns:
                key = (PART, name, column)
                cells += [number(results.floor(key, "step")), number(results.median(key, "step"))]
            loop, peer = (PART, name, LOOP), (PART, name, "AMPI")
            own = (PART, name, OWN)
            cells += [number(results.ratio(own, loop, "step")), number(over_one_rank(results, ranks) if workers == 1 else None)]
            rows[name] = [*cells, number(results.ratio(own, peer, "step"))]
    head = [word for column in columns for word in (column, "median")]
    table(f"cg2d {GRID} x {GRID}: a step, us, least and median of the runs; Sorrel over the loop, over 1 rank, over AMPI",
          [*head, "/loop", "/1 rank", "/AMPI"], rows)  # fmt: skip


def print_grain(results: Results, setting: Setting) -> None:
    rows = {}
    for ranks in ranks_of(setting):
        grain, counts, ratio = grain_us(results, ranks), late_receives(results, ranks), over_loop(results, ranks)
        if grain is None or counts is None or ratio is None:
            continue
        receives, late, switches = counts
        # Where the loop is slower than the ranks there is no cost to divide.
        each = (ratio - 1) * grain / switches if switches > 0 and ratio > 1 else None
        rows[row(ranks, 1)] = [
            number(grain), number(receives), number(late), number(switches), number(100 * estimate(grain)),
            number(100 * (ratio - 1)), number(each and 1000 * each),
        ]  # fmt: skip
    head = ["computing,us", "receives", "late", "switches", "estimate,%", "measured,%", "a switch,ns"]
    table("A rank in a step, 1 worker. estimate: 3 switches of 0.5 us (the study); measured: over the plain loop", head, rows)
    print("(The study: six receives, of which three block; below 0.1 % if a rank computes for some milliseconds.)")


def line_of(results: Results, setting: Setting, column: str, workers: int, name: str) -> Line:
    """Time of a step in ms over the grain in us."""
    points = []
    for ranks in ranks_of(setting):
        key = (PART, row(ranks, workers), column)
        grain, spread = grain_us(results, ranks), results.spread(key, "step")
        if grain and spread:
            points.append(Point(grain, results.median(key, "step") / 1e3, spread[0] / 1e3, spread[1] / 1e3))
    return Line(name, points)


def charts(results: Results, setting: Setting) -> list[Chart]:
    columns = [c for c in results.columns(PART) if c != LOOP]
    all_workers = [w for w in worker_counts(setting) if w > 1]
    lines = [line_of(results, setting, LOOP, 1, "plain loop, no ranks")]
    lines += [line_of(results, setting, c, 1, f"{c}, 1 worker") for c in columns]
    lines += [line_of(results, setting, c, w, f"{c}, {on(w)}") for w in all_workers for c in columns]
    ranks = ranks_of(setting)
    grains = [g for n in ranks if (g := grain_us(results, n))]
    estimated = Line("the study's estimate: 3 switches of 0.5 us", [Point(g, 100 * estimate(g)) for g in grains], is_dashed=True)
    overheads = [estimated]
    for column in columns:
        points = [
            Point(g, 100 * (ratio - 1)) for n in ranks
            if (g := grain_us(results, n)) and (ratio := over_loop(results, n, column)) and ratio > 1.0001
        ]  # fmt: skip
        overheads.append(Line(f"{column}, measured over the plain loop", points))
    virtual = []
    for column in columns:
        points = [Point(n, ratio) for n in ranks if (ratio := over_one_rank(results, n, column))]
        virtual.append(Line(f"{column}, 1 worker", points))
    title = f"Conjugate gradients, {GRID} x {GRID}"
    return [
        Chart(f"{title}: time of a step over grain size", "computing of a rank in a step [us]", "time of a step, median [ms]",
              shown(lines), note="Bars: quartiles. Fewer and larger ranks are on the right."),
        Chart(f"{title}, 1 worker: cost of ranks", "computing of a rank in a step [us]", "more than a plain loop [%]",
              shown(overheads), [Mark('the study: "less than 0.1 %" at some milliseconds', 2000, 0.1)],
              note="Rows where ranks are not slower than the loop have no point."),
        Chart(f"{title}, 1 worker: ranks over one rank", "ranks on one worker", "time of a step over that of 1 rank",
              shown(virtual), [Mark("the study: 100 ranks, Pentium 4", STUDY_RANKS, STUDY_RATIO)], x_ticks=ranks, note=STUDY_NOTE),
    ]  # fmt: skip


def shown(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line.points]
