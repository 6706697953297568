"""Tests of the driver, python/sorrel_bench, without running any MPI.

    python3 bench/driver_test.py
"""

import argparse
import contextlib
import dataclasses
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from sorrel_bench import beside, disturbance, graph, overlap, overlap_apps, overlap_charts, throughput  # noqa: E402
from sorrel_bench import mpi, partition, scaling, sizes, smp, smp_host  # noqa: E402
from sorrel_bench.bars import Bar, judge, settle  # noqa: E402
from sorrel_bench.disturbance import Runs  # noqa: E402
from sorrel_bench.experiments import EXPERIMENTS, Experiment, select  # noqa: E402
from sorrel_bench.implementations import Implementation, Job  # noqa: E402
from sorrel_bench.report import number, print_bars  # noqa: E402
from sorrel_bench.runner import Plan, Runner, Samples, percentile, probe_source  # noqa: E402


def implementation(name: str, light: bool) -> Implementation:
    return Implementation(name, "1", ("cc",), lambda job: [job.program], has_light_ranks=light)


OWN = implementation("Sorrel", light=True)
THREADS = implementation("AMPI", light=True)
PROCESSES = implementation("Open MPI", light=False)


def by_name(name: str) -> Experiment:
    return next(e for e in EXPERIMENTS if e.name == name)


def samples_of(*rows: tuple[str, Implementation, str]) -> Samples:
    samples = Samples()
    for name, who, output in rows:
        samples.add(by_name(name), who, output)
    return samples


class ReadingAProbe(unittest.TestCase):
    def test_every_result_line_is_a_sample_and_other_lines_are_none(self) -> None:
        samples = Samples()
        count = samples.add(by_name("yield_8"), OWN, "noise\nresult yield 14.5 ns\nresult yield 13 ns\n")
        series = samples.get("yield_8", "Sorrel", "yield")
        self.assertEqual((count, series.floor, series.median, series.unit), (2, 13, 13.75, "ns"))

    def test_cg2d_is_read_as_its_users_read_it(self) -> None:
        line = "cg2d: ranks 64, steps 100, time per step mean 566.1 us, residual 9.9e-07\n"
        samples = samples_of(("cg2d_64", OWN, line))
        self.assertEqual(samples.get("cg2d_64", "Sorrel", "step").floor, 566.1)

    def test_the_source_of_every_probe_is_there(self) -> None:
        for experiment in EXPERIMENTS:
            self.assertTrue(probe_source(experiment.probe).is_file())


class StudyingCores(unittest.TestCase):
    def runner(self, *rows: tuple[str, str, str]) -> Runner:
        names = ("Sorrel", smp.PROCESSES, smp.PER_CORE, "MPICH", "Open MPI")
        mpis = [implementation(name, light=name.startswith("Sorrel")) for name in names]
        runner = Runner(Plan([*smp.KNEIGHBOR, *smp.SHM], mpis, 1, 0.1, [0, 1], pathlib.Path()))
        for experiment, who, output in rows:
            found = next(e for e in runner.plan.experiments if e.name == experiment)
            runner.samples.add(found, next(m for m in mpis if m.name == who), output)
        return runner

    def test_processes_are_held_against_the_better_host(self) -> None:
        runner = self.runner(
            ("pingpong_1Mi", smp.PROCESSES, "result half_round_trip 60 us"),
            ("pingpong_1Mi", "MPICH", "result half_round_trip 74 us"),
            ("pingpong_1Mi", "Open MPI", "result half_round_trip 69 us"),
        )
        bar = next(b for b in smp.shm_bars(runner) if b.name.startswith("1 MiB"))
        self.assertEqual((bar.value, bar.peer, bar.peer_value, bar.ok), (60, "Open MPI", 69, True))
        self.assertAlmostEqual(bar.bar, 62.1)

    def test_without_a_host_there_is_no_verdict_unless_the_bar_is_a_number(self) -> None:
        runner = self.runner(
            ("pingpong_8", smp.PROCESSES, "result half_round_trip 90 ns"),
            ("kneighbor_64", smp.PROCESSES, "result iteration 14 us"),
        )
        verdicts = {bar.name: bar.ok for bar in smp.shm_bars(runner)}
        self.assertIsNone(verdicts["8 B half round trip, two processes"])
        self.assertFalse(verdicts["kNeighbor 64 B, 8 processes on 2 cores"])

    def test_small_samples_are_read_by_name_and_judged_by_medians(self) -> None:
        small = smp.Small()
        small.add("result queue_each_8 10 us\nresult queue_each_8 30 us\nresult queue_each_8 20 us\nresult lock_8 25 us\n")
        bars = {bar.name: bar for bar in smp.small_bars(small)}
        self.assertEqual(bars["a queue each, 8 producers"].value, 20)
        self.assertTrue(bars["a queue each, 8 producers"].ok)

    def test_the_picture_has_a_line_for_each_way_that_was_measured(self) -> None:
        runner = self.runner(*((f"kneighbor_{size}", "Sorrel", f"result iteration {size + 3} us") for size in smp.SIZES))
        [chart] = smp.charts(runner)
        self.assertEqual([line.name for line in chart.lines if line.points], ["Sorrel"])
        self.assertEqual([point.x for point in chart.lines[0].points], list(smp.SIZES))
        self.assertTrue(smp.charts(self.runner())[0].is_empty)

    def test_the_sources_are_there(self) -> None:
        self.assertTrue(all(source.is_file() for source in smp.sources()))


