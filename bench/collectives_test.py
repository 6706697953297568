"""Tests of `sorrel bench collectives` without running any MPI: its arithmetic and its table.

    python3 bench/collectives_test.py
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from sorrel_bench import collectives  # noqa: E402
from sorrel_bench.collectives import ABOVE, BELOW, LIMITS, Row, Shape  # noqa: E402
from sorrel_bench.implementations import Implementation  # noqa: E402
from sorrel_bench.runner import Samples  # noqa: E402


class Limits(unittest.TestCase):
    def test_the_limit_is_the_last_size_before_the_second_algorithm_wins(self) -> None:
        self.assertEqual(collectives.limit_between([8, 16, 32], [1, 1, 4], [2, 2, 2]), 16)
        self.assertEqual(collectives.limit_between([8, 16, 32], [1, 1, 1], [2, 2, 2]), 32)
        self.assertEqual(collectives.limit_between([8, 16, 32], [2, 2, 2], [1, 1, 1]), 0)

    def test_one_disturbed_size_does_not_move_the_limit(self) -> None:
        self.assertEqual(collectives.limit_between([8, 16, 32, 64], [1, 2.1, 1, 4], [2, 2, 2, 2]), 32)

    def test_rows_are_made_of_the_quickest_runs_of_both_algorithms(self) -> None:
        limit = LIMITS[0]
        experiments = collectives.experiments_of([limit], is_quick=True)
        samples = Samples()
        for e in experiments:
            for name, times in ((BELOW, (1.0, 9.0)), (ABOVE, (2.0, 2.0) if e.bytes < 2000 else (0.5, 0.5))):
                output = "".join(f"result {limit.collective} {time} us\n" for time in times)
                samples.add(e, Implementation(name, "", (), lambda job: []), output)
        rows = collectives.rows_of([limit], experiments, samples)
        self.assertEqual([row.shape for row in rows], list(limit.shapes))
        self.assertEqual({row.bytes for row in rows}, {max(size for size in rows[0].times if size < 2000)})


class Tables(unittest.TestCase):
    def test_the_largest_shape_of_each_kind_is_for_all_larger_ones(self) -> None:
        rows = [Row("bcast.staged", Shape(ranks), size, {}) for ranks, size in ((1, 64), (8, 32))]
        rows += [Row("reduce.direct", Shape(1, processes), 16, {}) for processes in (2, 8)]
        lines = [line.split() for line in collectives.table_of(rows, "a machine").splitlines() if line[0] != "#"]
        self.assertEqual(lines, [
            ["bcast.staged", "64", "1", "1", "any"],
            ["bcast.staged", "32", "any", "1", "any"],
            ["reduce.direct", "16", "any", "2", "any"],
            ["reduce.direct", "16", "any", "any", "any"],
        ])  # fmt: skip


unittest.main()
