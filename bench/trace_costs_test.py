import unittest

import trace_costs


class Costs(unittest.TestCase):
    def test_reads_the_line_of_a_program(self):
        self.assertEqual(trace_costs.time_of("cg2d: ranks 64, steps 20, time per step mean 138.1 us, residual 4.550575e+00"), 138.1)
        self.assertEqual(trace_costs.time_of("kneighbor: median 5.25 us floor 4.5 us"), 5.25)
        self.assertIsNone(trace_costs.time_of("cg2d: no time"))

    def test_compares_runs_of_the_same_round(self):
        times = {"plain": [100, 200, 100], "traced": [110, 210, 130], "without": [100] * 3}
        self.assertEqual([round(number, 6) for number in trace_costs.percent_of(times["traced"], times["plain"])], [10, 5, 30])
        self.assertEqual(trace_costs.row_of("name", times), "| name | 100.0 us | +10.0 % (+5.0 to +30.0) | +0.0 % (+0.0 to +100.0) |")


if __name__ == "__main__":
    unittest.main()