class RidingOnAHost(unittest.TestCase):
    def test_sorrel_is_started_by_the_hosts_own_launcher(self) -> None:
        host = Implementation("Open MPI", "1", ("cc",), lambda job: ["mpiexec", job.program, *job.arguments])
        own, over, memory = smp_host.implementations("/bin/true", [THREADS, host])
        self.assertEqual(own, host)
        words = over.launch(Job("./pingpong", ("8",), 2, 2))
        self.assertEqual(words[:4], ["mpiexec", "/usr/bin/env", "SORREL_HOST_MEMORY=0", "/bin/true"])
        self.assertEqual(words[-2:], ["./pingpong", "8"])
        self.assertIn("SORREL_HOST_MEMORY=1", memory.launch(Job("./pingpong", (), 2, 2)))

    def test_each_way_is_held_against_its_host_and_a_margin(self) -> None:
        mpis = smp_host.implementations("/bin/true", [PROCESSES])
        runner = Runner(Plan(smp_host.EXPERIMENTS, mpis, 1, 0.1, [0, 1], pathlib.Path()))
        for mpi, times in zip(mpis, ((100, 200), (351, 440), (80, 90)), strict=True):
            for time in times:
                runner.samples.add(smp_host.EXPERIMENTS[0], mpi, f"result half_round_trip {time} ns\n")
        verdicts = {bar.name.removeprefix("8 B, started by Open MPI, "): (bar.bar, bar.ok) for bar in smp_host.bars(runner)}
        self.assertEqual(verdicts["over it, floor"], (350, False))
        self.assertEqual(verdicts["over it, median"], (400, True))
        self.assertEqual(verdicts["shared memory, floor"], (350, True))


class Judging(unittest.TestCase):
    def bar(self, samples: Samples, name: str) -> dict:
        return next(bar.as_json() for bar in judge(samples) if bar.name.startswith(name))

    def test_a_bar_set_by_a_missing_peer_has_no_verdict(self) -> None:
        samples = samples_of(("pingpong_8_two_workers", OWN, "result half_round_trip 80 ns\n"))
        bar = self.bar(samples, "8 B half round trip, two workers")
        self.assertEqual((bar["value"], bar["bar"], bar["ratio"], bar["ok"]), (80, None, None, None))

    def test_a_bar_set_by_a_peer_is_held_against_the_same_run(self) -> None:
        samples = samples_of(
            ("kneighbor_64", OWN, "result iteration 3 us\n"), ("kneighbor_64", THREADS, "result iteration 8.4 us\n")
        )
        bar = self.bar(samples, "kNeighbor in MPI, 8 ranks, K=3, 2 workers: 64 B")
        self.assertAlmostEqual(bar["bar"], 2.8)
        self.assertFalse(bar["ok"])

    def test_a_median_far_above_a_good_floor_misses_its_bar(self) -> None:
        output = "".join(f"result iteration {us} us\n" for us in (2, 9, 9))
        samples = samples_of(("kneighbor_64", OWN, output), ("kneighbor_64", THREADS, "result iteration 8.4 us\n"))
        name = "kNeighbor in MPI, 8 ranks, K=3, 2 workers: 64 B"
        self.assertTrue(self.bar(samples, name)["ok"])
        self.assertFalse(self.bar(samples, f"{name}, median")["ok"])
        yields = samples_of(("yield_8", OWN, "result yield 10 ns\nresult yield 16 ns\nresult yield 16 ns\n"))
        self.assertEqual((self.bar(yields, "yield")["ok"], self.bar(yields, "yield, rank to rank, same worker, 8 ranks, median")["ok"]),
                         (True, False))

    def test_a_bar_that_is_a_number_needs_no_peer(self) -> None:
        bar = self.bar(samples_of(("yield_8", OWN, "result yield 15 ns\n")), "yield")
        self.assertEqual((bar["bar"], bar["ok"], bar["peer_value"]), (15, True, None))

    def test_the_ideal_of_a_loop_is_its_computing_spread_over_the_workers(self) -> None:
        output = "result iteration 48 us\nresult compute 5.5 us\n"
        bar = self.bar(samples_of(("cg_loop_16", OWN, output)), "CG-like loop over its ideal, 2 workers: 16")
        self.assertAlmostEqual(bar["value"], 48 / 44)

    def test_memory_is_what_each_further_rank_adds(self) -> None:
        samples = samples_of(
            ("startup_1", OWN, "result other_memory 1000 KiB\n"),
            ("startup_1024", OWN, f"result other_memory {1000 + 1023 * 6} KiB\n"),
        )
        self.assertAlmostEqual(self.bar(samples, "memory per rank")["value"], 6)

    def test_every_bar_is_there_without_any_sample(self) -> None:
        bars = [bar.as_json() for bar in judge(Samples())]
        self.assertTrue(all(bar["value"] is None and bar["ok"] is None for bar in bars))
        self.assertEqual(len({bar["name"] for bar in bars}), len(bars))


