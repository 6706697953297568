import unittest

import trace_costs


class Costs(unittest.TestCase):
    def test_reads_the_line_of_a_program(self):
        line = "cg2d: ranks 64, steps 20, time per step median 138.1 us floor 58.1 us, residual 4.550575e+00"
        self.assertEqual(trace_costs.time_of(line), (138.1, 58.1))
        self.assertIsNone(trace_costs.time_of("cg2d: no time"))

    def test_compares_runs_of_the_same_round(self):
        times = {"plain": [(100, 50), (200, 100), (100, 50)], "traced": [(110, 50), (210, 110), (130, 60)], "without": [(100, 50)] * 3}
        self.assertEqual([round(number, 6) for number in trace_costs.percent_of(times["traced"], times["plain"], 0)], [10, 5, 30])
        self.assertEqual(trace_costs.row_of("name", times), "| name | 100.0 us | +10.0 % (+5.0 to +30.0); +10.0 % (+0.0 to +20.0) | +0.0 % (+0.0 to +100.0); +0.0 % (+0.0 to +100.0) |")


if __name__ == "__main__":
    unittest.main()
