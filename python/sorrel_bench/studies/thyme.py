"""Study 001: Sorensen and Baden, "Hiding Communication Latency with Thyme": figures 1 and 2.

Jacobi3D, SUMMA and NAS FT, each without messages (IDEAL), blocking (BASE), overlapped by hand (OLAP) and as a graph. The published
figures are pictures without numbers; the text has the geometries, the meshes and what follows from the figures. Clusters are
simulated nodes of this machine.
"""

import dataclasses

from ..graph_program import Wire
from ..overlap_apps import APPS, blas_words
from ..pictures import BarChart, Bars
from ..virtual_runs import Build
from . import thyme_scaling
from .estimates import Claim, Estimate, estimate
from .results import Figure, Table, point
from .samples import Row, Store, read_pairs
from .setting import RUN_SECONDS_MAX, Setting, cases, graph_build, memory_gib

NUMBER = "001"
PROCESSORS = None  # hundreds of nodes in the study
TITLE = "Task graphs hide communication"
SOURCE = "Sorensen, Baden: Hiding Communication Latency with Thyme, figures 1 and 2; DataStar (8-way Power4+) and Thunder (4-way Itanium2)"
AUTHORS = "Sorensen and Baden"
VARIANTS = ("ideal", "base", "olap", "graph")
SERVICE = "graph, service"  # a worker reserved for messages
IDEAL_OF_GRAPH = "ideal, geometry of the graph"
SERVICE_SECONDS_MAX, SERVICE_ROUNDS = 30, 5
LABELS = {"ideal": "IDEAL", "base": "BASE", "olap": "OLAP", "graph": "graph (THYME)", SERVICE: "graph, one CPU for messages"}
# Nodes as in the study: 256 ranks on nodes of 8 and of 4 CPUs. The geometry of the graph is the study's: a rank for each node.
MACHINES = {
    "like DataStar": (Wire("20us 10GB/s", "latency=20us,bandwidth=10GB/s,nodes=32"), "4x2x4", 32),
    "like Thunder": (Wire("50us 1GB/s", "latency=50us,bandwidth=1GB/s,nodes=64"), "4x4x4", 64),
}
RANKS, MPI_GRID, SUMMA_GRID = 256, "8x4x8", "16x16"
NEARLY = 0.03  # "nearly identical performance"
FT_RANKS = (64, 128)
FT_WIRE = Wire("50us 1GB/s", "latency=50us,bandwidth=1GB/s,nodes=16")


@dataclasses.dataclass(frozen=True)
class Mesh:
    title: str
    arguments: tuple[str, ...]
    gib: float  # memory of the graph, which needs most
    is_published: bool
    rounds_max: int = 1000
    seconds_max: int = RUN_SECONDS_MAX
    is_quick: bool = False


MESHES = (
    Mesh("256x256x128 (class A)", ("--class", "A"), 0.9, False, is_quick=True),
    Mesh("512x256x256 (class B)", ("--class", "B", "--steps", "3"), 3.5, False),
    # A run takes half a minute on two cores, so there is one round and no verdict. The larger meshes take as many times longer as they
    # have more points.
    Mesh("512^3 (class C)", ("--class", "C", "--steps", "1"), 14, True, rounds_max=1),
    Mesh("1024x1024x512", ("--mesh", "1024x1024x512", "--steps", "1"), 56, True, rounds_max=1, seconds_max=600),
    Mesh("1024^3", ("--mesh", "1024x1024x1024", "--steps", "1"), 112, True, rounds_max=1, seconds_max=1200),
)


def _app(name: str):
    return next(app for app in APPS if app.name == name)


def builds(setting: Setting) -> list[Build]:
    found = []
    for app in APPS:
        flags = ("-O3", "-march=native", "-fcx-limited-range", *(blas_words() if app.name == "summa" else ()))
        found.append(graph_build(setting, app.name, NUMBER, app.sources, flags, app.libraries))
    return found


def _meshes(setting: Setting) -> list[Mesh]:
    room = memory_gib()
    return [m for m in MESHES if (m.is_quick or not setting.is_quick) and m.gib < 0.8 * room]


def case(setting: Setting, app_name: str, row: str, variant: str, ranks: int, wire: Wire, arguments: tuple[str, ...], seconds_max: int = RUN_SECONDS_MAX):
    """A run of a variant; None if the program was not built."""
    app, program = _app(app_name), setting.programs.path(app_name)
    if program is None:
        return None
    name = {SERVICE: "graph", IDEAL_OF_GRAPH: "ideal"}.get(variant, variant)
    shared = ("--shared", app.shared) if app.shared else ()
    kept = (app.kept_in, str(setting.programs.folder / f"{app_name}.kept")) if app.kept_in and not setting.is_quick else ()
    words = [setting.command, "run", "-n", str(ranks), "--workers", str(setting.workers), "--share", "fixed", *wire.words(),
             *(("--comm-worker",) if variant == SERVICE else ()), *shared, program, name, *arguments, *app.variant_arguments.get(name, ()), *kept]  # fmt: skip
    limit = SERVICE_SECONDS_MAX if variant == SERVICE and seconds_max == RUN_SECONDS_MAX else seconds_max
    return setting.command_case((NUMBER, row, variant), words, read_pairs("seconds", "gflops"), seconds_max=limit)


