"""The part `service` of `sorrel bench overlap`: which workers poll messages.

bench/graph/relay.cpp on simulated nodes, with tasks and messages on all workers, and with `--comm-worker`, which
reserves one worker for messages. Tasks of different length, and different amounts of them.
"""

import json
import pathlib

from . import graph_program, report
from .overlap_apps import BAR_WIRE

PARTS = ("service",)
RANKS, WORKERS = 4, 2
MODES = {"all": [], "comm": ["--comm-worker"]}
# Length of a task, microseconds of tasks of a rank in a step, and number of ranks that have tasks.
CASES = (
    (20, 500, 4), (500, 500, 4),
    (20, 2000, 4), (500, 2000, 4), (2000, 2000, 4),
    (20, 16000, 4), (500, 16000, 4),
    (20, 4000, 1), (500, 4000, 1), (4000, 4000, 1),
    (8000, 8000, 1),
)  # fmt: skip


def seconds_of(command: str, program: str, mode: str, task_us: int, work_us: int, ranks: int) -> float:
    steps = 10 if work_us < 10_000 else 4
    words = [command, "run", "-n", str(RANKS), "--workers", str(WORKERS), "--share", "fixed", *BAR_WIRE.words(), *MODES[mode],
             program, str(task_us), str(work_us // task_us), str(steps), str(ranks)]  # fmt: skip
    return float(graph_program.run(words)["seconds"])


def measure(arguments, facts: dict, folder: pathlib.Path) -> None:
    rounds = arguments.rounds or (2 if arguments.quick else 5)
    source = graph_program.ROOT / "bench/graph/relay.cpp"
    program = graph_program.must_build(arguments.command, folder / "relay", [source], ("-O2",))
    samples: dict[str, dict[str, list[float]]] = {
        f"{ranks} rank{'s' if ranks > 1 else ''}, {work_us / 1000} ms, tasks of {task_us} us": {mode: [] for mode in MODES}
        for task_us, work_us, ranks in CASES
    }
    progress = report.Progress(rounds * len(samples) * len(MODES), "run")
    for _ in range(rounds):
        for (task_us, work_us, ranks), found in zip(CASES, samples.values(), strict=True):
            for mode, times in found.items():
                progress.step(f"relay, tasks of {task_us} us, {mode}")
                times.append(seconds_of(arguments.command, program, mode, task_us, work_us, ranks))
    progress.end()
    print(f"relay: {RANKS} ranks on 4 simulated nodes, {WORKERS} workers, 16 messages one after the other beside tasks; "
          f"ms a step, best of {rounds}:")  # fmt: skip
    print(f"{'tasks have':<34}{'all workers':>14}{'--comm-worker':>16}{'ratio':>8}")
    for name, found in samples.items():
        best = {mode: min(times) * 1e3 for mode, times in found.items()}
        print(f"{name:<34}{best['all']:>14.2f}{best['comm']:>16.2f}{best['comm'] / best['all']:>8.2f}")
    if arguments.json is not None:
        result = {"machine": facts, "options": {"rounds": rounds}, "missing": [], "samples": samples, "bars": []}
        arguments.json.with_suffix(".service.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
