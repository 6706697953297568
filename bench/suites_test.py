"""Tests of `sorrel bench suites` without any MPI: tables as the suites print them, the comparison, and the page.

    python3 bench/suites_test.py
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

from sorrel_bench import suites  # noqa: E402
from sorrel_bench.implementations import Implementation  # noqa: E402

INTEL = """\
#----------------------------------------------------------------
# Benchmarking Sendrecv
# #processes = 2
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            0         1000         0.28         0.31         0.29         0.00
         1024         1000         0.50         0.75         0.60      2730.67

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 2
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.10         0.20         0.15

#---------------------------------------------------
# Benchmarking Unidir_put
# #processes = 2
#---------------------------------------------------
#
#    MODE: AGGREGATE
#
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         0.02       400.00
#
#    MODE: NON-AGGREGATE
#
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         0.40        20.00
# All processes entering MPI_Finalize
"""
OSU = """\
# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       0.25
4096                    3.50
"""
SUITE = suites.SUITES[0]


def curves_of(**times: dict[str, dict[int, float]]) -> suites.Curves:
    curves = suites.Curves()
    for implementation, of_operation in times.items():
        curves.add(SUITE, implementation.replace("_", " "), of_operation)
    return curves


class Outputs(unittest.TestCase):
    def test_intels_times_are_those_of_the_slowest_process(self) -> None:
        found = suites.read_intel(INTEL)
        self.assertEqual(found["Sendrecv"], {0: 0.31, 1024: 0.75})
        self.assertEqual(found["Barrier"], {0: 0.20})

    def test_modes_are_operations_of_their_own(self) -> None:
        found = suites.read_intel(INTEL)
        self.assertEqual(found["Unidir_put aggregate"], {8: 0.02})
        self.assertEqual(found["Unidir_put non-aggregate"], {8: 0.40})

    def test_a_cut_row_is_no_time(self) -> None:
        self.assertEqual(suites.read_intel(INTEL.split("0.75")[0]), {"Sendrecv": {0: 0.31}})

    def test_osu_prints_bytes_and_times_or_a_time_alone(self) -> None:
        self.assertEqual(suites.read_osu(OSU, "osu_allreduce"), {"osu_allreduce": {1: 0.25, 4096: 3.5}})
        self.assertEqual(suites.read_osu("# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n              0.11\n", "osu_barrier"), {"osu_barrier": {0: 0.11}})
        self.assertEqual(suites.read_osu("Error\n", "osu_barrier"), {})


class Comparisons(unittest.TestCase):
    def test_a_point_is_behind_if_the_best_peer_needs_less(self) -> None:
        curves = curves_of(Sorrel={"Bcast": {1: 1.0, 2: 3.0, 4: 1.0}}, MPICH={"Bcast": {1: 2.0, 2: 2.0}}, Open_MPI={"Bcast": {1: 1.5, 2: 2.5}})
        points = suites.points_of(curves, ["MPICH", "Open MPI"])
        self.assertEqual([(p.size, p.ratio, p.peer_name, p.is_behind) for p in points], [(1, 1 / 1.5, "Open MPI", False), (2, 1.5, "MPICH", True)])
        lines = list(suites.summary(points))
        self.assertIn("IMB Bcast", lines[1])
        self.assertEqual(lines[-1].split(" points")[0], "A peer is faster at 1 of 2")

    def test_a_median_is_that_of_the_rounds(self) -> None:
        curves = curves_of(Sorrel={"Bcast": {1: 1.0}})
        for value in (9.0, 2.0):
            curves.add(SUITE, "Sorrel", {"Bcast": {1: value}})
        self.assertEqual(curves.median("IMB Bcast", "Sorrel", 1), 2.0)

    def test_times_below_the_clocks_resolution_are_equal(self) -> None:
        self.assertFalse(suites.Point("IMB Barrier", 0, 0.0, 0.0, "MPICH").is_behind)
        self.assertTrue(suites.Point("IMB Barrier", 0, 0.1, 0.0, "MPICH").is_behind)


class Runs(unittest.TestCase):
    """Whole runs, with `sh` as the MPI's compiler and launcher."""

    def run_suite(self, folder: pathlib.Path, outputs: dict[str, str]) -> tuple[int, str]:
        sources = folder / "clones/mpi-benchmarks/src_cpp"
        sources.mkdir(parents=True)
        (sources / "Makefile").write_text("all:\n\t$(CC:-w=) IMB-$(TARGET)\n", encoding="utf-8")
        members = []
        for name, text in outputs.items():
            output, compiler = folder / f"{name}.txt", folder / f"{name}.sh"
            output.write_text(text, encoding="utf-8")
            compiler.write_text(f'test -s {output} || {{ echo "error: cannot compile" >&2; exit 1; }}\nprintf "cat {output}" > "$1"\n', encoding="utf-8")
            members.append(Implementation(name, "1", ("sh", str(compiler)), lambda job: ["sh", job.program]))
        arguments = argparse.Namespace(
            suites=folder / "clones", command="sorrel", rounds=2, minutes=None, quick=True, only=["Sendrecv"], json=folder / "out.json", folder=folder / "page")  # fmt: skip
        with (
            mock.patch.object(suites, "sorrel", lambda _: members[0]), mock.patch.object(suites, "installed_peers", lambda *_: members[1:]),
            contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(io.StringIO()),
        ):  # fmt: skip
            return suites.main(arguments), text.getvalue()

    def test_a_run_makes_a_page_with_all_points(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            status, text = self.run_suite(folder, {"Sorrel": INTEL, "MPICH": INTEL.replace("0.75", "0.50")})
            page = (folder / "page/page.html").read_text(encoding="utf-8")
            samples = json.loads((folder / "out.json").read_text(encoding="utf-8"))["samples"]
        self.assertEqual(status, 0, text)
        self.assertIn("A peer is faster at 1 of 5 points", text)
        self.assertIn("Not found: osu-micro-benchmarks", text)
        self.assertIn('<span class="fails">1.50</span>', page)
        self.assertIn({"operation": "IMB Sendrecv", "implementation": "MPICH", "bytes": 1024, "us": [0.5, 0.5]}, samples)

    def test_a_suite_that_sorrel_cannot_build_is_a_failure(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            status, text = self.run_suite(pathlib.Path(name), {"Sorrel": "", "MPICH": INTEL})
        self.assertEqual(status, 1)
        self.assertIn("Failed: IMB, IMB-MPI1 with Sorrel: error: cannot compile", text)
        self.assertIn("No operation has times of Sorrel and of a peer.", text)


if __name__ == "__main__":
    unittest.main()