def bar(name: str, value: float | None, most: float | None, is_timed: bool = True) -> Bar:
    return Bar(name, value, "ns", "-", None, most, "", is_timed)


class Scaling(unittest.TestCase):
    def point(self, name: str) -> scaling.Point:
        return next(p for p in scaling.points_of(16, scaling.PARTS, is_quick=False) if p.name == name)

    def samples(self, *rows: tuple[str, str, str]) -> Samples:
        samples = Samples()
        for name, who, output in rows:
            samples.add(self.point(name), implementation(who, light=True), output)
        return samples

    def test_the_counts_of_cores_are_powers_of_two_and_all(self) -> None:
        self.assertEqual([scaling.worker_counts(n) for n in (1, 2, 12, 16)], [[1], [1, 2], [1, 2, 4, 8, 12], [1, 2, 4, 8, 16]])

    def test_every_point_has_its_own_name_and_fits_the_machine(self) -> None:
        for cores in (1, 2, 3, 16, 128):
            points = scaling.points_of(cores, scaling.PARTS, is_quick=False)
            self.assertEqual(len({p.name for p in points}), len(points))
            self.assertTrue(all(1 <= p.workers <= cores and p.ranks >= 1 for p in points))
            self.assertTrue(all(probe_source(p.probe).is_file() for p in points))

    def test_processes_take_part_where_each_has_a_core(self) -> None:
        self.assertTrue(self.point("allreduce_16_16").concerns(PROCESSES))
        self.assertFalse(self.point("allreduce_256_16").concerns(PROCESSES))
        self.assertFalse(self.point("barrier_16").concerns(PROCESSES))

    def test_a_loop_is_compared_with_its_computing_spread_over_the_cores(self) -> None:
        samples = self.samples(("cg_loop_128_16", "Sorrel", "result iteration 60 us\nresult compute 5 us\nresult compute 6 us\n"))
        self.assertEqual(scaling.values_of(samples, self.point("cg_loop_128_16"), "Sorrel"), [60 / 40])

    def test_a_short_step_after_a_long_one_is_no_fast_step(self) -> None:
        steps = "".join(f"result step {us} us\n" for us in (1900, 100) * 20)
        samples = self.samples(("imbalance_16", "Sorrel steal", f"result compute 250 us\n{steps}"))
        self.assertEqual(scaling.values_of(samples, self.point("imbalance_16"), "Sorrel steal"), [1.0, 1.0])

    def test_a_bar_is_about_the_median_and_a_row_far_above_its_floor_is_marked(self) -> None:
        own = "".join(f"result iteration {us} us\n" for us in (4, 400, 500))
        samples = self.samples(("kneighbor_16", "Sorrel", own), ("kneighbor_16", "Open MPI", "result iteration 6 us\n"))
        point = self.point("kneighbor_16")
        (bar,) = scaling.bars_of(samples, [point])
        self.assertEqual((bar.value, bar.ok, bar.rule), (400, False, "<= 0.65 x Open MPI"))
        marked = [line for line in scaling.lines_of(samples, [point]) if line.endswith("!")]
        self.assertEqual(len(marked), 1)

    def test_after_a_pause_the_worst_burst_counts_too(self) -> None:
        name = "cold_100000_0_2"
        bursts = "".join(f"result burst {us} us\n" for us in (300, 310, 9000))
        samples = self.samples((name, "Sorrel", bursts), (name, "Open MPI", bursts.replace("9000", "900").replace("310", "500")))
        self.assertEqual([bar.ok for bar in scaling.bars_of(samples, [self.point(name)])], [True, False])

    def test_a_percentile_is_one_of_the_values(self) -> None:
        self.assertEqual([percentile(range(1, 11), share) for share in (0.0, 0.5, 0.9, 1.0)], [1, 5, 9, 10])


