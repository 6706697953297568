"""Beyond the cores of this machine: messages, collectives and loans on a simulated machine, whose costs are measured here, and its
predictions beside measurements on one and two cores. No study; the studies used more cores than there are here.
"""

import dataclasses
import functools

from ..bars import OWN
from ..implementations import Job
from ..pictures import Chart, Line, Point
from ..report import number
from ..runner import probe_source
from ..simulated import costs as model
from ..simulated import loads
from ..simulated.costs import Costs
from ..smp import LIBRARIES, flags, sources
from ..virtual_runs import ROOT, Build, read_results
from ..virtual_setting import with_balance
from .estimates import Claim, Estimate
from .results import Figure, Table
from .samples import Row, Store
from .setting import Setting, cases, probe_build

NUMBER = "beyond"
PROCESSORS = None  # all
TITLE = "Beyond the cores of this machine (simulated)"
SOURCE = "python/sorrel_bench/simulated: the protocols of src/core and src/mpi/collectives, run event by event with costs measured here"
CORES, NODES = tuple(loads.powers(2, 128)), tuple(loads.powers(2, 1024))
RANKS_PER_CORE, CORES_PER_NODE = 8, 16
WIRE = "latency=50us,bandwidth=1GB/s"
WIRE_US = 50.0
CLUSTER_WIRE_US = 2.0  # a usual latency of clusters; an assumption
BURSTS_US = (50, 200, 1000)
FANOUTS = (2, 4, 8, 16, 64)
# Microseconds of what is measured: the name in costs.fitted(), the case's row, the series, its unit in us.
PARAMETERS = (("yield", "yield", "yield", 1e-3), ("same_rate", "rate, same worker", "message", 1e-3), ("two_rate", "rate, two workers", "message", 1e-3),
              ("two", "half round trip, two workers", "half_round_trip", 1e-3), ("allreduce_8", "allreduce, 8 ranks, one worker", "allreduce", 1.0),
              ("allreduce_512", "allreduce, 512 ranks, one worker", "allreduce", 1.0),
              *((f"poll_{n}", f"poll of {n} mailboxes", f"poll_{n}", 1e-3) for n in model.POLLED))  # fmt: skip
TITLES = {"yield": "a switch to another rank", "same_rate": "a message of a stream, one worker", "two_rate": "a message of a stream, two workers",
          "two": "half a round trip, two workers", "allreduce_8": "allreduce of 8 ranks, one worker", "allreduce_512": "allreduce of 512 ranks, one worker",
          **{f"poll_{n}": f"a poll of {n} open mailboxes, all empty" for n in model.POLLED}}  # fmt: skip
PROBES = ("yield", "message_rate", "pingpong", "allreduce", "kneighbor")
# A prediction holds if the measured value is within these of it.
LEAST, MOST = 0.75, 1.33
ONE_CORE, TWO_CORES = "kNeighbor, 8 ranks, one core", "kNeighbor, 8 ranks, two cores"
REDUCE, REDUCE_WIRE, LENT = "allreduce, 64 ranks, two cores", "allreduce, 16 ranks, four simulated nodes", "half of 16 ranks have work, two cores, loans"
BUSY_US = 1000


def builds(setting: Setting) -> list[Build]:
    own = setting.with_name(OWN)
    probes = probe_source("kneighbor").parent
    return [*(probe_build(probe, NUMBER, own) for probe in PROBES),
            Build(f"imbalance {OWN}", NUMBER, own.compiler, (ROOT / "bench/virtual/imbalance.c",), (f"-I{probes}",)),
            Build("smp", NUMBER, ("cc",), tuple(sources()), flags(), LIBRARIES)]  # fmt: skip


def rows(setting: Setting) -> list[Row]:
    own = setting.with_name(OWN)
    seconds = "0.05" if setting.is_quick else "0.15"
    wired = with_wire(own, f"{WIRE},nodes=4")
    jobs = [("yield", "yield", own, (), 8, 1), ("rate, same worker", "message_rate", own, ("8", "32"), 2, 1), ("allreduce, 8 ranks, one worker", "allreduce", own, (), 8, 1),
            ("allreduce, 512 ranks, one worker", "allreduce", own, (), 512, 1), (ONE_CORE, "kneighbor", own, ("64", "3"), 8, 1)]  # fmt: skip
    if setting.workers >= 2:
        jobs += [("rate, two workers", "message_rate", own, ("8", "32"), 2, 2), ("half round trip, two workers", "pingpong", own, ("8", "2"), 2, 2),
                 ("half round trip over the wire", "pingpong", with_wire(own, f"{WIRE},nodes=2"), ("8", "2"), 2, 2), (TWO_CORES, "kneighbor", own, ("64", "3"), 8, 2),
                 (REDUCE, "allreduce", own, (), 64, 2), (REDUCE_WIRE, "allreduce", wired, (), 16, 2)]  # fmt: skip
    found = []
    for row, probe, by, arguments, ranks, workers in jobs:
        job = Job("", (seconds, *arguments), ranks, workers)
        found.append(Row(cases([setting.launch_case((NUMBER, row, OWN), by, f"{probe} {OWN}", job, read_results)])))
    if setting.workers >= 2:
        job = Job("", (str(BUSY_US), "30" if setting.is_quick else "100", "0"), 16, 2)
        found.append(Row(cases([setting.launch_case((NUMBER, LENT, OWN), with_balance(own, "steal"), f"imbalance {OWN}", job, read_results)])))
    if smp := setting.programs.path("smp"):
        for n in model.POLLED:
            found.append(Row([setting.command_case((NUMBER, f"poll of {n} mailboxes", OWN), (smp, seconds, "poll", str(n)), read_results)]))
    return [row for row in found if row.cases]


