"""Study 004: Mei, "A Preliminary Investigation on Optimizing Charm++ for Homogeneous Multi-core Machines": kNeighbor with threads and
processes and with each step of the study taken back, queues, allocation, messages to self, whole programs, cache misses.

Of the published curves the text has axes and legends only; its numbers are "less than 2%", "around 1%", 1.236 and 0.913 us.
"""

import dataclasses
import functools
import re
import shutil
import subprocess

from ..bars import OWN
from ..implementations import Implementation, Job
from ..pictures import BarChart, Bars, Chart, Line, Point
from ..runner import RESULT_LINE, probe_source
from ..smp import ALLOCATION, KINDS, LIBRARIES, PER_CORE, PROCESSES, flags, sorrel_processes, sources
from ..virtual_runs import ROOT, Build, Values, read_results
from .estimates import Claim, Estimate
from .results import Figure, Table, point, points
from .samples import Row, Store
from .setting import Setting, cases, probe_build

NUMBER = "004"
PROCESSORS = 7  # of the study
TITLE = "Message layers of multi-core machines"
SOURCE = "Mei: A Preliminary Investigation on Optimizing Charm++ for Homogeneous Multi-core Machines (Charm++ Workshop, 2008); two quad-core Xeons, 7 cores used"
AUTHOR = "Mei 2008"
ELEMENTS, NEIGHBOURS = 7, 3
SIZES, QUICK_SIZES = (0, 64, 1024, 2000, 4000, 8000, 12000, 16000), (64, 4000, 16000)
PRODUCERS, QUICK_PRODUCERS = tuple(range(1, 9)), (1, 4, 8)
BEFORE_US, AFTER_US = 1.236, 0.913
# Ranks that are processes and outnumber the cores by more wait for time slices.
PROCESSES_PER_CORE_MAX = 4
NO_STUDY_BUILD = "it needs --study-build, the `sorrel` of a build by `cmake --preset study`"
# The study's steps, in its order: what is left of its first message layer in each (core/study/steps.hpp).
SMP, RELAXED, OWN_QUEUES, SYSTEM_HEAP, POOLS, APART = ("SMP", "relaxed lock", "queue of each sender", "C library's heap", "pool of each worker", "counters apart")
STEPS = {
    SMP: "queue=locked,heap=locked,counters=packed",
    RELAXED: "queue=relaxed,heap=locked,counters=packed",
    "single queue, fence": "queue=shared,heap=locked,counters=packed",
    OWN_QUEUES: "queue=own,heap=locked,counters=packed",
    SYSTEM_HEAP: "queue=own,heap=system,counters=packed",
    POOLS: "queue=own,heap=pool,counters=packed",
    APART: "queue=own,heap=pool,counters=apart",
}
# Whole programs: conjugate gradients, and a gas flow that allocates in every step.
PROGRAMS = {"cg2d": ("cg2d, 1000 x 1000", ("--grid", "1000", "--steps", "100"), ("--grid", "1000", "--steps", "20")),
            "hydro": ("hydro, 24^3 cells a rank", ("24", "50"), ("24", "10"))}  # fmt: skip
RANKS_PER_CORE = 4
SAMPLE_US = 2000  # bench/probes/probe.h
FAR_APART = 50  # the largest value of a line over that of another
MISSES = re.compile(r"^(\d+),[^,]*,cache-misses", re.MULTILINE)


def _implementations(setting: Setting) -> list[Implementation]:
    own = setting.with_name(OWN)
    processes = sorrel_processes(setting.command, PROCESSES, False)
    return [own, processes, *(i for i in setting.implementations if i is not own), *setting.peers]


def _program(name: str, by: Implementation) -> str:
    """Ranks as threads and as processes have one program."""
    return f"{name} {OWN if by.is_sorrel else by.name}"


def _forms(setting: Setting) -> list[Implementation]:
    """All of them, and ranks in a process for each core: threads and processes at once."""
    own, processes, *others = _implementations(setting)
    return [own, processes, sorrel_processes(setting.command, PER_CORE, True), *others]