class NotJudging(unittest.TestCase):
    QUIET, BUSY = 0.01, 0.89

    def test_a_quiet_machine_has_verdicts(self) -> None:
        bars = [bar("met", 1, 2), bar("missed", 3, 2), bar("no peer", 3, None)]
        self.assertEqual(settle(bars, [], self.QUIET), "")
        self.assertEqual([b.as_json()["ok"] for b in bars], [True, False, None])

    def test_a_busy_machine_has_none_but_for_what_no_clock_has_told(self) -> None:
        bars = [bar("met", 1, 2), bar("missed", 3, 2), bar("no peer", 3, None), bar("memory", 1, 2, is_timed=False)]
        sentence = settle(bars, [], self.BUSY)
        self.assertEqual(
            sentence,
            "Not judged: 2 of 4 bars, because other work took 89 % of the machine during the runs (limit 6 %).",
        )
        told = [b.as_json() for b in bars]
        self.assertEqual(["ok" in t for t in told], [False, False, True, True])
        self.assertEqual((told[0]["not_judged"], told[3]["ok"]), ("other work", True))

    def test_halves_of_the_rounds_must_agree(self) -> None:
        bars = [bar("steady", 1, 2), bar("crosses", 1.9, 2), bar("lacks a half", 1, 2)]
        even = [bar("steady", 1, 2), bar("crosses", 1.9, 2), bar("lacks a half", None, 2)]
        odd = [bar("steady", 1.5, 2), bar("crosses", 2.1, 2), bar("lacks a half", 1, 2)]
        self.assertEqual(
            settle(bars, [even, odd], self.QUIET),
            "Not judged: 1 of 3 bars, because the halves of the rounds disagree about them.",
        )
        self.assertEqual([b.ok for b in bars], [True, None, True])

    def test_the_table_says_so(self) -> None:
        bars = [bar("met", 1, 2), bar("missed", 3, 2)]
        with contextlib.redirect_stdout(io.StringIO()) as quiet:
            print_bars(bars)
        settle(bars, [], self.BUSY)
        with contextlib.redirect_stdout(io.StringIO()) as busy:
            print_bars(bars)
        self.assertRegex(quiet.getvalue(), r"met .* yes .*\nmissed .* NO ")
        self.assertRegex(busy.getvalue(), r"met .* not judged .*\nmissed .* not judged ")
        self.assertNotRegex(busy.getvalue(), r" (yes|NO) ")

    def test_what_counts_is_the_mean_over_the_time_of_all_runs(self) -> None:
        runs = Runs()
        self.assertEqual(runs.foreign_share, 0)
        runs.add(9, 0.0)
        runs.add(1, 0.5)
        self.assertAlmostEqual(runs.foreign_share, 0.05)

    def test_our_own_processes_are_no_other_work_and_a_strangers_are(self) -> None:
        spin = [sys.executable, "-c", "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"]
        before = disturbance._own_seconds()
        subprocess.run(spin, check=True)
        self.assertGreater(disturbance._own_seconds() - before, 0.4)
        # Until the child is reaped, its time counts as other work.
        watch = disturbance.Watch()
        process = subprocess.Popen(spin)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seconds, foreign_share = watch.end()
        process.wait()
        self.assertGreater(foreign_share * seconds * len(os.sched_getaffinity(0)), 0.3)

    def test_samples_are_halved_by_runs(self) -> None:
        samples = samples_of(*(("yield_8", OWN, f"result yield {n} ns\nresult yield {n + 1} ns\n") for n in (1, 11, 21)))
        values = [samples.half(which).get("yield_8", "Sorrel", "yield").values for which in (0, 1)]
        self.assertEqual(values, [[1, 2, 21, 22], [11, 12]])
        self.assertIsNone(samples_of(("yield_8", OWN, "result yield 1 ns\n")).half(1).get("yield_8", "Sorrel", "yield"))

    def test_every_benchmark_asks_settle(self) -> None:
        package = pathlib.Path(partition.__file__).parent
        for path in package.glob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "print_bars(" in text and path.name not in ("report.py", "overlap.py"):
                self.assertIn("settle(", text, path.name)
        self.assertIn("settle(", (package / "overlap.py").read_text(encoding="utf-8"))
        self.assertIn("settle(", (package / "overlap_apps.py").read_text(encoding="utf-8"))


