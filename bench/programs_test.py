"""Tests of `sorrel bench programs` without running any MPI: answers, the table, and a run of a program that is no MPI program.

    python3 bench/programs_test.py
"""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from sorrel_bench import programs  # noqa: E402
from sorrel_bench.programs import Program, Run  # noqa: E402

# Passes the program's words on as they are: `-n RANKS` is left out.
LAUNCHER = ("sh", "-c", 'shift 2; exec "$@"', "sh")
ECHO = Program("echo", "Echo", "coreutils", "echo", ("answer 3", "{inputs}"), programs.last_match(r"^answer (\S+)"))


def run(answer: str, ranks: int = 4, status: int = 0) -> Run:
    return Run(ranks, status, answer, 2.0, 0.5, 10.0, 1)


class Answers(unittest.TestCase):
    def test_lammps_prints_its_last_step_before_the_loop(self) -> None:
        text = "   Step Temp \n       0   1.44  -6.7 \n     200   0.75142119   -5.7500683 \nLoop time of 3 on 4 procs\n"
        self.assertEqual(programs.STEP(text), "200 0.75142119 -5.7500683")

    def test_gromacs_prints_the_first_potential_in_a_table(self) -> None:
        program = next(one for one in programs.PROGRAMS if one.name == "gromacs")
        table = "        LJ (SR)   Coulomb (SR)   Coul. recip.      Potential    Kinetic En.\n    2.1e+03   -3.5e+03    5.7e+01   {}    2.0e+03\n"
        self.assertEqual(program.answer(table.format("-1.36308e+03") + table.format("-1.4e+03")), "-1.36308e+03")

    def test_output_without_an_answer_has_none(self) -> None:
        self.assertEqual(programs.STEP("ERROR\n"), "")


class Tables(unittest.TestCase):
    def test_an_answer_is_compared_with_that_of_the_programs_own_mpi(self) -> None:
        self.assertEqual(programs.verdict(ECHO, run("3"), run("3")), "3, the same")
        self.assertEqual(programs.verdict(ECHO, run("3"), run("4")), "3, not 4")
        self.assertEqual(programs.verdict(ECHO, run("3"), None), "3")
        self.assertEqual(programs.verdict(ECHO, run("", status=7), run("3")), "fails, status 7")
        self.assertEqual(programs.verdict(ECHO, run(""), run("3")), "no answer")

    def test_times_of_its_own_mpi_stand_beside_equal_numbers_of_ranks(self) -> None:
        lines = programs.rows(ECHO, [run("3"), run("3", ranks=64)], run("3"))
        self.assertEqual(lines[0], "| Echo | coreutils | 4 | 3, the same | 0.50 | 2.0 | 10 | 10; 2.0 |")
        self.assertEqual(lines[1], "| | | 64 | 3, the same | 0.50 | 2.0 | 10 | |")


class Runs(unittest.TestCase):
    def test_a_run_has_the_answer_the_status_and_the_memory_of_the_job(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            found = programs.run_once(ECHO, LAUNCHER, 4, pathlib.Path(folder))
        self.assertEqual((found.ranks, found.status, found.answer), (4, 0, "3"))
        self.assertGreater(found.seconds, 0)

    def test_programs_that_are_missing_are_named_and_none_is_installed(self) -> None:
        missing = Program("nothing", "Nothing", "no-package", "/nowhere/nothing", (), programs.last_match("(x)"))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "out.json"
            arguments = argparse.Namespace(only=[], quick=True, command="sorrel", table=None, json=file)
            output = io.StringIO()
            with mock.patch.object(programs, "PROGRAMS", (missing,)), contextlib.redirect_stdout(output):
                self.assertEqual(programs.main(arguments), 0)
            self.assertEqual(json.loads(file.read_text(encoding="utf-8"))["programs"], [])
        self.assertIn("Not installed: nothing (no-package)", output.getvalue())

    def test_every_input_is_there(self) -> None:
        words = [word for program in programs.PROGRAMS for word in (*program.arguments, *program.setup)]
        for word in " ".join(programs.filled(words)).split():
            if word.startswith(str(programs.INPUTS)):
                self.assertTrue(pathlib.Path(word).exists(), word)


if __name__ == "__main__":
    unittest.main()