def _variants(setting: Setting) -> tuple[str, ...]:
    # One worker would be left with none.
    return (*VARIANTS, SERVICE) if setting.workers > 1 else VARIANTS


def _jacobi_words(setting: Setting) -> tuple[str, ...]:
    return ("--n", "128", "--steps", "10") if setting.is_quick else ("--n", "256", "--steps", "10")


def _app_rows(setting: Setting, app: str, title: str, ranks_of: dict[str, int], wire: Wire, words_of: dict[str, tuple[str, ...]],
              rounds_max: int = 1000, seconds_max: int = RUN_SECONDS_MAX) -> list[Row]:  # fmt: skip
    """The variants in turn; the one with a reserved CPU, which may be much slower, in a row of its own."""
    found = {v: case(setting, app, title, v, ranks_of[v], wire, words_of[v], seconds_max) for v in ranks_of}
    service = found.pop(SERVICE, None)
    return [Row(cases(list(found.values())), rounds_max), Row(cases([service]), min(rounds_max, SERVICE_ROUNDS))]


def rows(setting: Setting) -> list[Row]:
    found = []
    for machine, (wire, graph_grid, graph_ranks) in MACHINES.items():
        jacobi = {v: (graph_ranks, graph_grid) if v in ("graph", SERVICE, IDEAL_OF_GRAPH) else (RANKS, MPI_GRID) for v in (*_variants(setting), IDEAL_OF_GRAPH)}
        words = {v: (*_jacobi_words(setting), "--grid", grid) for v, (_, grid) in jacobi.items()}
        found += _app_rows(setting, "jacobi3d", f"Jacobi3D, {machine}", {v: ranks for v, (ranks, _) in jacobi.items()}, wire, words)
        summa = ("--n", "1024" if setting.is_quick else "2048", "--grid", SUMMA_GRID)
        variants = _variants(setting)
        found += _app_rows(setting, "summa", f"SUMMA, {machine}", dict.fromkeys(variants, RANKS), wire, dict.fromkeys(variants, summa))
    for mesh in _meshes(setting):
        for ranks in FT_RANKS:
            words = (*mesh.arguments, *(("--steps", "1") if setting.is_quick else ()), "--grid", f"1x{ranks}")
            variants = [v for v in _variants(setting) if v != "olap"]  # the study has none for FT
            found += _app_rows(setting, "ft", f"FT {mesh.title}, {ranks} ranks", dict.fromkeys(variants, ranks), FT_WIRE, dict.fromkeys(variants, words),
                               mesh.rounds_max, mesh.seconds_max)  # fmt: skip
    found += thyme_scaling.rows(setting, case)
    return [row for row in found if row.cases]


def _rates(store: Store, row: str, variant: str) -> Estimate | None:
    return store.median((NUMBER, row, variant), "gflops")


def _seconds(store: Store, row: str, variant: str) -> Estimate | None:
    """With the time of IDEAL as bound: the same work without messages, on the same geometry."""
    found = store.median((NUMBER, row, variant), "seconds")
    is_graph = variant in ("graph", SERVICE)
    ideal = (store.median((NUMBER, row, IDEAL_OF_GRAPH), "seconds") if is_graph else None) or store.median((NUMBER, row, "ideal"), "seconds")
    return found.with_bound(ideal.median) if found and ideal and variant != "ideal" else found


def _over(store: Store, row: str, variant: str, base: str) -> Estimate | None:
    return store.ratio((NUMBER, row, variant), (NUMBER, row, base), "seconds")


def _hidden(store: Store, row: str) -> Estimate | None:
    """The hidden share of what blocking messages cost, of each round; None if they cost less than two per cent."""
    keys = {v: (NUMBER, row, v) for v in ("ideal", "base", "graph")}
    seconds = {v: store.by_round(key, "seconds") for v, key in keys.items()}
    rounds = set.intersection(*(set(found) for found in seconds.values()))
    exposed = {r: seconds["base"][r] - seconds["ideal"][r] for r in rounds}
    shares = [100 * (seconds["base"][r] - seconds["graph"][r]) / exposed[r] for r in sorted(rounds) if exposed[r] > 0.02 * seconds["ideal"][r]]
    return estimate(shares, store.share_of(*keys.values())) if len(shares) == len(rounds) else None


def _all_rows(setting: Setting) -> list[str]:
    apps = [f"{app}, {machine}" for app in ("Jacobi3D", "SUMMA") for machine in MACHINES]
    return [*apps, *(f"FT {mesh.title}, {ranks} ranks" for ranks in FT_RANKS for mesh in _meshes(setting))]