class QuotingStudies(unittest.TestCase):
    def test_nothing_that_is_printed_calls_a_study_a_seed(self) -> None:
        package = pathlib.Path(partition.__file__).parent
        for path in package.glob("*.py"):
            # An option of a program may have the name.
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"(?i)(?<!-)\bseed", path.name)


class TakingTurns(unittest.TestCase):
    def runner(self, *names: str) -> Runner:
        experiments = [by_name(name) for name in names]
        return Runner(Plan(experiments, [OWN, THREADS, PROCESSES], 2, 0.1, [0, 1], pathlib.Path()))

    def test_implementations_alternate_and_each_round_another_begins(self) -> None:
        order = [who.name for _, _, who in self.runner("pingpong_8_two_workers").turns()]
        self.assertEqual(order, ["Sorrel", "AMPI", "Open MPI", "AMPI", "Open MPI", "Sorrel"])

    def test_processes_do_not_take_turns_on_one_core(self) -> None:
        order = [who.name for _, _, who in self.runner("yield_8").turns()]
        self.assertNotIn("Open MPI", order)

    def test_real_time_processes_do_not_outnumber_the_cores(self) -> None:
        plan = self.runner().plan
        plan = dataclasses.replace(plan, real_time_priority=5)
        self.assertFalse(plan.includes(by_name("kneighbor_64"), PROCESSES))
        self.assertTrue(plan.includes(by_name("kneighbor_64"), OWN))
        self.assertTrue(plan.includes(by_name("pingpong_8_two_workers"), PROCESSES))

    def test_launchers_stay_above_the_ranks_that_they_start(self) -> None:
        plan = dataclasses.replace(self.runner().plan, real_time_priority=5)
        two = by_name("pingpong_8_two_workers")
        launcher = dataclasses.replace(PROCESSES, launch=lambda job: ["mpiexec", job.program, *job.arguments])
        lowered = ["chrt", "-f", "5"]
        self.assertEqual(Runner(plan)._command(two, launcher, ("p", "1")), ["mpiexec", *lowered, "p", "1"])
        self.assertEqual(Runner(plan)._command(two, OWN, ("p", "1")), [*lowered, "p"])

    def test_patterns_choose_experiments(self) -> None:
        self.assertEqual([e.name for e in select(["cg_loop_*"])], ["cg_loop_16", "cg_loop_64"])


class GraphBars(unittest.TestCase):
    def test_hold_the_replay_against_its_bound_and_the_best_peer(self) -> None:
        times = {"build_ns": 0.01, "first_ns": 20.0, "replay_ns": 10.0}
        best = {"Sorrel": times, "slow": {**times, "replay_ns": 60.0}, "fast": {**times, "replay_ns": 8.0}}
        replay, build = graph.judge(best, {"build_ns": 1.0, "first_ns": 1.0, "replay_ns": 1.0})
        self.assertEqual((replay.ok, replay.peer, replay.ratio), (True, "fast", 1.25))
        self.assertAlmostEqual(build.value, 1.0)

    def test_need_no_peer(self) -> None:
        times = graph.read_times("build_ns 0.01 first_ns 20 replay_ns 16")
        replay, _ = graph.judge({"Sorrel": times}, times)
        self.assertEqual((replay.ok, replay.peer_value), (False, None))


