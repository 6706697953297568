"""Tests of `sorrel bench studies` and of its pictures on recorded samples: parsers, statistics, the file of samples, the schedule, the
page. They measure nothing. Exit status 77 (skipped) without numpy, scipy and matplotlib.

    .venv/bin/python bench/studies_test.py
"""

import contextlib
import dataclasses
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

if any(importlib.util.find_spec(name) is None for name in ("numpy", "scipy", "matplotlib")):
    print("skipped: numpy, scipy or matplotlib is not installed")
    sys.exit(77)

from sorrel_bench import pictures  # noqa: E402
from sorrel_bench.implementations import Implementation  # noqa: E402
from sorrel_bench.pictures import BarChart, Bars, Chart, Line, Mark, Point  # noqa: E402
from sorrel_bench.simulated import loads  # noqa: E402
from sorrel_bench.simulated.costs import POLLED, Costs, fitted  # noqa: E402
from sorrel_bench.studies import command, dynamic_threads, message_layer, partitioning, results, samples  # noqa: E402
from sorrel_bench.studies.estimates import FAILS, HOLDS, NOT_JUDGED, Claim, Estimate, estimate, ratio  # noqa: E402
from sorrel_bench.studies.results import Table, shown  # noqa: E402
from sorrel_bench.studies.samples import Budget, Case, CaseFailed, Row, Schedule, Store  # noqa: E402
from sorrel_bench.studies.setting import Setting  # noqa: E402

HEAD = {"format": 1, "build": "sorrel:1:2", "options": {"quick": False}, "cpus": 2, "machine": {"processor": "recorded", "load_before": 0.1}}
KEY = ("001", "row", "base")


class Estimating(unittest.TestCase):
    def test_an_interval_holds_the_median_and_is_the_same_each_time(self) -> None:
        values = [10.0, 11.0, 9.0, 10.5, 30.0, 10.2, 9.9]
        first, again = estimate(values), estimate(values)
        self.assertEqual(first, again)
        self.assertEqual((first.median, first.rounds), (10.2, 7))
        self.assertTrue(9.0 <= first.low <= 10.2 <= first.high <= 30.0)
        self.assertLess(first.low, first.high)

    def test_few_rounds_have_no_interval_and_equal_ones_a_point(self) -> None:
        self.assertIsNone(estimate([1.0, 2.0, 3.0, 4.0]).low)
        self.assertEqual((estimate([2.0] * 5).low, estimate([2.0] * 5).high), (2.0, 2.0))
        self.assertIsNone(estimate([]))

    def test_a_ratio_pairs_the_same_rounds(self) -> None:
        found = ratio({0: 2.0, 1: 9.0, 2: 6.0}, {0: 1.0, 2: 2.0, 3: 100.0})
        self.assertEqual((found.median, found.rounds), (2.5, 2))

    def test_a_saving_has_its_interval_in_order(self) -> None:
        saving = Estimate(0.6, 0.5, 0.8, 7).scaled(-100).plus(100)
        self.assertEqual((saving.median, round(saving.low), round(saving.high)), (40, 20, 50))


