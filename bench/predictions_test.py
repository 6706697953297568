import unittest

import predictions


def report(seconds, **predicted):
    return {"seconds": seconds, "predictions": [{"what": name.replace("n", "-n "), "seconds": time} for name, time in predicted.items()]}


class Rows(unittest.TestCase):
    def test_medians_of_pairs_that_were_run(self):
        reports = {16: [report(1, n32=2.0, n64=9.0), report(3, n32=2.5), report(2, n32=4.0)], 32: [report(5, n64=1.0), report(7), report(6)]}
        self.assertEqual(list(predictions.rows_of(reports)), [(16, 32, 2.5, 6)])


if __name__ == "__main__":
    unittest.main()