def _step(setting: Setting, name: str) -> Implementation:
    """The measuring build with this step."""
    own = setting.with_name(OWN)

    def launch(job: Job) -> list[str]:
        words = ["env", f"SORREL_STUDY_STEPS={STEPS[name]}", setting.study_command or "", "run"]
        return [*words, "--workers", str(min(job.workers, job.ranks)), "-n", str(job.ranks), job.program, *job.arguments]

    return dataclasses.replace(own, name=name, launch=launch)


@functools.cache
def counters_error() -> str:
    """Why no cache misses are counted; nothing if they are."""
    perf = shutil.which("perf")
    if perf is None:
        return "the command perf is not installed"
    done = subprocess.run([perf, "stat", "-x", ",", "-e", "cache-misses", "true"], capture_output=True, text=True, check=False, timeout=30)
    return "" if MISSES.search(done.stderr) else "perf has no counter of cache misses on this machine"


def _counted(by: Implementation) -> Implementation:
    """The implementation with its jobs below perf, which prints after them."""
    perf = ["perf", "stat", "-x", ",", "-e", "cache-misses", "--log-fd", "1"]
    return dataclasses.replace(by, launch=lambda job: [*perf, *by.launch(job)])


def read_misses(output: str) -> Values:
    """Cache misses of an iteration: those of the run over its iterations, as a sample lasts about as long whatever an iteration takes."""
    found = MISSES.search(output)
    samples = [float(value) for name, value, _ in RESULT_LINE.findall(output) if name == "iteration"]
    return {"misses": int(found[1]) / sum(SAMPLE_US / value for value in samples)} if found and samples else {}


def builds(setting: Setting) -> list[Build]:
    named = {_program("", i): i for i in _implementations(setting)}
    own = setting.with_name(OWN)
    found = [probe_build(probe, NUMBER, own if i.is_sorrel else i) for i in named.values() for probe in ("kneighbor", "self_message")]
    for i in named.values():
        by = own if i.is_sorrel else i
        found.append(Build(_program("cg2d", i), NUMBER, by.compiler, (probe_source("cg2d"),)))
        found.append(Build(_program("hydro", i), NUMBER, by.compiler, (ROOT / "bench/virtual/hydro.c",), (f"-I{probe_source('kneighbor').parent}",)))
    return [*found, Build("smp", NUMBER, ("cc",), tuple(sources()), flags(), LIBRARIES)]


def _sizes(setting: Setting) -> tuple[int, ...]:
    return QUICK_SIZES if setting.is_quick else SIZES


def _producers(setting: Setting) -> tuple[int, ...]:
    return QUICK_PRODUCERS if setting.is_quick else PRODUCERS


def _element_counts(setting: Setting) -> list[int]:
    """One on each core, and the study's number on all cores."""
    return sorted({setting.workers, ELEMENTS})


def _row(elements: int, size: int) -> str:
    return f"kNeighbor, {elements} elements, {size} B"


def _step_row(elements: int, size: int) -> str:
    return f"steps, {_row(elements, size)}"


def _program_row(program: str, ranks: int) -> str:
    return f"{program}, {ranks} ranks"


def _can_run(setting: Setting, by: Implementation, elements: int) -> bool:
    return by.has_light_ranks or elements <= PROCESSES_PER_CORE_MAX * setting.workers