class Simulating(unittest.TestCase):
    COSTS = Costs(local=0.03, switch=0.006, send=0.02, receive=0.02, crossing=0.06, poll=0.003, poll_mailbox=0.001, collective=0.05, arrive=0.03)

    def test_one_core_costs_the_sum_of_its_messages_and_switches(self) -> None:
        # 8 ranks of 12 messages each; a rank waits at least once in an iteration.
        found = loads.kneighbor(self.COSTS, 1, 8, 3)
        self.assertGreater(found, 8 * 12 * self.COSTS.local)
        self.assertLess(found, 8 * 12 * (self.COSTS.local + self.COSTS.switch + self.COSTS.poll))

    def test_two_cores_are_no_quicker_than_half_of_one(self) -> None:
        self.assertGreater(loads.kneighbor(self.COSTS, 2, 8, 3), loads.kneighbor(self.COSTS, 1, 8, 3) / 2)

    def test_a_barrier_grows_with_the_levels_of_its_tree(self) -> None:
        costs = dataclasses.replace(self.COSTS, poll=0, poll_mailbox=0, switch=0, collective=0, arrive=0, send=0, receive=0)
        for workers in (2, 9, 10, 73, 74):
            self.assertAlmostEqual(loads.barrier(costs, workers, workers), 2 * loads.tree_levels(workers) * costs.crossing)
        self.assertEqual([loads.tree_levels(n) for n in (1, 2, 9, 10, 73, 74)], [0, 1, 1, 2, 2, 3])

    def test_every_step_with_loans_takes_at_least_the_ideal(self) -> None:
        for workers in (2, 8, 64):
            for burst in (50, 1000):
                self.assertGreaterEqual(loads.loans(self.COSTS, workers, 8, workers // 2, burst), 1)
        self.assertLess(loads.loans(self.COSTS, 8, 8, 4, 1000), loads.loans(self.COSTS, 8, 8, 4, 20))

    def test_costs_come_back_out_of_what_they_make(self) -> None:
        c = self.COSTS
        measured = {"yield": c.switch, "same_rate": c.local, "two_rate": c.send, "two": c.send + c.crossing + c.receive + c.poll + c.poll_mailbox,
                    "allreduce_8": c.collective + 8 * c.arrive, "allreduce_512": c.collective + 512 * c.arrive, **{f"poll_{n}": c.poll + n * c.poll_mailbox for n in POLLED}}  # fmt: skip
        found = dataclasses.asdict(fitted(measured))
        for name, value in dataclasses.asdict(c).items():
            self.assertAlmostEqual(found[name], value, msg=name)

    def test_mailboxes_grow_with_the_square(self) -> None:
        self.assertEqual(loads.mailbox_bytes(128)[0], 4 * loads.mailbox_bytes(64)[0])


class Counting(unittest.TestCase):
    def test_misses_are_those_of_an_iteration(self) -> None:
        output = "result iteration 4 us\nresult iteration 4 us\n50000,,cache-misses,1000,100.00,,\n"
        self.assertEqual(message_layer.read_misses(output), {"misses": 50.0})
        self.assertEqual(message_layer.read_misses("result iteration 4 us\n<not supported>,,cache-misses,0,100.00,,\n"), {})
        self.assertEqual(message_layer.read_misses("50000,,cache-misses,1000,100.00,,\n"), {})

    def test_each_step_takes_back_less_than_the_one_before(self) -> None:
        first, *_, last = message_layer.STEPS.values()
        self.assertEqual((first, last), ("queue=locked,heap=locked,counters=packed", "queue=own,heap=pool,counters=apart"))


class Judging(unittest.TestCase):
    def verdict(self, value: Estimate | None, **bounds: float) -> str:
        return Claim("text", "source", "", "value", value, **bounds).verdict[0]

    def test_a_claim_is_judged_only_if_the_interval_is_on_one_side(self) -> None:
        self.assertEqual(self.verdict(Estimate(0.8, 0.7, 0.9, 7), most=1.0), HOLDS)
        self.assertEqual(self.verdict(Estimate(1.2, 1.1, 1.3, 7), most=1.0), FAILS)
        self.assertEqual(self.verdict(Estimate(0.95, 0.9, 1.1, 7), most=1.0), NOT_JUDGED)
        self.assertEqual(self.verdict(Estimate(1.0, 0.98, 1.02, 7), least=0.97, most=1.03), HOLDS)
        self.assertEqual(self.verdict(Estimate(1.2, 1.1, 1.3, 7), least=0.97, most=1.03), FAILS)

    def test_nothing_is_judged_on_a_busy_machine_by_few_rounds_or_below_a_bound(self) -> None:
        good = (0.8, 0.7, 0.9)
        self.assertEqual(self.verdict(Estimate(*good, 7, other_work=0.07), most=1.0), NOT_JUDGED)
        self.assertEqual(self.verdict(Estimate(0.8, None, None, 4), most=1.0), NOT_JUDGED)
        self.assertEqual(self.verdict(Estimate(*good, 7, bound=0.85), most=1.0), NOT_JUDGED)
        self.assertEqual(Claim("", "", "", "", None, most=1.0, reason="no switch").verdict, (NOT_JUDGED, "no switch"))

    def test_a_value_below_its_physical_bound_is_flagged_wherever_it_is_shown(self) -> None:
        value = Estimate(0.8, 0.7, 0.9, 7, bound=0.85)
        self.assertIn("(!)", shown(value))
        self.assertNotIn("(!)", shown(Estimate(0.9, 0.8, 1.0, 7, bound=0.85)))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            results.print_table(Table("t", "Title", ["", "here"], [["row", value]]))
        self.assertIn(results.FLAG_TEXT, out.getvalue())
        self.assertTrue(value.as_json()["is_below_bound"])


class Reading(unittest.TestCase):
    STRIDES = (
        "\nOne pair, buffered sends, MB/s by stride in doubles\n     bytes         1         3\n         8       1.5       2.5\n    262144     500.0     100.0\n"
        "\nOne pair, synchronous sends, MB/s by stride in doubles\n     bytes         1         3\n         8       3.5       4.5\n"
        "\nAll pairs at once, buffered sends, MB/s by stride in doubles\n     bytes         1         3\n         8       9.0       9.0\n"
    )

    def test_strides_are_read_by_mode_size_and_stride_of_one_pair(self) -> None:
        self.assertEqual(partitioning.read_strides(self.STRIDES), {
            "buffered 8 1": 1.5, "buffered 8 3": 2.5, "buffered 262144 1": 500.0, "buffered 262144 3": 100.0,
            "synchronous 8 1": 3.5, "synchronous 8 3": 4.5})  # fmt: skip
        self.assertEqual(partitioning.read_strides("strides: out of memory\n"), {})

    def test_multigrid_cuts_as_many_levels_as_leave_four_cells(self) -> None:
        self.assertEqual(partitioning.levels(256, "4x4x1"), [256, 128, 64, 32, 16])
        self.assertEqual(partitioning.levels(64, "1x1x16"), [64])
        self.assertEqual(partitioning.levels(12, "1x1x1"), [12, 6, 3])

    def test_a_cycle_and_pairs_are_read_or_nothing(self) -> None:
        line = "multigrid: ranks 4, grid 2x2x1, n 48, ghosts by a graph, cycles 8, error 3.56e-04 of 3.56e-04, 12.345 ms per cycle\n"
        self.assertEqual(partitioning.read_cycle(line), {"cycle": 12.345})
        self.assertEqual(partitioning.read_cycle(""), {})
        read = samples.read_pairs("seconds", "gflops")
        self.assertEqual(read("variant base n 128 seconds 0.5 gflops 3.2e1 right\n"), {"seconds": 0.5, "gflops": 32.0})
        self.assertEqual(read("variant base n 128 seconds 0.5\n"), {})


class WithStore(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "samples.jsonl"

    def store(self, is_resumed: bool = True, **head: object) -> tuple[Store, str]:
        store = Store(self.path, {**HEAD, **head})
        error = store.open(is_resumed)
        self.addCleanup(lambda: store._file and store._file.close())
        return store, error


class Keeping(WithStore):
    def test_an_interrupted_command_continues_with_its_samples_and_facts(self) -> None:
        first, _ = self.store()
        first.add(KEY, 0, {"seconds": 1.5}, 2.0, 0.01)
        first.fact("jobs", lambda: {"F": ["--points", "10"]})
        # A crash in the middle of a line.
        with self.path.open("a", encoding="utf-8") as file:
            file.write('{"study": "001", "row": "ro')
        second, error = self.store(machine={"processor": "described later"})
        self.assertEqual((error, second.by_round(KEY, "seconds"), second.spent), ("", {0: 1.5}, 2.0))
        self.assertEqual(second.fact("jobs", lambda: self.fail("made twice")), {"F": ["--points", "10"]})
        self.assertEqual(second.head["machine"]["processor"], "recorded")
        second.add(KEY, 1, {"seconds": 2.5}, 2.0, 0.0)
        third, _ = self.store()
        self.assertEqual(third.by_round(KEY, "seconds"), {0: 1.5, 1: 2.5})

    def test_samples_of_another_build_are_refused_unless_discarded(self) -> None:
        self.store()[0].add(KEY, 0, {"seconds": 1.5}, 2.0, 0.0)
        self.assertIn("measured with another build", self.store(build="sorrel:9:9")[1])
        self.assertIn("measured with another options", self.store(options={"quick": True})[1])
        fresh, error = self.store(is_resumed=False, build="sorrel:9:9")
        self.assertEqual((error, fresh.rounds), ("", {}))

    def test_another_file_is_refused(self) -> None:
        for text in ("[]\n", "no json\n", json.dumps(HEAD) + '\n{"study": 1}\n'):
            self.path.write_text(text, encoding="utf-8")
            self.assertRegex(self.store()[1], "is not a file of|is damaged")
        self.assertIn("cannot write", Store(self.path / "below" / "it", HEAD).open(is_resumed=False))

    def test_other_work_is_a_mean_over_the_time_of_the_runs(self) -> None:
        store, _ = self.store()
        store.add(KEY, 0, {"seconds": 1.0}, 3.0, 0.0)
        store.add(KEY, 1, {"seconds": 1.0}, 1.0, 0.4)
        self.assertAlmostEqual(store.median(KEY, "seconds").other_work, 0.1)


class Scheduling(WithStore):
    def run_rows(self, store: Store, runs: dict, rounds: int = 3, seconds: float = 60.0, rounds_max: int = 1000) -> tuple[list[str], Schedule]:
        order: list[str] = []

        def case(column: str, run) -> Case:
            return Case("001", "row", column, lambda: (order.append(column), run())[1])

        row = Row([case(column, run) for column, run in runs.items()], rounds_max)
        schedule = Schedule([row], store, Budget(rounds, time.monotonic() + seconds, 0))
        with contextlib.redirect_stderr(io.StringIO()):
            schedule.run()
        return order, schedule

    def test_the_first_case_changes_with_each_round_and_rounds_are_not_repeated(self) -> None:
        store, _ = self.store()
        runs = {"a": lambda: {"seconds": 1.0}, "b": lambda: {"seconds": 2.0}}
        self.assertEqual(self.run_rows(store, runs, rounds=2)[0], ["a", "b", "b", "a"])
        self.assertEqual(self.run_rows(store, runs, rounds=3)[0], ["a", "b"])
        self.assertEqual(store.ratio(("001", "row", "b"), ("001", "row", "a"), "seconds").median, 2.0)
        self.assertEqual(self.run_rows(store, runs, rounds=9, rounds_max=3)[0], [])

    def test_a_case_that_fails_is_not_started_again(self) -> None:
        store, _ = self.store()

        def fail() -> dict:
            raise CaseFailed("exit status 1: wrong answer")

        self.assertEqual(self.run_rows(store, {"a": fail, "b": lambda: {"seconds": 1.0}})[0], ["a", "b", "b", "b"])
        self.assertEqual(store.troubles, {("001", "row", "a"): "exit status 1: wrong answer"})

    def test_a_peers_program_that_is_late_once_is_started_in_no_other_case(self) -> None:
        begun = []

        def case(column: str, is_late: bool, program: str) -> Case:
            def run() -> dict[str, float]:
                begun.append(column)
                raise CaseFailed("took longer than 2 s" if is_late else "exit status 1", is_late)

            return Case("000", "row", column, run, program)

        row = Row([case("late", True, "/peer"), case("other size", True, "/peer"), case("wrong", False, "/wrong"),
                   case("wrong too", False, "/wrong"), case("own", True, ""), case("own again", True, "")])  # fmt: skip
        with contextlib.redirect_stderr(io.StringIO()):
            Schedule([row], self.store()[0], Budget(2, time.monotonic() + 60, 0)).run()
        self.assertEqual(begun, ["late", "wrong", "wrong too", "own", "own again"])

    def test_no_row_is_started_that_would_end_after_the_budget(self) -> None:
        store, _ = self.store()
        order, schedule = self.run_rows(store, {"a": lambda: {"seconds": 1.0}}, seconds=1.0)
        self.assertEqual((order, schedule.left_out), ([], {"001: row"}))


class Failing(unittest.TestCase):
    def test_a_failure_names_the_program_without_the_folders_of_this_machine(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            program = pathlib.Path(name) / "summa" / "program"
            program.parent.mkdir()
            program.write_text("#!/bin/sh\nexit 3\n")
            program.chmod(0o755)
            case = samples.command_case(KEY, [str(program), "-n", "4"], lambda _: {}, None, pathlib.Path(name))
            with self.assertRaises(CaseFailed) as caught:
                case.run()
        self.assertIn("exit status 3", str(caught.exception))
        self.assertTrue(str(caught.exception).endswith(" (summa/program -n 4)"))


class RecordedStore(Store):
    """Has six rounds of every value that is asked for; values differ by key and round, and never between two processes."""

    def __init__(self) -> None:
        super().__init__(pathlib.Path("/nowhere"), HEAD)
        grids = {"none": 2e-3, "faces_first": 1.5e-3}
        plan = {grid: {how: s * (1 + i / 10) for how, s in grids.items()} for cuts in partitioning.CUTS.values() for i, grid in enumerate(cuts.values())}
        for machine, ranks in {*((m, r) for m in partitioning.MODELS for r in (16, 32)), *partitioning.PUBLISHED_CUTS, ("sp2", 16)}:
            for n in partitioning.MODEL_SIZES:
                self.facts[f"model {machine} {ranks} {n}"] = plan
        self.facts["model here"] = {f"{ranks} {n}": plan for ranks in (16, 32) for n in (8, 16, 32, 64, 128, 256)}
        for grain in ("", ", loops of 35us", ", loops of 5us"):
            self.facts[f"002 jobs{grain}"] = {letter: {"arguments": [], "work": 1.0, "critical_path": 0.6} for letter in dynamic_threads.KINDS}

    def by_round(self, key, name: str) -> dict[int, float]:
        base = 1 + sum(map(ord, "".join(key) + name)) % 97
        return {r: base * (1 + r / 100) for r in range(6)}


def own(name: str, is_sorrel: bool = True) -> Implementation:
    return Implementation(name, "1", ("cc",), lambda job: [job.program], has_light_ranks=is_sorrel, is_sorrel=is_sorrel)


class FakePrograms:
    folder = pathlib.Path("/nowhere")
    troubles: tuple = ()

    def path(self, name: str) -> str:
        return f"/nowhere/{name}"


class Showing(unittest.TestCase):
    def results(self, is_quick: bool) -> list:
        store = RecordedStore()
        setting = Setting("/bin/true", [own("Sorrel")], 2, is_quick, FakePrograms(), cpus=[0, 1], store=store, peers=[own("Open MPI", False)])
        return [command.result_of(module, store, setting) for module in command.modules_of([])]

    def test_every_study_has_tables_figures_and_claims_quick_or_not(self) -> None:
        for is_quick in (True, False):
            found = self.results(is_quick)
            self.assertEqual([result.number for result in found], list(command.NUMBERS))
            for result in found:
                self.assertTrue(result.tables and result.figures and result.claims, result.number)
                self.assertTrue(all(len(row) == len(t.head) for t in result.tables for row in t.rows), result.number)
                self.assertFalse(any(chart.is_empty for figure in result.figures for chart in figure.charts), result.number)
                self.assertTrue(all(claim.source and claim.verdict[1] for claim in result.claims), result.number)

    def test_each_study_has_its_own_number_of_processors_where_there_are_as_many(self) -> None:
        def numbers(cores: int) -> dict[str, int]:
            setting = Setting("/bin/true", [], cores, True, FakePrograms(), cpus=list(range(cores)))
            limited = {module.NUMBER: setting.limited_to(module.PROCESSORS) for module in command.modules_of([])}
            self.assertTrue(all(len(one.cpus) == one.workers for one in limited.values()))
            return {number: one.workers for number, one in limited.items()}

        self.assertEqual(numbers(24), {"000": 8, "001": 24, "002": 4, "003": 16, "004": 7, "beyond": 24})
        self.assertEqual(set(numbers(2).values()), {2})

    def test_the_page_says_on_which_cores_a_study_ran(self) -> None:
        self.assertIn("CPUs 0, 1, 2, 3: 4 cores", results.processors_text([0, 1, 2, 3], 4))
        self.assertIn("used as many", results.processors_text([0, 1, 2, 3], 4))
        self.assertIn("The study used 7: what needs more", results.processors_text([0, 2], 7))
        self.assertTrue(all(result.processors for result in self.results(True)))

    def test_the_published_numbers_stand_beside_ours(self) -> None:
        tables = {table.name: table for result in self.results(False) for table in result.tables}
        savings = {row[0]: row[1:] for row in tables["table_3_savings"].rows}
        self.assertEqual(savings["dynamic over static: elapsed, %, published"], ["23", "13", "14", "57", "54", "49", "42"])
        self.assertEqual(savings["static, MP_BLOCKTIME=1 over static: CPU, %, published"], ["-4", "-4", "-7", "51", "53", "51", "25"])
        for grain in ("35us", "5us"):
            self.assertTrue(all(isinstance(cell, Estimate) for row in tables[f"table_3_{grain}"].rows for cell in row[1:]), grain)
        self.assertEqual(len(tables["turnaround"].rows), 4 * 7)
        rows = {row[0]: row for row in tables["table_1"].rows}
        self.assertEqual(rows["long_fluid_pp"][4:], ["143", "94", "47 %"])
        predicted = tables["multigrid_predicted"].rows
        self.assertTrue(any(row[0] == "256^3 on 32, z" for row in predicted))
        # Six steps on three levels of 2 ms, and on five levels of 2.6 ms.
        self.assertEqual(next(row[2] for row in predicted if row[0] == "256^3 on 16, x"), "36.0")
        self.assertEqual(next(row[2] for row in predicted if row[0] == "256^3 on 16, 2-D xy"), "78.0")
        self.assertEqual(len(tables["multigrid_choice"].rows), 2 * 3)
        cuts = {row[0]: row for row in tables["published_cuts"].rows}
        self.assertEqual((cuts["origin2000, 32"][1], cuts["origin2000, 32"][6]), ("1.3", "+22 %"))
        self.assertIn("0.913 (whole scheduler)", [row[2] for row in tables["self"].rows])

    def test_published_savings_follow_from_the_published_seconds(self) -> None:
        static = dynamic_threads.PUBLISHED[dynamic_threads.STATIC]
        for name, savings in dynamic_threads.PUBLISHED_SAVINGS.items():
            for which in (0, 1):
                for before, after, saving in zip(static[which], dynamic_threads.PUBLISHED[name][which], savings[which], strict=True):
                    # Elapsed 134 to 115 s is 14.2 %, 159 to 138 s is 13.2 %: the study cuts or rounds.
                    self.assertAlmostEqual(100 * (1 - after / before), saving, delta=1.0)

    def test_the_page_has_every_study_claim_and_picture_and_the_machine(self) -> None:
        found = self.results(True)
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()) as out:
            folder = pathlib.Path(name)
            command.show(found, {"processor": "A <processor>", "cpus": 2, "other_work": 0.01}, "sorrel bench studies --quick", folder)
            page = (folder / "page.html").read_text(encoding="utf-8")
            told = json.loads((folder / "results.json").read_text(encoding="utf-8"))
            for result in found:
                self.assertIn(f'id="s{result.number}"', page)
                for figure in result.figures:
                    self.assertTrue((folder / f"{figure.name}.png").stat().st_size > 5000, figure.name)
                    xml.etree.ElementTree.parse(folder / f"{figure.name}.svg")
        self.assertEqual(page.count("<img"), sum(len(result.figures) for result in found))
        self.assertEqual(page.count('class="holds"') + page.count('class="fails"') + page.count('class="open"'), sum(len(r.claims) for r in found))
        self.assertIn("A &lt;processor&gt;", page)
        self.assertEqual([study["study"] for study in told["studies"]], list(command.NUMBERS))
        self.assertEqual(page.count("Runs had CPUs 0, 1: 2 cores"), len(found))
        self.assertIn("not judged: On kNeighbor, removing false sharing gains around 1 %", out.getvalue())


class Drawing(unittest.TestCase):
    def texts(self, charts: list) -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            files = pictures.draw(charts, pathlib.Path(name) / "p")
            self.assertEqual([file.suffix for file in files], [".svg", ".png"])
            root = xml.etree.ElementTree.parse(files[0])
            return ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_axes_have_labels_and_every_line_mark_and_bar_a_name(self) -> None:
        lines = [Line("a < b", [Point(1, 10, 9, 12), Point(100, 1000)]), Line("no points", []), Line("dashed", [Point(1, 10), Point(100, 10)], is_dashed=True)]
        chart = Chart("Title", "ranks", "time [ms]", lines, [Mark("published", 10, 100)], x_ticks=(1, 10, 100), note="a remark")
        bars = BarChart("Bars", "GFLOP/s", ["one", "two"], [Bars("here", [Point(0, 1.0), None]), Bars("there", [Point(0, 2.0), Point(0, 3.0)], is_published=True)], line=1.0)
        texts = self.texts([chart, bars])
        for expected in ("Title", "ranks", "time [ms]", "a < b", "dashed", "published", "a remark", "100", "Bars", "GFLOP/s", "two", "here", "there"):
            self.assertIn(expected, texts)
        self.assertNotIn("no points", texts)

    def test_numbers_of_bytes_are_short(self) -> None:
        self.assertEqual([pictures.size_text(value) for value in (8, 1000, 4096, 1 << 18, 3 << 20)], ["8", "1000", "4 Ki", "256 Ki", "3 Mi"])
        texts = self.texts([Chart("Sizes", "bytes of a message", "MB/s", [Line("a", [Point(8, 1), Point(1 << 21, 2)])], x_ticks=(8, 1 << 21))])
        self.assertIn("2 Mi", texts)

    def test_a_line_far_above_the_others_needs_a_logarithmic_axis(self) -> None:
        near, far = Line("near", [Point(0, 1.0), Point(1, 2.0)]), Line("far", [Point(0, 90.0), Point(1, 101.0)])
        self.assertFalse(message_layer.is_far_apart([]))
        self.assertFalse(message_layer.is_far_apart([near, Line("no points", [])]))
        self.assertTrue(message_layer.is_far_apart([near, far]))

    def test_charts_without_values_are_left_out(self) -> None:
        empty = BarChart("Empty", "y", ["g"], [Bars("b", [None])])
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(pictures.draw([empty, Chart("Empty", "x", "y", [Line("l", [])])], pathlib.Path(name) / "p"), [])
            self.assertEqual(list(pathlib.Path(name).iterdir()), [])

    def test_equal_data_give_equal_files(self) -> None:
        chart = Chart("t", "x", "y", [Line("l", [Point(1, 2), Point(2, 3)])])
        with tempfile.TemporaryDirectory() as name:
            first, again = (pictures.draw([chart], pathlib.Path(name) / f"p{i}")[0].read_bytes() for i in range(2))
        self.assertEqual(first, again)


if __name__ == "__main__":
    unittest.main()