def with_wire(by, wire: str):
    """The implementation with its jobs on simulated nodes."""
    return dataclasses.replace(by, launch=lambda job: [*(words := by.launch(job))[:2], "--wire", wire, *words[2:]])


def _measured(store: Store) -> dict[str, Estimate | None]:
    return {name: (value.scaled(unit) if (value := store.median((NUMBER, row, OWN), series)) else None) for name, row, series, unit in PARAMETERS}


def costs_of(store: Store) -> Costs | None:
    measured = _measured(store)
    if any(value is None for value in measured.values()):
        return None
    return model.fitted({name: value.median for name, value in measured.items()})


def _packet_us(store: Store) -> float | None:
    """The cost of a packet between simulated nodes on each side."""
    half = store.median((NUMBER, "half round trip over the wire", OWN), "half_round_trip")
    return max(half.median * 1e-3 - WIRE_US, 0.0) / 2 if half else None


def predictions(store: Store, costs: Costs) -> list[tuple[str, float, Estimate | None]]:
    """What is predicted, the value, and the measured one, in us."""
    def measured(row: str, series: str, unit: float = 1.0) -> Estimate | None:
        value = store.median((NUMBER, row, OWN), series)
        return value.scaled(unit) if value else None

    found = [(ONE_CORE, loads.kneighbor(costs, 1, 8, 3), measured(ONE_CORE, "iteration")),
             (TWO_CORES, loads.kneighbor(costs, 2, 8, 3), measured(TWO_CORES, "iteration")), (REDUCE, loads.barrier(costs, 2, 64), measured(REDUCE, "allreduce"))]  # fmt: skip
    packet_us = _packet_us(store)
    if packet_us is not None:
        # Two nodes share a core here, which handles their packets one after the other.
        found.append((REDUCE_WIRE, loads.barrier_over_nodes(costs, 4, 1, 4, WIRE_US, 2 * packet_us), measured(REDUCE_WIRE, "allreduce")))
    compute = store.median((NUMBER, LENT, OWN), "compute")
    if compute:
        ideal = 8 * compute.median / 2
        found.append((LENT, ideal * loads.loans(costs, 2, 8, 1, compute.median), measured(LENT, "step")))
    return found


