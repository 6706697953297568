import unittest

import predictions


def report(seconds, **predicted):
    names = {"n32": "-n 32", "n64": "-n 64", "steal": "--balance steal"}
    return {"seconds": seconds, "predictions": [{"what": names[name], "seconds": time} for name, time in predicted.items()]}


class Rows(unittest.TestCase):
    def test_medians_of_pairs_that_were_run(self):
        reports = {
            (16, "off"): [report(1, n32=2.0, n64=9.0), report(3, n32=2.5), report(2, n32=4.0)],
            (32, "off"): [report(5, n64=1.0), report(7), report(6)],
        }
        self.assertEqual(list(predictions.rows_of(reports)), [("-n 16", "-n 32", [2.0, 2.5, 4.0], [5, 7, 6])])

    def test_balances_of_the_same_number(self):
        reports = {
            (16, "off"): [report(4, steal=3.0, n32=2.0)],
            (16, "steal"): [report(5, steal=9.0)],
            (32, "steal"): [report(7, steal=9.0)],
        }
        self.assertEqual(list(predictions.rows_of(reports)), [("-n 16", "--balance steal", [3.0], [5])])


if __name__ == "__main__":
    unittest.main()
