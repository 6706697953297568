"""Tests of how outputs are judged: MPICH's rules, tables of benchmarks, summaries of mpi4py."""
import os
import tempfile
import unittest

import benchmark_suites
import judge
import mpi4py_suite
from entry import Entry, Outcome, Rule
from mpich import functions_missing


class MpichRules(unittest.TestCase):
    def check(self, rule, status, text, outcome):
        self.assertIs(judge.judge(rule, status, text), outcome, (rule, status, text))

    def test_only_the_words_no_errors_and_status_0_pass(self):
        self.check(Rule.NORMAL, 0, " No Errors\n", Outcome.PASSED)
        self.check(Rule.NORMAL, 0, "No errors\n", Outcome.PASSED)
        self.check(Rule.NORMAL, 0, "", Outcome.WRONG)
        self.check(Rule.NORMAL, 0, " Found 3 errors\n", Outcome.WRONG)
        self.check(Rule.NORMAL, 1, " No Errors\n", Outcome.STATUS)

    def test_any_other_line_is_stray(self):
        self.check(Rule.NORMAL, 0, " No Errors\nhello\n", Outcome.STRAY)
        self.check(Rule.NORMAL, 0, " No Errors\n No Errors\n", Outcome.STRAY)
        self.check(Rule.NORMAL, 0, " No Errors\nFORTRAN STOP\n", Outcome.PASSED)

    def test_warnings_pass_only_where_they_are_allowed(self):
        text = " No Errors\nsorrel: rank 1: called MPI_Abort with 3\n"
        self.check(Rule.NORMAL, 0, text, Outcome.STRAY)
        self.check(Rule.ALLOW_WARNINGS, 0, text, Outcome.PASSED)
        self.check(Rule.STATUS_NO_ERRORS, 3, text, Outcome.PASSED)
        self.check(Rule.STATUS_NO_ERRORS, 0, text, Outcome.STRAY)

    def test_rules_of_the_status(self):
        self.check(Rule.FATAL, 16, "anything\n", Outcome.PASSED)
        self.check(Rule.FATAL, 0, " No Errors\n", Outcome.STATUS)
        self.check(Rule.STATUS, 0, "", Outcome.STATUS)
        self.check(Rule.BENCH, 0, "12.3 us\n", Outcome.PASSED)
        self.check(Rule.BENCH, 1, "", Outcome.WRONG)

    def test_a_program_may_skip_itself(self):
        self.check(Rule.NORMAL, 0, "Test Skipped\n", Outcome.SKIPPED)
        self.check(Rule.NORMAL, 1, "Test Skipped\n", Outcome.WRONG)

    def test_the_kind_of_a_failure(self):
        self.check(Rule.NORMAL, -11, "", Outcome.CRASH)
        self.check(Rule.NORMAL, 139, "sorrel: rank 0: Segmentation fault\n", Outcome.CRASH)
        self.check(Rule.NORMAL, 134, "sorrel: a.cpp:3: check failed: x\n", Outcome.CRASH)
        self.check(Rule.NORMAL, 1, "check failed: (count == 1), line 48\n Found 1 errors\n", Outcome.WRONG)
        self.check(Rule.NORMAL, 1, "sorrel: deadlock: 2 of 2 ranks wait\n", Outcome.DEADLOCK)
        self.check(Rule.NORMAL, 16, "sorrel: rank 0: MPI_Send: MPI_ERR_RANK: invalid rank\n", Outcome.MPI_ERROR)
        self.check(Rule.NORMAL, 16, "MPI_File_open: MPI_ERR_UNSUPPORTED_OPERATION: x\n", Outcome.MISSING)

    def test_functions_that_the_linker_missed(self):
        text = "a.c:(.text+0x9): undefined reference to `MPI_Open_port'\nb.f90: undefined reference to `mpi_comm_spawn_'\n"
        self.assertEqual(functions_missing(text), ["mpi_comm_spawn", "mpi_open_port"])
        self.assertEqual(functions_missing("undefined reference to `helper'"), [])