class OverlapBars(unittest.TestCase):
    def test_tell_what_is_hidden_of_what_blocking_costs(self) -> None:
        times = {"ideal": 1.0, "base": 2.0, "olap": 1.3, "graph": 1.1}
        self.assertAlmostEqual(overlap.hidden(times), 0.9)
        exposed, against_olap, off = overlap.judge(256, {"50us": times, "off": times})
        self.assertTrue(exposed.ok and against_olap.ok and off.ok)
        self.assertIsNone(overlap.hidden({**times, "base": 1.01}), "nothing to hide")

    def test_ask_of_each_app_what_it_is_to_hide(self) -> None:
        apps = {app.name: app for app in overlap_apps.APPS}
        times = {"ideal": 1.0, "base": 2.0, "olap": 1.3, "graph": 1.3}
        self.assertFalse(overlap_apps.bar_of(apps["summa"], times).ok)
        self.assertTrue(overlap_apps.bar_of(apps["ft"], times).ok)

    def test_measure_what_was_asked_for_once(self) -> None:
        def plan(name: str, *only: str) -> list:
            app = next(app for app in overlap_apps.APPS if app.name == name)
            arguments = argparse.Namespace(only=list(only), quick=False, rounds=None)
            return [(size, wire, rounds) for size, wire, rounds in overlap_apps.plan_of(app, arguments)]

        self.assertEqual(plan("ft", "ft"), [("FT class A", overlap_apps.BAR_WIRE, overlap_apps.FULL)])
        self.assertEqual(plan("ft", "summa"), [])
        self.assertEqual(plan("jacobi3d", "ft"), [])
        everything = [row[:2] for row in plan("summa")]
        self.assertEqual(len(everything), 2 * len(overlap_apps.WIRES))
        self.assertEqual(len(set(everything)), len(everything))

    def test_draw_every_mesh_and_say_where_nothing_is_hidden(self) -> None:
        rates = {"ideal": 4.0, "base": 2.0, "olap": 3.0, "graph": 1.0}
        small, large = overlap_charts.charts("a title", {"small": {"w": rates}, "large": {"w": rates, "v": {**rates, "graph": 4.0}}})
        self.assertEqual([bars.name for bars in small.bars], ["IDEAL", "BASE", "OLAP", "GRAPH"])
        self.assertEqual([[point.y for point in bars.points] for bars in large.bars], [[4, 4], [2, 2], [3, 3], [1, 4]])
        self.assertEqual([group.splitlines()[-1] for group in large.groups], ["slower than BASE", "100 % hidden"])


class ChaptersOfMpi(unittest.TestCase):
    def samples(self, *rows: tuple[str, str, str]) -> Samples:
        experiments = {e.name: e for e in mpi.experiments_of(mpi.PARTS)}
        samples = Samples()
        for name, who, output in rows:
            samples.add(experiments[name], implementation(who, light=who not in mpi.PROCESSES), output)
        return samples

    def test_a_row_is_held_against_the_faster_of_the_processes(self) -> None:
        rows = [(f"get_{ranks}", mpi_name, f"result get {time} us\n") for ranks in (2, 16)
                for mpi_name, time in (("Sorrel", 1), ("MPICH", 0.9), ("Open MPI", 4), ("AMPI", 0.1))]  # fmt: skip
        two, sixteen = mpi.judge(self.samples(*rows))
        self.assertEqual((two.peer, two.bar, two.ok), ("MPICH", 0.9, False))
        self.assertAlmostEqual(sixteen.bar, 0.18)

    def test_collectives_of_many_ranks_are_held_against_ampi(self) -> None:
        rows = [("collectives_bcast_8_64", mpi_name, f"result bcast {time} us\n")
                for mpi_name, time in (("Sorrel", 2), ("AMPI", 7))]
        (bar,) = mpi.judge(self.samples(*rows))
        self.assertAlmostEqual(bar.bar, 2.1)
        self.assertTrue(bar.ok)

    def test_what_is_exposed_is_what_computing_lasts_longer(self) -> None:
        wire = mpi.WIRES[0]
        lines = "result pure 100 us\nresult compute 150 us\nresult overlapped {} us\n"
        for overlapped, share in ((165, 0.15), (250, 1.0), (140, 0.0)):
            (bar,) = mpi.judge(self.samples((wire.name, mpi.WIRED, lines.format(overlapped))))
            self.assertAlmostEqual(bar.value, share)
            self.assertEqual(bar.ok, share <= 0.2)

    def test_only_sorrel_has_simulated_nodes_and_ampi_has_no_flush(self) -> None:
        by_part = {e.name: e for e in mpi.experiments_of(mpi.PARTS)}
        wired = mpi.wired("/bin/true")
        self.assertEqual([e.name for e in by_part.values() if e.concerns(wired)], [wire.name for wire in mpi.WIRES])
        self.assertFalse(by_part[mpi.WIRES[0].name].concerns(OWN))
        self.assertFalse(by_part["get_2"].concerns(THREADS))
        self.assertTrue(by_part["neighbor_2"].concerns(THREADS))
        self.assertFalse(by_part["collectives_scan_8_64"].concerns(PROCESSES))

    def test_the_wire_is_an_option_of_run_and_no_argument_of_the_program(self) -> None:
        experiment = mpi.WIRES[0].experiment()
        words = mpi.wired("/bin/true").launch(Job("p", ("0.1", *experiment.arguments), 16, 2))
        self.assertEqual(words[words.index("--wire") + 1], "latency=50us,bandwidth=100MB/s,nodes=4")
        self.assertEqual(words[-3:], ["0.1", "131072", "0"])

    def test_the_sources_are_there(self) -> None:
        for experiment in mpi.experiments_of(mpi.PARTS):
            self.assertTrue(probe_source(experiment.probe).is_file())