def tables(store: Store, setting: Setting) -> list[Table]:
    variants = _variants(setting)
    body = [[row, *(_seconds(store, row, v) for v in variants), _over(store, row, "graph", "base"), _hidden(store, row)] for row in _all_rows(setting)]
    note = f"Jacobi3D: MPI on {RANKS} ranks {MPI_GRID}, the graph on 4x2x4 and 4x4x4; SUMMA {SUMMA_GRID}; FT 1-D. Nodes are simulated: DataStar's 32 with " \
        f"{MACHINES['like DataStar'][0].name}, Thunder's 64 with {MACHINES['like Thunder'][0].name}, FT 16 nodes with {FT_WIRE.name}."  # fmt: skip
    return [Table("seconds", "Figures 1 and 2 in seconds", ["", *(LABELS[v] for v in variants), "graph over BASE", "hidden, %"], body,
                  [note, "The published figures have no numbers in the text."]), *thyme_scaling.tables(store, setting)]  # fmt: skip


def _bars(store: Store, variants: list[str], names: list[str]) -> list[Bars]:
    return [Bars(LABELS[v], [point(0, _rates(store, row, v)) for row in names]) for v in variants]


def figures(store: Store, setting: Setting) -> list[Figure]:
    charts = []
    for app in ("Jacobi3D", "SUMMA"):
        # The study leaves OLAP out of figure 1 and says why; the claims below need it.
        charts.append(BarChart(f"{app}, {RANKS} ranks", "GFLOP/s", list(MACHINES), _bars(store, list(_variants(setting)), [f"{app}, {m}" for m in MACHINES])))
    variants = [v for v in _variants(setting) if v != "olap"]
    ft = [BarChart(f"NAS FT, {ranks} ranks", "GFLOP/s", [m.title for m in _meshes(setting)],
                   _bars(store, variants, [f"FT {m.title}, {ranks} ranks" for m in _meshes(setting)])) for ranks in FT_RANKS]  # fmt: skip
    return [Figure("001_fig_1", "Figure 1: Jacobi3D and SUMMA on two machines", charts, 2), Figure("001_fig_2", "Figure 2: NAS FT on 64 and 128 processors", ft, 2),
            *thyme_scaling.figures(store, setting)]  # fmt: skip


def claims(store: Store, setting: Setting) -> list[Claim]:
    found = []
    for machine in MACHINES:
        jacobi, summa = f"Jacobi3D, {machine}", f"SUMMA, {machine}"
        where = f"{AUTHORS}, figure 1"
        found += [
            Claim(f"{machine}: the graph makes Jacobi3D faster than BASE", where, "-", "graph over BASE", _over(store, jacobi, "graph", "base"), most=1.0),
            Claim(f"{machine}: OLAP of Jacobi3D is significantly slower than BASE", where, "-", "OLAP over BASE", _over(store, jacobi, "olap", "base"), least=1.05),
            Claim(f"{machine}: the graph makes SUMMA faster than BASE", where, "-", "graph over BASE", _over(store, summa, "graph", "base"), most=1.0),
            Claim(f"{machine}: OLAP and BASE of SUMMA are nearly identical", where, "-", "OLAP over BASE", _over(store, summa, "olap", "base"),
                  least=1 - NEARLY, most=1 + NEARLY),
            Claim(f"{machine}: a graph may exceed hand coding (Jacobi3D)", AUTHORS, "-", "graph over OLAP", _over(store, jacobi, "graph", "olap"), most=1.0),
        ]  # fmt: skip
    for mesh in _meshes(setting):
        for ranks in FT_RANKS:
            row = f"FT {mesh.title}, {ranks} ranks"
            found.append(Claim(f"FT, {mesh.title}, {ranks} ranks: the graph is faster than BASE", f"{AUTHORS}, figure 2", "-", "graph over BASE",
                               _over(store, row, "graph", "base"), most=1.0))  # fmt: skip
    if setting.workers > 1:
        for row in _all_rows(setting):
            found.append(Claim(f"{row}: a net gain in spite of one CPU a node for messages", AUTHORS, "-", f"graph with one of {setting.workers} CPUs for messages over BASE",
                               _over(store, row, SERVICE, "base"), most=1.0, reason=store.troubles.get((NUMBER, row, SERVICE), "")))  # fmt: skip
    return found


def missing(setting: Setting) -> list[str]:
    room = memory_gib()
    found = [f"FT {m.title}: " + ("left out by --quick" if setting.is_quick and m.gib < 0.8 * room else f"needs about {m.gib:g} GiB, {room:.0f} are free")
              for m in MESHES if m not in _meshes(setting)]  # fmt: skip
    found += [f"{app.name}: does not compile here; it needs {app.packages}" for app in APPS if setting.programs.path(app.name) is None and app.packages]
    return [*found, "Scaling over real nodes: all nodes are simulated on this machine, and all ranks share its CPUs", "Figures 1 and 2: the text has no published rates"]
