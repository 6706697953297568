"""Study 000: ranks as user-level threads (AMPI): figures 5.1 and 5.2, and the cost of a switch.

The text says "context switching time ... less than half a microsecond", three switches in a step of six receives, "less than
0.1%" at a few milliseconds, figure 5.1 best at 16 chunks a processor, and in figure 5.2 10 % for 100 virtual processors.
"""

import dataclasses

from ..bars import OWN
from ..implementations import Job
from ..pictures import Chart, Line, Mark
from ..virtual_cg import GRID, LOOP, QUICK_RANKS, RANKS, STUDY_RANKS, STUDY_RATIO, STUDY_SWITCH_US, STUDY_SWITCHES
from ..virtual_cg import builds as cg_builds
from ..virtual_fem import CHUNKS, QUICK_CHUNKS, SECONDS, make_mesh, mesh_words
from ..virtual_fem import builds as fem_builds
from ..virtual_runs import Build, read_csv, read_results
from .estimates import Claim, Estimate
from .results import Figure, Table, points
from .samples import Row, Store
from .setting import Setting, cases, probe_build

NUMBER = "000"
PROCESSORS = 8  # of the study
TITLE = "Ranks as user-level threads"
SOURCE = "The published study of AMPI (Converse threads), figures 5.1 and 5.2; machines: Origin2000, Pentium 4, Athlon, Pentium III Xeon"
GRAIN_US = 2000.0  # "a few milliseconds"
SWITCH, CG, FEM = "switch", "fig. 5.2", "fig. 5.1"


def builds(setting: Setting) -> list[Build]:
    if not setting.is_quick:
        setting.mesh = make_mesh(setting.programs.folder)
    found = [b for b in [*cg_builds(setting), *fem_builds(setting)] if b.name != "cg2d counted"]
    return [*found, *(probe_build("yield", NUMBER, i) for i in setting.implementations)]


def _ranks(setting: Setting) -> list[int]:
    return sorted({*(QUICK_RANKS if setting.is_quick else RANKS), STUDY_RANKS})


def _chunks(setting: Setting) -> tuple[int, ...]:
    return QUICK_CHUNKS if setting.is_quick else CHUNKS


def rows(setting: Setting) -> list[Row]:
    own = setting.with_name(OWN)
    seconds = "0.05" if setting.is_quick else "0.15"
    found = [Row(cases([setting.launch_case((NUMBER, SWITCH, i.name), i, f"yield {i.name}", Job("", (seconds,), 8, 1), read_results)
                        for i in setting.implementations]))]  # fmt: skip
    steps = "10" if setting.is_quick else "40"
    cg = []
    for ranks in _ranks(setting):
        for i in setting.implementations:
            job = Job("", ("--grid", GRID, "--steps", steps), ranks, 1)
            cg.append(setting.launch_case((NUMBER, f"{CG}, {ranks}", i.name), i, f"cg2d {i.name}", job, read_results))
    if path := setting.programs.path(LOOP):
        cg.append(setting.command_case((NUMBER, CG, LOOP), (path, "1", GRID, steps), read_results, 1))
    found.append(Row(cases(cg)))
    fem = []
    for chunks in _chunks(setting):
        for i in setting.implementations:
            words = (*mesh_words(setting), "--csv", "--steps", "10" if setting.is_quick else "60", "--order", "near")
            ranks = chunks * setting.workers
            case = setting.launch_case((NUMBER, f"{FEM}, {chunks}", i.name), _with_metis(setting, i, own), f"fem {i.name}",
                                       Job("", words, ranks, setting.workers), read_csv)  # fmt: skip
            fem.append(case)
    return [*(row for row in found if row.cases), Row(cases(fem))]


def _with_metis(setting: Setting, implementation, own):
    """Sorrel's ranks share METIS, which rank 0 alone calls."""
    if implementation is not own or not setting.has_metis:
        return implementation

    def launch(job: Job) -> list[str]:
        words = implementation.launch(job)
        return [*words[:2], "--shared", "libmetis.so.5", *words[2:]]

    return dataclasses.replace(implementation, launch=launch)


def _names(setting: Setting) -> list[str]:
    return [i.name for i in setting.implementations]


def _cg(store: Store, ranks: int, name: str) -> Estimate | None:
    found = store.median((NUMBER, f"{CG}, {ranks}", name), "step")
    return found.scaled(1e-3) if found else None


def _cg_ratio(store: Store, ranks: int, name: str = OWN) -> Estimate | None:
    return store.ratio((NUMBER, f"{CG}, {ranks}", name), (NUMBER, f"{CG}, 1", name), "step")


def _fem(store: Store, chunks: int, name: str) -> Estimate | None:
    found = store.median((NUMBER, f"{FEM}, {chunks}", name), SECONDS)
    return found.scaled(1e3) if found else None