class Sizes(unittest.TestCase):
    """The sweep of sizes of `sorrel bench mpi`."""

    def test_a_jump_is_far_from_twice_the_time_and_from_what_the_copy_needs(self) -> None:
        copies = {8: 1.0, 16: 1.0, 32: 1.1, 64: 1.2, 128: 6.0, 256: 12.0}
        even = {8: 1.0, 16: 1.2, 32: 2.4, 64: 5.0, 128: 30.0, 256: 55.0}
        self.assertEqual(sizes.jumps(even, copies), [])
        found = sizes.jumps(even | {32: 20.0}, copies)
        self.assertEqual([(jump.bytes, jump.larger) for jump in found], [(16, 32), (32, 64)])

    def test_the_table_has_every_size_marks_jumps_and_compares_with_the_copy(self) -> None:
        samples, name = Samples(), sizes.name_of(8, 1)
        experiment = next(e for e in mpi.experiments_of([sizes.PART]) if e.name == name)
        times = {"copy": (1, 2, 4), "alltoall": (10, 20, 400), "put": (2, 4, 8)}
        lines = (f"result {series}_{4096 << k} {time} us\n" for series, found in times.items() for k, time in enumerate(found))
        samples.add(experiment, OWN, "".join(lines))
        table = list(sizes.lines_of(samples, 8, 1, ["Sorrel", "AMPI"]))
        marked = [line.split()[0] for line in table if "!" in line and line.strip()[0].isdigit()]
        self.assertEqual(marked, ["16384"])
        self.assertIn("jump: Sorrel, alltoall, 8192 to 16384 B: 20.00 times as long; the copy 2.00", table)
        self.assertIn("of the best copy's speed: alltoall   4 KiB 0.80  8 KiB 0.80  16 KiB 0.08", table)
        self.assertIn("of the best copy's speed: put        4 KiB 0.50  8 KiB 0.50  16 KiB 0.50", table)
        self.assertFalse(any("AMPI" in line for line in table))


class ThroughputBound(unittest.TestCase):
    def test_is_the_work_of_all_or_the_longest_jobs_own_path(self) -> None:
        short = throughput.Job(("x",), work=1.0, critical_path=0.6)
        long = throughput.Job(("x",), work=4.0, critical_path=3.0)
        self.assertEqual(throughput.bound([short] * 4, 2), 2.0)
        self.assertEqual(throughput.bound([short, long], 2), 3.0)

    def test_what_a_job_needs_changes_evenly_between_two_measurements(self) -> None:
        before, after = (throughput.Job(("x",), work=work, critical_path=work / 2) for work in (1.0, 2.0))
        (job,) = throughput.between([before], [after], 0.25)
        self.assertEqual((job.work, job.critical_path), (1.25, 0.625))

    def test_the_mixes_are_those_of_the_study(self) -> None:
        self.assertEqual(set(throughput.PUBLISHED_SAVINGS), set(throughput.MIXES))
        self.assertTrue(all(len(mix) == 4 and set(mix) <= set(throughput.KINDS) for mix in throughput.MIXES))

    def test_waiting_tells_when_each_process_ended(self) -> None:
        runtime = throughput.Runtime("sh", "/bin/sh")
        with tempfile.TemporaryDirectory() as folder:
            turn = pathlib.Path(folder) / "turn"
            os.mkfifo(turn)
            # The pause of the first one begins when the second one has begun.
            processes = [throughput.start(runtime, ("-c", text)) for text in (f"read _ <{turn}; sleep 1", f"echo >{turn}")]
            ends, _, was_cut_off = throughput.wait_for(processes, 60)
        self.assertFalse(was_cut_off)
        self.assertGreater(ends[0], ends[1])
        self.assertGreaterEqual(ends[0], 0.1)

    def test_what_takes_too_long_is_stopped(self) -> None:
        process = throughput.start(throughput.Runtime("sh", "/bin/sh"), ("-c", "exec sleep 60"))
        _, _, was_cut_off = throughput.wait_for([process], 0.05)
        self.assertTrue(was_cut_off)


class PaceOfLoops(unittest.TestCase):
    STEADY = (600e6, 1000e6)

    @staticmethod
    def pace(until_ms: int) -> list[tuple[int, int]]:
        """A record each millisecond: two loops in it before `until_ms`, one afterwards."""
        done, pace = 0, []
        for ms in range(1100):
            pace.append((ms * 1_000_000, done))
            done += 2 if ms < until_ms else 1
        return pace

    def test_is_a_straight_line_between_records(self) -> None:
        pace = beside.read_pace("noise\npace 0 0\npace 1000000 4\n")
        self.assertEqual(beside.loops_at(pace, 500_000), 2)

    def test_is_right_at_once_if_it_changes_with_the_share(self) -> None:
        self.assertEqual(beside.settled_ms(self.pace(100), 100e6, self.STEADY), 0)

    def test_is_right_when_it_stays_near_its_last_value(self) -> None:
        self.assertAlmostEqual(beside.settled_ms(self.pace(200), 100e6, self.STEADY), 95, delta=10)


