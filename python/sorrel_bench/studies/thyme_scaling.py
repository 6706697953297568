"""Study 001, "scaling issues": the three applications over the number of ranks, and over the number of simulated nodes.

The study investigates scaling and gives no numbers. Here all ranks share the CPUs of one machine, so the work of a run stays the same.
What grows with ranks and nodes is the number of messages, and the share that crosses the network.
"""

from collections.abc import Callable

from ..graph_program import Wire
from ..pictures import Chart, Line
from .estimates import Estimate
from .results import Figure, Table, points
from .samples import Row, Store
from .setting import Setting, cases

NUMBER = "001"
VARIANTS = ("ideal", "base", "graph")
ROUNDS = 5
NODES, RANKS_OF_NODES = (4, 16, 64), 64
NODES_OF_RANKS = 16
# Numbers of ranks; class A of FT has 128 planes.
RANKS = {"jacobi3d": (16, 64, 256), "summa": (16, 64, 256), "ft": (16, 64, 128)}
TITLES = {"jacobi3d": "Jacobi3D 256^3", "summa": "SUMMA 2048", "ft": "FT class A"}
WORDS = {"jacobi3d": ("--n", "256", "--steps", "10"), "summa": ("--n", "2048"), "ft": ("--class", "A", "--steps", "3")}


def _wire(nodes: int) -> Wire:
    return Wire(f"50us 1GB/s, {nodes} nodes", f"latency=50us,bandwidth=1GB/s,nodes={nodes}")


def _places(app: str) -> list[tuple[int, int]]:
    """Pairs of ranks and nodes."""
    return sorted({*((ranks, NODES_OF_RANKS) for ranks in RANKS[app]), *((RANKS_OF_NODES, nodes) for nodes in NODES)})


def _row(app: str, ranks: int, nodes: int) -> str:
    return f"{TITLES[app]}, {ranks} ranks on {nodes} nodes"


def rows(setting: Setting, case: Callable) -> list[Row]:
    if setting.is_quick:
        return []
    found = []
    for app, words in WORDS.items():
        for ranks, nodes in _places(app):
            found.append(Row(cases([case(setting, app, _row(app, ranks, nodes), v, ranks, _wire(nodes), words) for v in VARIANTS]), ROUNDS))
    return found


def _key(app: str, place: tuple[int, int], variant: str) -> tuple[str, str, str]:
    return NUMBER, _row(app, *place), variant


def _graph_over_base(store: Store, app: str, place: tuple[int, int]) -> Estimate | None:
    return store.ratio(_key(app, place, "graph"), _key(app, place, "base"), "seconds")


def tables(store: Store, setting: Setting) -> list[Table]:
    if setting.is_quick:
        return []
    body = [[_row(app, *place), *(store.median(_key(app, place, v), "seconds") for v in VARIANTS), _graph_over_base(store, app, place)]
            for app in WORDS for place in _places(app)]  # fmt: skip
    return [Table("scaling", "Scaling over ranks and simulated nodes, seconds", ["", "IDEAL", "BASE", "graph", "graph over BASE"], body,
                  [f"{_wire(NODES_OF_RANKS).name.split(',')[0]}; all variants on the same grid; {setting.workers} CPUs for any number of ranks."])]  # fmt: skip


def figures(store: Store, setting: Setting) -> list[Figure]:
    if setting.is_quick:
        return []

    def chart(title: str, of: Callable[[str], list[tuple[int, tuple[int, int]]]], x: str, ticks: tuple[int, ...]) -> Chart:
        lines = [Line(TITLES[app], points([(at, _graph_over_base(store, app, place)) for at, place in of(app)])) for app in WORDS]
        return Chart(title, x, "time of the graph / time of BASE", [line for line in lines if line.points], is_log_y=False, x_ticks=ticks)

    by_ranks = chart(f"{NODES_OF_RANKS} nodes", lambda app: [(r, (r, NODES_OF_RANKS)) for r in RANKS[app]], "ranks", (16, 64, 128, 256))
    by_nodes = chart(f"{RANKS_OF_NODES} ranks", lambda _app: [(n, (RANKS_OF_NODES, n)) for n in NODES], "simulated nodes", NODES)
    charts = [c for c in (by_ranks, by_nodes) if c.lines]
    return [Figure("001_scaling", "Scaling over ranks and nodes", charts, 2)] if charts else []
