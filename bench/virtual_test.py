"""Tests of `sorrel bench virtual` without running any MPI: its arithmetic, its charts, and its programs without ranks.

    python3 bench/virtual_test.py
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from sorrel_bench import virtual, virtual_cg, virtual_fem, virtual_proxies  # noqa: E402
from sorrel_bench import virtual_ranks, virtual_runs, virtual_setting  # noqa: E402
from sorrel_bench.implementations import Implementation, Job  # noqa: E402
from sorrel_bench.virtual_runs import Budget, Case, Programs, Results  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
SORREL = Implementation("Sorrel", "1", ("sorrel", "cc"), lambda job: ["sorrel", "run", "-n", str(job.ranks), job.program, *job.arguments],
                        has_light_ranks=True, is_sorrel=True)  # fmt: skip
AMPI = Implementation("AMPI", "1", ("/a/bin/ampicc",), lambda job: [job.program, f"+vp{job.ranks}"], has_light_ranks=True)
MPICH = Implementation("MPICH", "1", ("/usr/bin/mpicc.mpich",), lambda job: ["mpiexec", job.program])


def setting(*implementations: Implementation, workers: int = 2, is_quick: bool = False) -> virtual_setting.Setting:
    programs = Programs(pathlib.Path("/nowhere"))
    programs.path = lambda name: f"/built/{name}"
    return virtual_setting.Setting("sorrel", implementations or (SORREL, AMPI, MPICH), workers, is_quick, programs)


def results(*rows: tuple[tuple[str, str, str], str, list[list[float]]]) -> Results:
    """Results of key, name, and the values of the starts of each round."""
    found = Results()
    for key, name, rounds in rows:
        for round_, starts in enumerate(rounds):
            for value in starts:
                found.add(key, round_, {name: value})
    return found


class ReadingRuns(unittest.TestCase):
    def test_the_value_of_a_run_is_the_median_of_its_samples(self) -> None:
        self.assertEqual(virtual_runs.read_results("result step 9 us\nnoise\nresult step 1 us\nresult step 2 us\n"), {"step": 2})

    def test_cg2d_prints_its_own_mean(self) -> None:
        line = "cg2d: ranks 64, steps 100, time per step mean 566.1 us, residual 9.9e-07\n"
        self.assertEqual(virtual_runs.read_results(line), {"step": 566.1})

    def test_two_lines_of_names_and_numbers_are_found_among_others(self) -> None:
        text = "a line\nelements,ranks,seconds_per_step\n300,4,0.5\nanother\n"
        self.assertEqual(virtual_runs.read_csv(text), {"elements": 300, "ranks": 4, "seconds_per_step": 0.5})
        self.assertEqual(virtual_runs.read_csv("elements,ranks\n"), {})

    def test_an_uneven_job_is_compared_with_an_equal_share_of_its_work(self) -> None:
        read = virtual_setting.over_ideal(8, 2)
        found = read("result compute 1000 us\nresult step 4000 us\nresult step 8000 us\n")
        self.assertEqual(found, {"step": 6000, "over_ideal": 1.5})
        self.assertEqual(read("result step 4000 us\n"), {})


class ComparingRounds(unittest.TestCase):
    A, B = ("cg", "row", "A"), ("cg", "row", "B")

    def test_a_ratio_takes_the_least_of_each_round_and_the_median_of_the_rounds(self) -> None:
        # The rounds have 2/1, 30/10, 8/2: a slow minute slows both.
        found = results((self.A, "step", [[2, 5], [30, 31], [9, 8]]), (self.B, "step", [[1, 7], [12, 10], [2]]))
        self.assertEqual(found.ratio(self.A, self.B, "step"), 3)
        self.assertEqual((found.floor(self.A, "step"), found.median(self.B, "step")), (2, 7))

    def test_rounds_without_both_values_do_not_count(self) -> None:
        found = results((self.A, "step", [[2], [], [9]]), (self.B, "step", [[1]]))
        self.assertEqual(found.ratio(self.A, self.B, "step"), 2)
        self.assertIsNone(found.ratio(self.A, ("cg", "row", "C"), "step"))

    def test_the_spread_is_the_quartiles_or_the_extremes_of_few(self) -> None:
        found = results((self.A, "step", [[1, 2], [3, 4], [5]]), (self.B, "step", [[4, 2]]))
        self.assertEqual(found.spread(self.A, "step"), (2, 4))
        self.assertEqual(found.spread(self.B, "step"), (2, 4))

    def test_halves_are_rounds(self) -> None:
        found = results((self.A, "step", [[1], [2], [3]]))
        self.assertEqual([found.half(w).values(self.A, "step") for w in (0, 1)], [[1, 3], [2]])


class RunningCases(unittest.TestCase):
    def test_every_case_has_a_value_in_every_round_and_a_failed_one_is_reported_once(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            cases = [
                Case("p", "r", "good", ("echo", "result step 5 us"), 1),
                Case("p", "r", "bad", ("sh", "-c", f"echo x >> {folder}/starts; exit 3"), 1),
                Case("p", "r", "silent", ("true",), 1),
                Case("p", "slow", "good", ("echo", "result step 7 us"), 1, is_slow=True),
            ]
            found = virtual_runs.run_cases(cases, Budget(2, 2, time.monotonic() + 60), folder, [0])
            self.assertEqual((folder / "starts").read_text(encoding="utf-8"), "x\n")
        self.assertEqual(found.rounds["p", "r", "good"], [[{"step": 5}, {"step": 5}], [{"step": 5}, {"step": 5}]])
        self.assertEqual(found.rounds["p", "slow", "good"], [[{"step": 7}], [{"step": 7}]])
        self.assertIn("exit status 3", found.troubles["p", "r", "bad"])
        self.assertIn("printed no result", found.troubles["p", "r", "silent"])

    def test_after_the_deadline_no_round_is_started_but_the_first(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            cases = [Case("p", "r", "good", ("echo", "result step 5 us"), 1)]
            found = virtual_runs.run_cases(cases, Budget(9, 1, time.monotonic() - 1), pathlib.Path(name), [0])
        self.assertEqual(len(found.rounds["p", "r", "good"]), 1)

    def test_a_program_that_does_not_compile_is_reported(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            programs = Programs(pathlib.Path(name))
            programs.build([virtual_runs.Build("thing", "p", ("cc",), (pathlib.Path("/nowhere.c"),))], 1)
        self.assertIsNone(programs.path("thing"))
        self.assertTrue(programs.troubles[0].startswith("building thing: exit status"))


class ChoosingRuns(unittest.TestCase):
    def test_ranks_that_are_processes_do_not_wait_for_each_other_on_few_cores(self) -> None:
        of_mpich = [case.row for case in virtual_cg.cases(setting()) if case.column == "MPICH"]
        self.assertEqual(of_mpich, ["4 ranks, 2 workers"])

    def test_each_number_of_ranks_has_its_loop_on_one_worker(self) -> None:
        loops = [case.row for case in virtual_cg.cases(setting()) if case.column == virtual_cg.LOOP]
        self.assertEqual(loops, [virtual_cg.row(ranks, 1) for ranks in virtual_cg.RANKS])

    def test_a_balance_is_an_option_of_the_launcher_and_not_of_the_program(self) -> None:
        job = Job("./p", ("--x",), 4, 2)
        own = virtual_setting.with_balance(SORREL, "steal")
        self.assertEqual((own.name, own.launch(job)), ("Sorrel steal", ["sorrel", "run", "--balance", "steal", "-n", "4", "./p", "--x"]))
        self.assertEqual(virtual_setting.with_balance(AMPI, "GreedyLB").launch(job)[-2:], ["+balancer", "GreedyLB"])

    def test_every_balance_of_the_build_is_measured_and_a_build_without_any_once(self) -> None:
        chosen = setting()
        names = [case.column for case in virtual_fem.zone_cases(chosen, virtual_fem.ZONE)]
        self.assertEqual(names, ["Sorrel", "AMPI", "AMPI GreedyRefineLB", "AMPI GreedyLB", "MPICH"])
        chosen.balances = ("off", "auto")
        names = [case.column for case in virtual_ranks.imbalance_cases(chosen)]
        self.assertEqual(names[:3], ["Sorrel off", "Sorrel auto", "AMPI"])

    def test_metis_is_shared_with_sorrel_alone(self) -> None:
        chosen = setting()
        chosen.has_metis = True
        words = {case.column: case.command for case in virtual_fem.cases(chosen)}
        self.assertEqual(words["Sorrel"][:4], ("sorrel", "run", "--shared", "libmetis.so.5"))
        self.assertNotIn("--shared", words["AMPI"])

    def test_compilers_of_cxx_lie_beside_those_of_c(self) -> None:
        self.assertEqual([virtual_runs.cxx_of(i) for i in (SORREL, AMPI, MPICH)],
                         [("sorrel", "cxx"), ("/a/bin/ampicxx",), ("/usr/bin/mpicxx.mpich",)])  # fmt: skip


class CountingSwitches(unittest.TestCase):
    def test_counts_are_of_a_rank_in_a_step(self) -> None:
        key = (virtual_cg.COUNT, virtual_cg.row(64, 1), "Sorrel")
        counts = {"receives": 700, "late_receives": 350, "waits": 200, "blocked_waits": 100, "reductions": 450, "blocked_reductions": 450}
        found = Results()
        found.add(key, 0, counts)
        self.assertEqual(virtual_cg.late_receives(found, 64), (3.5, 1.75, 2.5))
        self.assertIsNone(virtual_cg.late_receives(found, 100))

    def test_the_estimate_is_that_of_the_study(self) -> None:
        self.assertAlmostEqual(virtual_cg.estimate(2000), 0.00075)
        self.assertLess(virtual_cg.estimate(1600), 0.001)


class Judging(unittest.TestCase):
    def bars(self, found: Results, parts: list[str], chosen: virtual_setting.Setting | None = None) -> dict[str, tuple]:
        bars = virtual.bars_of(found, chosen or setting(), parts)
        return {bar.name: (round(bar.value, 6), bar.ok) for bar in bars}

    def test_ranks_are_compared_with_the_loop_of_the_same_round_and_with_ampi_in_every_row(self) -> None:
        rows = []
        for ranks, own in ((1, 100), (100, 102), (4096, 160)):
            row = virtual_cg.row(ranks, 1)
            rows += [(("cg", row, "Sorrel"), "step", [[own]]), (("cg", row, virtual_cg.LOOP), "step", [[100]])]
        rows.append((("cg", virtual_cg.row(4096, 1), "AMPI"), "step", [[320]]))
        rows.append((("cg", virtual_cg.row(4, 2), "Sorrel"), "step", [[60]]))
        rows.append((("cg", virtual_cg.row(4, 2), "AMPI"), "step", [[50]]))
        self.assertEqual(self.bars(results(*rows), ["cg", "count"]), {
            "cg, 1 worker: 100 ranks over a plain loop": (1.02, True),
            "cg, 1 worker: 4096 ranks over a plain loop": (1.6, False),
            "cg, 1 worker: 100 ranks over 1 rank": (1.02, True),
            "cg: the worst ratio to AMPI": (1.2, False),
        })  # fmt: skip

    def test_the_best_balancing_is_compared_with_off_with_perfect_balance_and_with_the_best_of_ampi(self) -> None:
        found = Results()
        for column, seconds in (("Sorrel off", 2.0), ("Sorrel steal", 1.4), ("Sorrel auto", 1.05), ("AMPI", 2.0), ("AMPI GreedyLB", 1.4)):
            # 32 ranks on 2 workers: the work of a rank times 16.
            found.add((virtual_fem.ZONE, virtual_fem.ZONE_ROW, column), 0, {"seconds_per_step": seconds, "work_mean": 1.0 / 16})
        for column, seconds in (("Sorrel off", 1.0), ("Sorrel steal", 1.02), ("Sorrel auto", 1.0)):
            found.add((virtual_fem.EVEN, virtual_fem.EVEN_ROW, column), 0, {"seconds_per_step": seconds})
        self.assertEqual(self.bars(found, ["zone", "even"]), {
            "fem, moving zone: best balancing over off": (0.525, True),
            "fem, moving zone: best balancing over perfect": (1.05, True),
            "fem, moving zone: best balancing over AMPI's": (0.75, True),
            "fem, no zone: balancing over off": (1.02, False),
        })  # fmt: skip

    def test_chunks_are_compared_with_one_chunk(self) -> None:
        rows = [(("fem", virtual_fem.row(c, 1, "near"), "Sorrel"), "seconds_per_step", [[s]]) for c, s in ((1, 10), (4, 8), (16, 11))]
        self.assertEqual(self.bars(results(*rows), ["fem"]), {
            "fem, 1 worker, near order: best chunks over 1": (0.8, True),
            "fem, 1 worker, near order: 16 chunks over 1": (1.1, False),
        })  # fmt: skip

    def test_allocation_and_unequal_ranks(self) -> None:
        one, eight = (virtual_ranks.allocate_row(ranks) for ranks in (1, 8))
        heap = virtual_ranks.HEAP_ROW
        rows = [(("allocate", one, "Sorrel"), "step", [[90]]), (("allocate", one, "AMPI"), "step", [[100]]),
                (("allocate", eight, "Sorrel"), "step", [[97]]), (("allocate", eight, "AMPI"), "step", [[100]]),
                (("heap", heap, "Sorrel"), "1048576", [[6]]), (("heap", heap, virtual_ranks.LIBRARY), "1048576", [[10]]),
                (("imbalance", virtual_ranks.FIXED_ROW, "Sorrel steal"), "over_ideal", [[1.04]]),
                (("imbalance", virtual_ranks.FIXED_ROW, "Sorrel off"), "over_ideal", [[2.0]]),
                (("imbalance", virtual_ranks.FIXED_ROW, "AMPI GreedyLB"), "over_ideal", [[1.25]])]  # fmt: skip
        self.assertEqual(self.bars(results(*rows), ["heap", "allocate", "imbalance"]), {
            "malloc and free of 1 MiB in a rank": (0.6, False),
            f"{one}: over AMPI": (0.9, True), f"{eight}: over AMPI": (0.97, False),
            f"{virtual_ranks.FIXED_ROW}: best balancing over ideal": (1.04, True),
            f"{virtual_ranks.FIXED_ROW}: best balancing over AMPI's": (0.832, False),
        })  # fmt: skip

    def test_only_failures_of_sorrel_fail_the_command(self) -> None:
        self.assertTrue(virtual.key_is_own("zone, moving zone, Sorrel auto: exit status 1 (sorrel run x)"))
        self.assertFalse(virtual.key_is_own("zone, moving zone, AMPI: exit status 1 (x, Sorrel: y)"))


class ReadingProxies(unittest.TestCase):
    LULESH, MINIVITE = virtual_proxies.PROXIES

    def test_the_times_of_proxies_are_those_of_a_rank(self) -> None:
        output = "Elapsed time         =         47 (s)\nGrind time (us/z/c)  =  0.5 (per dom)  ( 0.0625 overall)\n"
        self.assertEqual(virtual_proxies.reader(self.LULESH)(output), {"time": 0.5e-6})
        output = "Average total time (in s), #Processes: 0.664356, 8\n"
        self.assertEqual(virtual_proxies.reader(self.MINIVITE)(output), {"time": 0.664356})
        self.assertEqual(virtual_proxies.reader(self.LULESH)(output), {})

    def test_a_proxy_that_is_not_there_is_named_and_not_run(self) -> None:
        chosen = setting()
        self.assertEqual(len(virtual_proxies.missing(chosen)), 2)
        with tempfile.TemporaryDirectory() as name:
            chosen.proxies = pathlib.Path(name)
            (chosen.proxies / "LULESH").mkdir()
            (chosen.proxies / "LULESH/lulesh.cc").touch()
            self.assertEqual([b.name for b in virtual_proxies.builds(chosen)], ["LULESH Sorrel", "LULESH AMPI", "LULESH MPICH"])
            self.assertEqual({case.row for case in virtual_proxies.cases(chosen)}, {"LULESH, 1 rank", "LULESH, 8 ranks"})
            self.assertTrue(virtual_proxies.missing(chosen)[0].startswith("miniVite"))


class Drawing(unittest.TestCase):
    def test_the_picture_of_a_run_has_the_studys_point_beside_ours(self) -> None:
        rows = []
        for ranks in virtual_cg.RANKS:
            for column, time_us in (("Sorrel", 1000 + ranks), (virtual_cg.LOOP, 1000)):
                rows.append((("cg", virtual_cg.row(ranks, 1), column), "step", [[time_us]]))
        charts = virtual.charts_of(results(*rows), setting())
        self.assertIn("the study: 100 ranks, Pentium 4", [mark.name for chart in charts for mark in chart.marks])
        self.assertIn("computing of a rank in a step [us]", [chart.x_label for chart in charts])
        self.assertNotIn("AMPI, 1 worker", [line.name for chart in charts for line in chart.lines])


class Programming(unittest.TestCase):
    """The programs that need no MPI."""

    def build(self, source: str, *flags: str) -> str:
        program = str(pathlib.Path(self.folder.name) / pathlib.Path(source).stem)
        words = ["cc", "-O2", "-fopenmp-simd", "-Wall", "-Wextra", "-Werror", *flags, str(ROOT / source), "-o", program, "-lm"]
        subprocess.run(words, check=True)
        return program

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_blocks_in_a_loop_have_the_residual_of_cg2d_however_they_are_cut(self) -> None:
        program = self.build("bench/virtual/cg2d_loop.c", f"-I{ROOT / 'apps/cg2d'}")
        for blocks in ("1", "6", "64"):
            done = subprocess.run([program, blocks, "100", "253"], capture_output=True, text=True, check=True)
            # That of the tests of apps/cg2d.
            self.assertIn("residual 8.834079e-07", done.stdout)
            self.assertEqual(done.stdout.count("result step "), 1)
        self.assertEqual(subprocess.run([program, "0"], capture_output=True, check=False).returncode, 2)

    def test_the_gas_conserves_mass_and_energy_without_mpi(self) -> None:
        program = self.build("bench/virtual/hydro.c", f"-I{ROOT / 'bench/virtual/alone'}", f"-I{ROOT / 'bench/probes'}")
        done = subprocess.run([program, "8", "40"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.count("result step "), 40)


if __name__ == "__main__":
    unittest.main()
