"""Unequal ranks and allocation in `sorrel bench virtual`: ranks of which half have all work, a gas flow that allocates
in every step, malloc and free."""

from .bars import OWN, Bar
from .report import number
from .virtual_runs import Build, Case, Results, table
from .virtual_setting import SOURCES, Setting, balanced, on, over_ideal, own_columns, probes_folder

IMBALANCE, ALLOCATE, HEAP = "imbalance", "allocate", "heap"
LIBRARY = "C library"
RANKS_A_WORKER = 8
WORK_US, PERIOD_MS = "1000", 500
FIXED_ROW, CHANGING_ROW = "first half busy", f"busy half changes every {PERIOD_MS / 1000:g} s"
# Side of the mesh of a rank by ranks.
MESHES = {1: 30, 8: 20}
HEAP_ROW = "malloc and free"
HEAP_BARS = {"64": ("64 B", 1.0), "4096": ("4 KiB", 1.0), "1048576": ("1 MiB", 0.5)}
MOST_OVER_IDEAL = {FIXED_ROW: 1.05, CHANGING_ROW: 1.15}
MOST_OF_AMPI, MOST_ALLOCATING = 0.8, 0.95


def builds(setting: Setting) -> list[Build]:
    probes = (f"-I{probes_folder()}",)
    found = []
    for i in setting.implementations:
        found.append(Build(f"imbalance {i.name}", IMBALANCE, i.compiler, (SOURCES / "imbalance.c",), probes))
        found.append(Build(f"hydro {i.name}", ALLOCATE, i.compiler, (SOURCES / "hydro.c",), probes))
        if i.has_light_ranks:
            found.append(Build(f"allocate {i.name}", HEAP, i.compiler, (probes_folder() / "allocate.c",), probes))
    alone = (*probes, f"-I{SOURCES / 'alone'}")
    found.append(Build(f"hydro {LIBRARY}", ALLOCATE, ("cc",), (SOURCES / "hydro.c",), alone))
    found.append(Build(f"allocate {LIBRARY}", HEAP, ("cc",), (probes_folder() / "allocate.c",), alone))
    return found


def _program(name: str, implementation) -> str:
    return f"{name} {implementation.name.split()[0] if implementation.has_light_ranks else implementation.name}"


def imbalance_cases(setting: Setting) -> list[Case]:
    ranks, busy = RANKS_A_WORKER * setting.workers, RANKS_A_WORKER * setting.workers // 2
    found = []
    for name, period in ((FIXED_ROW, 0), (CHANGING_ROW, PERIOD_MS)):
        for implementation in balanced(setting):
            # Steps of processes that take turns on the cores take some hundred times as long with some MPIs.
            steps = ("100" if setting.is_quick else "750") if implementation.has_light_ranks else "100"
            job = (_program("imbalance", implementation), (WORK_US, steps, str(period)), ranks, setting.workers)
            found += setting.case(IMBALANCE, name, implementation, job, read=over_ideal(busy, setting.workers), is_slow=True)
    return found


def allocate_row(ranks: int) -> str:
    return f"gas flow, {MESHES[ranks]}^3 a rank, {ranks} rank{'s' if ranks > 1 else ''}"


def allocate_cases(setting: Setting) -> list[Case]:
    found = []
    for ranks, side in MESHES.items():
        workers = min(ranks, setting.workers)
        if ranks == 1 and (path := setting.programs.path(f"hydro {LIBRARY}")):
            found.append(Case(ALLOCATE, allocate_row(1), LIBRARY, (path, str(side), "20" if setting.is_quick else "100"), 1))
        for i in setting.implementations:
            # Processes that take turns on the cores are slow; a median needs few steps.
            is_short = setting.is_quick or (ranks > workers and not i.has_light_ranks)
            arguments = (str(side), "20" if is_short else "100")
            found += setting.case(ALLOCATE, allocate_row(ranks), i, (f"hydro {i.name}", arguments, ranks, workers))
    return found