def rows(setting: Setting) -> list[Row]:
    seconds = "0.05" if setting.is_quick else "0.15"
    found = []
    for elements in _element_counts(setting):
        for size in _sizes(setting):
            job = Job("", (seconds, str(size), str(NEIGHBOURS)), elements, setting.workers)
            found.append(Row(cases([setting.launch_case((NUMBER, _row(elements, size), i.name), i, _program("kneighbor", i), job, read_results)
                                    for i in _implementations(setting) if _can_run(setting, i, elements)])))  # fmt: skip
    for elements in _element_counts(setting) if setting.study_command else ():
        for size in _sizes(setting):
            job = Job("", (seconds, str(size), str(NEIGHBOURS)), elements, setting.workers)
            found.append(Row(cases([setting.launch_case((NUMBER, _step_row(elements, size), name), _step(setting, name), _program("kneighbor", setting.with_name(OWN)), job, read_results)
                                    for name in STEPS])))  # fmt: skip
    if setting.study_command and not counters_error():
        job = Job("", (seconds, "64", str(NEIGHBOURS)), ELEMENTS, setting.workers)
        found.append(Row(cases([setting.launch_case((NUMBER, "misses", name), _counted(_step(setting, name)), _program("kneighbor", setting.with_name(OWN)), job, read_misses)
                                for name in STEPS])))  # fmt: skip
    job = Job("", (seconds, "8"), setting.workers, setting.workers)
    found.append(Row(cases([setting.launch_case((NUMBER, "self", i.name), i, _program("self_message", i), job, read_results) for i in _implementations(setting)])))
    if smp := setting.programs.path("smp"):
        turns = [("queues", (str(n),), "queue", n) for n in _producers(setting)]
        for _, words, kind, n in turns:
            found.append(Row([setting.command_case((NUMBER, f"queues, {n}", "smp"), (smp, seconds, kind, *words), read_results)]))
        for kind in ("self", "allocate"):
            found.append(Row([setting.command_case((NUMBER, kind, "smp"), (smp, seconds, kind), read_results)]))
    for program, (_, arguments, quick_arguments) in PROGRAMS.items():
        for ranks in sorted({setting.workers, RANKS_PER_CORE * setting.workers}):
            job = Job("", quick_arguments if setting.is_quick else arguments, ranks, setting.workers)
            found.append(Row(cases([setting.launch_case((NUMBER, _program_row(program, ranks), i.name), i, _program(program, i), job, read_results)
                                    for i in _forms(setting) if _can_run(setting, i, ranks)])))  # fmt: skip
    return [row for row in found if row.cases]


def _iteration(store: Store, elements: int, size: int, name: str) -> Estimate | None:
    return store.median((NUMBER, _row(elements, size), name), "iteration")


def _queue(store: Store, kind: str, producers: int) -> Estimate | None:
    return store.median((NUMBER, f"queues, {producers}", "smp"), f"{kind}_{producers}")


