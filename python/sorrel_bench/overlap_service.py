"""The part `service` of `sorrel bench overlap`: who looks after messages.

bench/graph/relay.cpp on pretend nodes, with all workers at tasks and messages, and with `--comm-worker`, which takes one
of them for messages alone. Tasks of different length, and different amounts of them.
"""

import json
import os
import pathlib
import subprocess

from . import report

PARTS = ("service",)
WIRE = "latency=50us,bandwidth=1GB/s,nodes=4"
RANKS, WORKERS = 4, 2
MODES = {"all": [], "comm": ["--comm-worker"]}
TASK_US = (20, 500, 4000)
# Milliseconds of tasks that a rank has in a step.
WORK_MS = (0.5, 4.0, 16.0)


def build(command: str, folder: pathlib.Path) -> str:
    here = pathlib.Path(__file__).resolve()
    prefix = pathlib.Path(command).resolve().parents[1]
    source = here.parents[2] / "bench/graph/relay.cpp"
    include = next(p for p in (prefix / "include", here.parents[2] / "include") if (p / "sorrel/graph.hpp").is_file())
    archive = next(p for p in (prefix / "lib/libsorrel_graph.a", prefix / "src/libsorrel_graph.a") if p.is_file())
    program = folder / "relay"
    words = [command, "cxx", "-O2", "-std=c++20", "-w", f"-I{include}", str(source), str(archive), "-o", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"sorrel: bench: relay: {(done.stderr.strip().splitlines() or ['does not compile'])[-1][:200]}")
    return str(program)


def seconds_of(command: str, program: str, mode: str, task_us: float, tasks: int) -> float:
    steps = 10 if task_us * tasks < 10_000 else 4
    words = [command, "run", "-n", str(RANKS), "--workers", str(WORKERS), "--share", "fixed", "--wire", WIRE, *MODES[mode],
             program, str(task_us), str(tasks), str(steps)]  # fmt: skip
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SORREL_")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=kept)
    if done.returncode != 0:
        raise SystemExit(f"sorrel: bench: failed: {' '.join(words)}")
    told = done.stdout.split()
    return float(told[told.index("seconds") + 1])


def measure(arguments, facts: dict, folder: pathlib.Path) -> None:
    rounds = arguments.rounds or (2 if arguments.quick else 5)
    program = build(arguments.command, folder)
    cases = [(work_ms, task_us) for work_ms in WORK_MS for task_us in TASK_US if work_ms * 1000 >= task_us]
    samples: dict[str, dict[str, list[float]]] = {
        f"{work_ms} ms in tasks of {task_us} us": {mode: [] for mode in MODES} for work_ms, task_us in cases
    }
    progress = report.Progress(rounds * len(samples) * len(MODES), "run")
    for _ in range(rounds):
        for (work_ms, task_us), found in zip(cases, samples.values(), strict=True):
            for mode, times in found.items():
                progress.step(f"relay, tasks of {task_us} us, {mode}")
                times.append(seconds_of(arguments.command, program, mode, task_us, round(work_ms * 1000 / task_us)))
    progress.end()
    print(f"relay: {RANKS} ranks on 4 pretend nodes, {WORKERS} workers, 16 messages one after the other beside tasks; "
          f"ms a step, best of {rounds}:")  # fmt: skip
    print(f"{'a rank has':<32}{'all workers':>14}{'--comm-worker':>16}{'ratio':>8}")
    for name, found in samples.items():
        best = {mode: min(times) * 1e3 for mode, times in found.items()}
        print(f"{name:<32}{best['all']:>14.2f}{best['comm']:>16.2f}{best['comm'] / best['all']:>8.2f}")
    if arguments.json is not None:
        result = {"machine": facts, "options": {"rounds": rounds}, "missing": [], "samples": samples, "bars": []}
        arguments.json.with_suffix(".service.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
