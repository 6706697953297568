"""All builds and all runs of a plan, with progress."""

from . import report
from .runner import Plan, Runner


def measure(plan: Plan) -> Runner:
    runner = Runner(plan)
    builds, turns = runner.builds(), runner.turns()
    progress = report.Progress(len(builds), "building")
    for probe, implementation in builds:
        progress.step(f"{probe} with {implementation.name}")
        runner.build(probe, implementation)
    progress.end()
    progress = report.Progress(len(turns), "run")
    for round_, experiment, implementation in turns:
        progress.step(f"round {round_ + 1} of {plan.rounds}, {experiment.title}, {implementation.name}")
        runner.run(experiment, implementation)
    progress.end()
    return runner