def _fem_ratio(store: Store, chunks: int, name: str = OWN) -> Estimate | None:
    return store.ratio((NUMBER, f"{FEM}, {chunks}", name), (NUMBER, f"{FEM}, 1", name), SECONDS)


def tables(store: Store, setting: Setting) -> list[Table]:
    names = _names(setting)
    head = [word for name in names for word in (f"{name}, ms", f"{name} over 1 rank")]
    cg = [[str(ranks), *(cell for n in names for cell in (_cg(store, ranks, n), _cg_ratio(store, ranks, n))),
           f"{STUDY_RATIO:.2f} (Pentium 4)" if ranks == STUDY_RANKS else "-"] for ranks in _ranks(setting)]  # fmt: skip
    fem = [[str(c), *(cell for n in names for cell in (_fem(store, c, n), _fem_ratio(store, c, n))), "best" if c == 16 else "-"] for c in _chunks(setting)]
    switches = [[n, store.median((NUMBER, SWITCH, n), "yield"), "< 500"] for n in names]
    mesh = "24 000 elements" if setting.is_quick else "334 604 elements" if setting.mesh else "300 000 elements"
    return [
        Table("switch", "A switch between user-level threads, ns", ["implementation", "here", "published"], switches,
              [f"Estimate of the study: {STUDY_SWITCHES} switches in a step. Here: a yield among 8 ranks of one worker."]),
        Table("fig_5_1", f"Figure 5.1: finite elements, {mesh}, {setting.workers} processors: a step by chunks a processor",
              ["chunks", *(h.replace("1 rank", "1 chunk") for h in head), "published"], fem, ["The study: 300K elements on 8 processors of an Origin2000; its curve has no numbers."]),
        Table("fig_5_2", f"Figure 5.2: conjugate gradients, {GRID} x {GRID}, one processor: a step by virtual processors", ["ranks", *head, "published"], cg,
              ['The study: "slightly faster" with 100 on Athlon and Pentium III Xeon, without a number.']),
    ]  # fmt: skip


def figures(store: Store, setting: Setting) -> list[Figure]:
    names = _names(setting)
    fem = [Line(n, points([(c, _fem(store, c, n)) for c in _chunks(setting)])) for n in names]
    cg = [Line(n, points([(r, _cg(store, r, n)) for r in _ranks(setting)])) for n in names]
    one = _cg(store, 1, OWN)
    marks = [Mark("published: 100 over 1 on a Pentium 4 (x 1.10)", STUDY_RANKS, STUDY_RATIO * one.median)] if one else []
    return [
        Figure("000_fig_5_1", "Figure 5.1: finite elements over chunks a processor",
               [Chart("Time of a step over chunks a processor", "chunks a processor", "time of a step [ms]", fem, x_ticks=_chunks(setting), is_log_y=False,
                      note="Published: best at 16 chunks; the curve has no numbers.")]),
        Figure("000_fig_5_2", "Figure 5.2: conjugate gradients over virtual processors",
               [Chart(f"Time of a step, {GRID} x {GRID}, one processor", "virtual processors", "time of a step [ms]", cg, marks,
                      x_ticks=[r for r in _ranks(setting) if r != 64])]),
    ]  # fmt: skip


def claims(store: Store, _setting: Setting) -> list[Claim]:
    switch = store.median((NUMBER, SWITCH, OWN), "yield")
    us = switch.scaled(1e-3) if switch else None
    share = us.scaled(100 * STUDY_SWITCHES / GRAIN_US) if us else None
    return [
        Claim("A switch between user-level threads takes less than half a microsecond", "AMPI study", "< 0.5 us", "a switch, us", us, most=STUDY_SWITCH_US),
        Claim("At a few milliseconds of computing in a step, three switches cost less than 0.1 %", "AMPI study", "< 0.1 %",
              f"three switches in {GRAIN_US / 1000:g} ms, %", share, most=0.1),
        Claim("More chunks are beneficial up to 16 a processor: 16 are faster than 1", "AMPI study, figure 5.1", "-", "16 chunks over 1", _fem_ratio(store, 16), most=1.0),
        Claim("100 virtual processors on one processor cost no more than 10 %", "AMPI study, figure 5.2", "1.10, or below 1", "100 ranks over 1",
              _cg_ratio(store, STUDY_RANKS), most=STUDY_RATIO),
    ]  # fmt: skip


def missing(setting: Setting) -> list[str]:
    found = [] if any(i.name == "AMPI" for i in setting.implementations) else ["AMPI itself: not installed; --ampi DIR names its folder"]
    return [*found, "Figure 5.1 and 5.2: the published curves are pictures without numbers"]