def tables(store: Store, setting: Setting) -> list[Table]:
    names = [i.name for i in _implementations(setting)]
    found = []
    for elements in _element_counts(setting):
        body = [[f"{size} B", *(_iteration(store, elements, size, n) for n in names),
                 store.ratio((NUMBER, _row(elements, size), PROCESSES), (NUMBER, _row(elements, size), OWN), "iteration")] for size in _sizes(setting)]  # fmt: skip
        title = f"kNeighbor, {elements} elements on {setting.workers} cores, K={NEIGHBOURS}: an iteration, us"
        found.append(Table(f"kneighbor_{elements}", title, ["bytes", *names, f"{PROCESSES} over {OWN}"], body,
                           [f"{OWN}: ranks are threads (SMP in the study). {PROCESSES} and other MPIs: processes (Non-SMP, POSIX shared memory). The published curves have no numbers."]))
    for elements in _element_counts(setting) if setting.study_command else ():
        body = [[f"{size} B", *(store.median((NUMBER, _step_row(elements, size), name), "iteration") for name in STEPS)] for size in _sizes(setting)]
        found.append(Table(f"steps_{elements}", f"kNeighbor, {elements} elements on {setting.workers} cores, with steps of the study taken back: an iteration, us", ["bytes", *STEPS], body,
                           ["From left to right the study's steps, each with those before it; the last column is Sorrel's message layer, in a build where steps can be chosen.",
                            *(f"{name}: SORREL_STUDY_STEPS={value}" for name, value in STEPS.items()),
                            "A message to a posted receive needs no buffer, so the heap matters only for messages that come early."]))  # fmt: skip
    if setting.study_command and not counters_error():
        found.append(Table("misses", f"kNeighbor, {ELEMENTS} elements, 64 B: cache misses of an iteration", ["", "here"],
                           [[name, store.median((NUMBER, "misses", name), "misses")] for name in STEPS], ["Counted by perf over the whole run: all misses, those of the start too, not those by Invalidate alone."]))  # fmt: skip
    forms = [i.name for i in _forms(setting)]
    body = [[f"{title}, {ranks} ranks", *(store.median((NUMBER, _program_row(program, ranks), name), "step") for name in forms)]
            for program, (title, *_) in PROGRAMS.items() for ranks in sorted({setting.workers, RANKS_PER_CORE * setting.workers})]  # fmt: skip
    found.append(Table("programs", f"Whole programs on {setting.workers} cores: a step, us", ["", *forms], body,
                       [f"{OWN}: threads of one process. {PROCESSES}: processes. {PER_CORE}: a process for each core, with several ranks in each."]))  # fmt: skip
    body = [[str(n), *(_queue(store, kind, n) for kind in KINDS)] for n in _producers(setting)]
    found.append(Table("queues", "Queues: each producer makes 10 000 items, one consumer takes all: an iteration, us", ["producers", *KINDS.values()], body,
                       ["The published curves have no numbers."]))  # fmt: skip
    body = [[f"{n}, through its scheduler", _ns_to_us(store.median((NUMBER, "self", n), "self_message")), "-"] for n in names]
    key = (NUMBER, "self", "smp")
    body += [["stores only, states of the cores adjacent", _ns_to_us(store.median(key, "close_together")), f"{BEFORE_US} (whole scheduler)"],
             ["stores only, states on lines of their own", _ns_to_us(store.median(key, "apart")), f"{AFTER_US} (whole scheduler)"]]
    found.append(Table("self", f"A message to self on all {setting.workers} cores at once, us", ["", "here", "published"], body))
    body = [[title, store.median((NUMBER, "allocate", "smp"), name)] for name, title in ALLOCATION.items()]
    found.append(Table("allocation", "A message of 256 B allocated on one core and freed on another, ns", ["", "here"], body,
                       ['The study: "Every memory allocation is protected by a lock"; its curves have no numbers.']))  # fmt: skip
    return found


def _ns_to_us(value: Estimate | None) -> Estimate | None:
    return value.scaled(1e-3) if value else None


def is_far_apart(lines: list[Line]) -> bool:
    """Whether a linear axis would show most of them as zero."""
    largest = [max(point.y for point in line.points) for line in lines if line.points]
    return bool(largest) and max(largest) > FAR_APART * min(largest)


def figures(store: Store, setting: Setting) -> list[Figure]:
    charts = []
    for elements in _element_counts(setting):
        lines = []
        for i in _implementations(setting):
            values = [(size, _iteration(store, elements, size, i.name)) for size in _sizes(setting)]
            lines.append(Line(i.name, points([(size, v.scaled(1e-3)) for size, v in values if v])))
        is_far = is_far_apart(lines)
        charts.append(Chart(f"kNeighbor, {elements} elements on {setting.workers} cores, K={NEIGHBOURS}", "msg size (byte)", "iteration time (ms)", lines,
                            is_log_x=False, is_log_y=is_far, note="Logarithmic, since one is many times slower; the study's axis is linear." if is_far else ""))
    for elements in _element_counts(setting) if setting.study_command else ():
        lines = []
        for name in STEPS:
            values = [(size, store.median((NUMBER, _step_row(elements, size), name), "iteration")) for size in _sizes(setting)]
            lines.append(Line(name, points([(size, v.scaled(1e-3)) for size, v in values if v])))
        charts.append(Chart(f"The study's steps, {elements} elements", "msg size (byte)", "iteration time (ms)", lines, is_log_x=False, is_log_y=False))
    queues = [Line(title, points([(n, _queue(store, kind, n)) for n in _producers(setting)])) for kind, title in KINDS.items()]
    names = [i.name for i in _implementations(setting)]
    here = [point(0, _ns_to_us(store.median((NUMBER, "self", name), "self_message"))) for name in names]
    published = [Point(0, BEFORE_US), Point(0, AFTER_US)]
    selfs = [Bars("here", [*here, None, None]), Bars("published", [*(None for _ in names), *published], is_published=True)]
    groups = [*(name.replace(" ", "\n", 1) for name in names), "Charm++,\nbefore", "Charm++,\nafter"]
    own = [BarChart("A message to self on all cores at once, through the scheduler", "us", groups, selfs)] if any(here) else []
    return [
        Figure("004_kneighbor", "Iteration time of kNeighbor over message size", charts, 2),
        Figure("004_queues", "Queues: iteration time over producers",
               [Chart("One consumer, 10 000 items of each producer", "number of producers", "iteration time [us]", queues, x_ticks=_producers(setting), is_log_x=False, is_log_y=False)]),
        Figure("004_self", "A message to self", own),
    ]  # fmt: skip