class Benchmarks(unittest.TestCase):
    imb = Entry("imb", "MPI1", "", "IMB-MPI1", 2, rule=Rule.IMB)
    osu = Entry("osu", "standard", "", "osu_bw", 2, rule=Rule.OSU)

    def test_imb_defects_fail(self):
        table = "   #bytes #repetitions  t[usec]   Mbytes/sec      defects\n  0  5   0.5   0.00   0.00\n  4  5   0.5   8.00   {}\n"
        self.assertEqual(benchmark_suites.judge(self.imb, 0, table.format("0.00")), (Outcome.PASSED, "2 rows checked, 0 wrong"))
        self.assertEqual(benchmark_suites.judge(self.imb, 0, table.format("1.00"))[0], Outcome.WRONG)
        self.assertEqual(benchmark_suites.judge(self.imb, 2, table.format("0.00"))[0], Outcome.STATUS)

    def test_imb_tables_without_defects_check_nothing(self):
        table = "       #bytes #repetitions  t[usec]\n            4  5   0.5\n"
        self.assertEqual(benchmark_suites.judge(self.imb, 0, table), (Outcome.PASSED, "ends with status 0; checks no data"))

    def test_imb_tables_without_sizes_have_no_defects(self):
        table = ("#bytes #repetitions t_avg[usec] defects\n 4 5 1.20 0.00\n\n# Benchmarking Barrier\n#repetitions t_min[usec] t_avg[usec]\n"
                 "  5  1.10  1.20\n")
        self.assertEqual(benchmark_suites.judge(self.imb, 0, table), (Outcome.PASSED, "1 rows checked, 0 wrong"))

    def test_osu_rows_must_all_pass(self):
        self.assertEqual(benchmark_suites.judge(self.osu, 0, "# Size  MB/s  Validation\n1  2.5  Pass\n2  5.1  Pass\n"),
                         (Outcome.PASSED, "2 rows checked, 0 wrong"))
        self.assertEqual(benchmark_suites.judge(self.osu, 0, "1  2.5  Pass\n2  5.1  Fail\n")[0], Outcome.WRONG)
        self.assertEqual(benchmark_suites.judge(self.osu, -6, "1  2.5  Pass\n")[0], Outcome.CRASH)


class Mpi4py(unittest.TestCase):
    two = Entry("mpi4py", "2 ranks", "test", "main.py", 2)

    def test_every_rank_must_end_its_tests(self):
        summary = "Ran 10 tests in 1.0s\n\nOK (skipped=4)\n"
        self.assertEqual(mpi4py_suite.judge(self.two, 0, summary * 2), (Outcome.PASSED, "10 tests run, 4 skipped, 0 failed"))
        self.assertEqual(mpi4py_suite.judge(self.two, 0, summary)[0], Outcome.WRONG)
        self.assertEqual(mpi4py_suite.judge(self.two, 139, summary)[0], Outcome.CRASH)

    def test_modules_are_entries_and_those_that_need_other_programs_are_one(self):
        with tempfile.TemporaryDirectory() as source:
            os.mkdir(os.path.join(source, "test"))
            for name in ("main.py", "test_win.py", "test_rma.py", "test_rma_nb.py", "test_spawn.py", "mpiunittest.py"):
                with open(os.path.join(source, "test", name), "w", encoding="utf-8"):
                    pass
            entries = list(mpi4py_suite.Suite("cache", source).entries(["2 ranks"]))
        self.assertEqual([entry.key for entry in entries], ["mpi4py:test/main.py 2 " + words for words in (
            "-i ^test_rma.py$", "-i ^test_rma_nb.py$", "-i ^test_win.py$", "-i dynproc -i spawn -i util_pool")])
        self.assertEqual(mpi4py_suite.Suite.interpreter_arguments(entries[0]), ("main.py", "-q", "-i", "^test_rma.py$"))

    def test_failures_are_counted_and_named(self):
        text = "ERROR: testFree (test_win.TestWin.testFree)\nRan 10 tests in 1s\nFAILED (failures=1, errors=2)\nRan 10 tests in 1s\nOK\n"
        outcome, reason = mpi4py_suite.judge(self.two, 1, text)
        self.assertIs(outcome, Outcome.WRONG)
        self.assertEqual(reason, "10 tests run, 0 skipped, 3 failed: test_win.TestWin.testFree")


if __name__ == "__main__":
    unittest.main()