@functools.cache
def curves(costs: Costs) -> dict[str, list[tuple[int, float]]]:
    """Every simulated curve: name, then cores or nodes and the value."""
    found = {"iteration of kNeighbor": [(w, loads.kneighbor(costs, w, RANKS_PER_CORE * w, 3)) for w in CORES],
             "half round trip, all mailboxes open": [(w, _with_all_open(costs, w)) for w in CORES]}  # fmt: skip
    for fanout in FANOUTS:
        found[f"allreduce, tree of fan-out {fanout}"] = [(w, loads.barrier(costs, w, RANKS_PER_CORE * w, fanout)) for w in CORES]
    for burst in BURSTS_US:
        found[f"half of the workers own all work, {burst} us"] = [(w, loads.loans(costs, w, 8, w // 2, burst)) for w in CORES]
        found[f"one worker owns all work, {burst} us"] = [(w, loads.loans(costs, w, 8 * w, 1, burst)) for w in CORES]
    return found


def _with_all_open(costs: Costs, workers: int) -> float:
    """Half a round trip between two workers that have once heard from all others."""
    return costs.send + costs.crossing + costs.receive + costs.poll + (workers - 1) * costs.poll_mailbox


def _over_nodes(costs: Costs, packet_us: float, wire_us: float) -> list[tuple[int, float]]:
    ranks = RANKS_PER_CORE * CORES_PER_NODE
    return [(n, loads.barrier_over_nodes(costs, n, CORES_PER_NODE, ranks, wire_us, packet_us)) for n in NODES]


def tables(store: Store, setting: Setting) -> list[Table]:  # noqa: ARG001
    measured = _measured(store)
    found = [Table("parameters", "Measured here: the costs of the simulated machine, us", ["", "here"], [[TITLES[name], value] for name, value in measured.items()])]
    costs = costs_of(store)
    if costs is None:
        return found
    body = [[text, f"{predicted:.3g}", value, value.scaled(1 / predicted) if value else None] for text, predicted, value in predictions(store, costs)]
    found.append(Table("predictions", "Predicted by the simulated machine and measured, us", ["", "predicted", "measured", "measured over predicted"], body))
    drawn = curves(costs)
    names = ["iteration of kNeighbor", "half round trip, all mailboxes open", *(f"allreduce, tree of fan-out {f}" for f in FANOUTS)]
    found.append(_curve_table("cores", f"SIMULATED: {RANKS_PER_CORE} ranks on each of 2 to 128 cores, us", "cores", CORES, {n: drawn[n] for n in names}))
    names = [n for n in drawn if "all work" in n]
    found.append(_curve_table("loans", "SIMULATED: loans, a step over the ideal", "cores", CORES, {n: drawn[n] for n in names}))
    packet_us = _packet_us(store)
    if packet_us is not None:
        lines = {f"wire of {wire:g} us": _over_nodes(costs, packet_us, wire) for wire in (CLUSTER_WIRE_US, WIRE_US)}
        title = f"SIMULATED: allreduce over nodes of {CORES_PER_NODE} cores, {RANKS_PER_CORE} ranks a core, us"
        found.append(_curve_table("nodes", title, "nodes", NODES, lines))
    memory = [[str(w), *(number(b / 2**20) for b in loads.mailbox_bytes(w))] for w in (*CORES, 1024)]
    found.append(Table("memory", "Computed: mailboxes of a process, MiB", ["cores", "reserved addresses", "in use when all have sent to all"], memory))
    return found


def _curve_table(name: str, title: str, axis: str, xs: tuple[int, ...], lines: dict[str, list[tuple[int, float]]]) -> Table:
    columns = [dict(points) for points in lines.values()]
    return Table(name, title, [axis, *lines], [[str(x), *(f"{column[x]:.3g}" for column in columns)] for x in xs])


def figures(store: Store, setting: Setting) -> list[Figure]:  # noqa: ARG001
    costs = costs_of(store)
    if costs is None:
        return []
    drawn = curves(costs)

    def lines(names: list[str]) -> list[Line]:
        return [Line(n, [Point(x, y) for x, y in drawn[n]], is_dashed=True) for n in names]

    checked = [Line("measured", [Point(w, v.median, v.low, v.high) for w, (t, _, v) in ((1, p) if p[0] == ONE_CORE else (2, p) for p in predictions(store, costs)) if v and t in (ONE_CORE, TWO_CORES)], has_path=False)]  # fmt: skip
    eight = [Line("simulated, 8 ranks in all", [Point(w, loads.kneighbor(costs, w, 8, 3)) for w in (1, 2, 4, 8)], is_dashed=True)]
    charts = [
        Chart("kNeighbor, K=3, 64 B", "cores", "iteration [us]", [*checked, *eight, dataclasses.replace(lines(["iteration of kNeighbor"])[0], name="simulated, 8 ranks a core")], x_ticks=(1, *CORES)),
        Chart("SIMULATED: allreduce, 8 ranks a core", "cores", "us", lines([f"allreduce, tree of fan-out {f}" for f in FANOUTS]), x_ticks=CORES),
        Chart("SIMULATED: loans", "cores", "a step over the ideal", lines([n for n in drawn if "all work" in n]), x_ticks=CORES, is_log_y=False),
    ]
    packet_us = _packet_us(store)
    if packet_us is not None:
        over = [Line(f"wire of {wire:g} us", [Point(x, y) for x, y in _over_nodes(costs, packet_us, wire)], is_dashed=True) for wire in (CLUSTER_WIRE_US, WIRE_US)]
        charts.append(Chart(f"SIMULATED: allreduce, nodes of {CORES_PER_NODE} cores", "nodes", "us", over, x_ticks=NODES))
    return [Figure("beyond_curves", "Simulated curves are dashed; dots are measured", charts, 2)]


def claims(store: Store, setting: Setting) -> list[Claim]:  # noqa: ARG001
    costs = costs_of(store)
    if costs is None:
        return []
    return [Claim(f"The simulated machine predicts: {text}", "docs/scaling.md", f"{predicted:.3g} us", "measured over predicted",
                  value.scaled(1 / predicted) if value else None, least=LEAST, most=MOST) for text, predicted, value in predictions(store, costs)]  # fmt: skip


def missing(setting: Setting) -> list[str]:
    few = ["Two cores are needed for most costs"] if setting.workers < 2 else []
    return [*few, "More than two cores: caches with several dies and memory of several sockets are not in the model",
            "Nodes: the wire has one latency, and packets of different nodes do not share it"]  # fmt: skip