class JudgingCuts(unittest.TestCase):
    OUTPUT = (
        "result 4x1x1 none predicted 1.0e-3 measured 1.1e-3\n"
        "result 2x2x1 none predicted 1.1e-3 measured 1.0e-3\n"
        "result 4x1x1 faces_first predicted 1.2e-3 once 0.9e-3\n"
        "turns choice 4x1x1 none 1.1e-3 2.2e-3 9.9e-3\n"
        "turns fastest 2x2x1 none 1.0e-3 2.0e-3 3.0e-3\n"
        "turns balanced 2x2x1 none 1.0e-3 1.0e-3 9.9e-3\n"
        "turns again 4x1x1 none 1.0e-3 2.31e-3 9.9e-3\n"
    )

    def test_regret_is_the_choice_over_the_fastest_in_the_median_turn(self) -> None:
        case = partition.read_case(4, 64, self.OUTPUT)
        self.assertAlmostEqual(case.regret, 0.1)
        self.assertAlmostEqual(case.noise, 0.05)
        self.assertAlmostEqual(case.gain_over_balanced, 1 / 1.1 - 1)

    def test_a_choice_that_beats_the_fastest_is_not_regretted(self) -> None:
        lucky = self.OUTPUT.replace("turns fastest 2x2x1 none 1.0e-3", "turns fastest 2x2x1 none 1.2e-3").replace("2.0e-3", "2.4e-3")
        self.assertEqual(partition.read_case(4, 64, lucky).regret, 0)

    def test_every_bar_has_a_verdict_and_none_without_cases(self) -> None:
        bars = [bar.as_json() for bar in partition.judge([partition.read_case(4, 64, self.OUTPUT)])]
        self.assertEqual([bar["ok"] for bar in bars], [False, False, False, None, None, None])
        self.assertTrue(all(bar.as_json()["ok"] is None for bar in partition.judge([])))

    def test_output_without_results_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            partition.read_case(4, 64, "")

    def test_the_cheapest_case_comes_first_and_no_candidate_is_forgotten(self) -> None:
        jobs = partition.jobs_of(False, [64, 512])
        self.assertEqual(len(jobs), 2 * 2 * len(partition.RANKS))
        self.assertEqual((jobs[0].n, jobs[0].ranks, jobs[-1].n, jobs[-1].ranks), (64, 2, 512, 64))
        # 2 x 2 x 2, six ways to have 4 x 2 x 1, three to have 8 x 1 x 1.
        self.assertEqual(partition.Job("no wire", 64, 8).candidates, 3 * 10)

    def test_what_a_case_takes_is_learned_from_those_before(self) -> None:
        clock = partition.Clock(False, minutes=1)
        job = partition.Job("no wire", 64, 2)
        expected = clock.seconds_of([job, job])
        self.assertTrue(clock.has_time_for(job))
        clock.took(job, 10 * expected)
        self.assertAlmostEqual(clock.seconds_of([job]), 10 * expected)
        self.assertFalse(clock.has_time_for(job))

    def test_a_result_file_is_read_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cuts.json"
            self.assertEqual(partition.cases_of(path), [])
            case = partition.read_case(4, 64, self.OUTPUT, "wire")
            partition.Result(path, {}).write([case])
            self.assertEqual(partition.cases_of(path), [case])
            path.write_text("[]", encoding="utf-8")
            with self.assertRaises(ValueError):
                partition.cases_of(path)

    def test_every_cut_is_a_dot_of_the_picture(self) -> None:
        [chart] = partition.charts([partition.read_case(4, 64, self.OUTPUT)])
        self.assertEqual([(line.name, len(line.points)) for line in chart.lines], [("no wire, other cuts", 2), ("no wire, choice", 1), ("equal", 2)])


class Printing(unittest.TestCase):
    def test_numbers_have_about_three_figures(self) -> None:
        printed = [number(value) for value in (0.00421, 0.1234, 14.2, 566, 15234, None)]
        self.assertEqual(printed, ["0.0042", "0.123", "14.2", "566.0", "15 234", "-"])


if __name__ == "__main__":
    unittest.main()