def _gain(store: Store, setting: Setting, before: str, after: str) -> Estimate | None:
    """The time of kNeighbor with a step over that without it: the study's number of elements, 4000 B."""
    row = _step_row(ELEMENTS, 4000)
    return store.ratio((NUMBER, row, after), (NUMBER, row, before), "iteration") if setting.study_command else None


def claims(store: Store, setting: Setting) -> list[Claim]:
    most = max(_producers(setting))
    row = (NUMBER, f"queues, {most}", "smp")
    key = (NUMBER, "self", "smp")
    allocate = (NUMBER, "allocate", "smp")
    return [
        Claim(f"A queue for each producer with fences costs less than one queue with a lock ({most} producers)", f"{AUTHOR}, slide 9", "a curve without numbers",
              "queue each over locked queue", store.ratio(row, row, f"queue_each_{most}", f"lock_{most}"), most=1.0),
        Claim(f"Sorrel's own mailboxes cost less than one queue with a lock ({most} producers)", f"{AUTHOR}, slide 9", "a curve without numbers",
              "core/mailbox over locked queue", store.ratio(row, row, f"mailbox_{most}", f"lock_{most}"), most=1.0),
        Claim("On kNeighbor a queue for each producer with fences gains less than 2 %", f"{AUTHOR}, slide 10", "< 2 %", "after over before",
              _gain(store, setting, RELAXED, OWN_QUEUES), least=0.98, most=1.0, reason=NO_STUDY_BUILD),
        Claim("On kNeighbor an allocator without a common lock gains", f"{AUTHOR}, slide 12", "a curve without numbers", "after over before",
              _gain(store, setting, OWN_QUEUES, SYSTEM_HEAP), most=1.0, reason=NO_STUDY_BUILD),
        Claim("An allocator without a common lock costs less than a heap behind one lock", f"{AUTHOR}, slides 11 and 12", "a curve without numbers",
              "C library over locked heap", store.ratio(allocate, allocate, "malloc", "locked_heap"), most=1.0),
        Claim("States on cache lines of their own make a message to self cheaper", f"{AUTHOR}, slide 14", "0.913 / 1.236 = 0.74", "apart over adjacent",
              store.ratio(key, key, "apart", "close_together"), most=1.0),
        Claim("On kNeighbor, removing false sharing gains around 1 %", f"{AUTHOR}, slide 15", "around 1 %", "after over before",
              _gain(store, setting, POOLS, APART), least=0.98, most=1.0, reason=NO_STUDY_BUILD),
    ]  # fmt: skip


def missing(setting: Setting) -> list[str]:
    few = [f"One element on each of 7 cores: this machine has {setting.workers}"] if setting.workers < ELEMENTS else []
    steps = [] if setting.study_command else [f"The steps on kNeighbor itself (slides 8, 10, 12, 15): {NO_STUDY_BUILD}"]
    misses = counters_error() or ("" if setting.study_command else NO_STUDY_BUILD)
    return [*few, *steps, *([f"Cache misses (slide 13): {misses}"] if misses else ["Misses by Invalidate alone (slide 13): perf has no portable name for them"]),
            "Effects on NAMD up to 24 nodes (slide 18): no such program here; cg2d and a gas flow on one machine stand for it",
            "All published curves: the text has axes and legends only"]  # fmt: skip