def heap_cases(setting: Setting) -> list[Case]:
    seconds = "0.02" if setting.is_quick else "0.1"
    found = []
    if path := setting.programs.path(f"allocate {LIBRARY}"):
        found.append(Case(HEAP, HEAP_ROW, LIBRARY, (path, seconds), 1))
    for i in setting.implementations:
        if i.has_light_ranks:
            found += setting.case(HEAP, HEAP_ROW, i, (f"allocate {i.name}", (seconds,), 1, 1))
    return found


def imbalance_bars(results: Results) -> list[Bar]:
    found = []
    columns = results.columns(IMBALANCE)
    for name, most in MOST_OVER_IDEAL.items():

        def floors(names: list[str], row: str = name) -> list[tuple[float, str]]:
            return sorted((v, c) for c in names if (v := results.floor((IMBALANCE, row, c), "over_ideal")))

        own, ampi = floors(own_columns(columns)), floors([c for c in columns if c.startswith("AMPI")])
        if not own:
            continue
        value, best_name = own[0]
        peer = ampi[0] if ampi else (None, "AMPI")
        found.append(Bar(f"{name}: best balancing over ideal", value, "x ideal", peer[1], peer[0], most, f"<= {most:g} x ideal ({best_name})"))
        ratio = results.ratio((IMBALANCE, name, best_name), (IMBALANCE, name, peer[1]), "over_ideal")
        found.append(Bar(f"{name}: best balancing over AMPI's", ratio, "x", "", None, MOST_OF_AMPI, f"<= 0.8 x {peer[1]}"))
    return found


def bars(results: Results, _setting: Setting) -> list[Bar]:
    found = imbalance_bars(results) if results.columns(IMBALANCE) else []
    for ranks in MESHES if results.columns(ALLOCATE) else ():
        key, peer = (ALLOCATE, allocate_row(ranks), OWN), (ALLOCATE, allocate_row(ranks), "AMPI")
        ratio = results.ratio(key, peer, "step")
        found.append(Bar(f"{allocate_row(ranks)}: over AMPI", ratio, "x AMPI", "", None, MOST_ALLOCATING, "<= 0.95 x AMPI"))
    for name, (title, most) in HEAP_BARS.items() if results.columns(HEAP) else ():
        ratio = results.ratio((HEAP, HEAP_ROW, OWN), (HEAP, HEAP_ROW, LIBRARY), name)
        found.append(Bar(f"malloc and free of {title} in a rank", ratio, "x C lib.", "", None, most, f"<= {most:g} x C library"))
    return found


def print_tables(results: Results, setting: Setting) -> None:
    if columns := results.columns(IMBALANCE):
        rows = {}
        for column in columns:
            rows[column] = [
                number(f((IMBALANCE, row, column), "over_ideal")) for row in MOST_OVER_IDEAL for f in (results.floor, results.median)
            ]
        ranks = RANKS_A_WORKER * setting.workers
        table(f"{ranks} ranks, half of them with all work, {on(setting.workers)}: a step over an equal share of the work",
              ["fixed", "median", f"{PERIOD_MS / 1000:g} s", "median"], rows)  # fmt: skip
    if columns := results.columns(ALLOCATE):
        head = [word for column in columns for word in (column, "median")]
        rows = {}
        for ranks in MESHES:
            name = allocate_row(ranks)
            cells = [number(f((ALLOCATE, name, c), "step")) for c in columns for f in (results.floor, results.median)]
            own = (ALLOCATE, name, OWN)
            rows[name] = [*cells, *(number(results.ratio(own, (ALLOCATE, name, other), "step")) for other in (LIBRARY, "AMPI"))]
        table("A program that allocates in every step: a step, us, least and median; Sorrel over the C library, over AMPI",
              [*head, "/C library", "/AMPI"], rows)  # fmt: skip
    if columns := results.columns(HEAP):
        head = [word for column in columns for word in (column, "median")]
        rows = {}
        for name, (title, _) in HEAP_BARS.items():
            cells = [number(f((HEAP, HEAP_ROW, c), name)) for c in columns for f in (results.floor, results.median)]
            rows[title] = [*cells, number(results.ratio((HEAP, HEAP_ROW, OWN), (HEAP, HEAP_ROW, LIBRARY), name))]
        table("malloc and free of one block in a rank, ns, least and median; Sorrel over the C library", [*head, "/C library"], rows)
