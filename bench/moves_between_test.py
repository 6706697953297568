import unittest

import moves_between


class Moves(unittest.TestCase):
    def test_reads_the_line_of_a_job(self):
        line = ("sorrel: balance: 12 ranks moved between processes in 3 steps, 12.5 MiB in 0.006000 s, held for 0.009000 s; imbalance of processes "
                "0.98 before, 0.03 after")
        self.assertEqual(moves_between.moves_in(line), (12, 3, 12.5, 0.006, 0.009))
        self.assertIsNone(moves_between.moves_in("sorrel: balance: off"))

    def test_tells_the_time_of_a_rank_and_of_a_step(self):
        rounds = [(12, 3, 12.5, 0.006, 0.009), (10, 2, 10.0, 0.010, 0.012), (0, 0, 0, 0, 0)]
        self.assertEqual(moves_between.row_of(1024, rounds), "| 1024 KiB | 0.750 ms (0.500 to 1.000) | 4.50 ms (22 ranks, 5 steps) |")
        self.assertEqual(moves_between.row_of(64, [(0, 0, 0, 0, 0)]), "| 64 KiB | no rank moved | |")


if __name__ == "__main__":
    unittest.main()
