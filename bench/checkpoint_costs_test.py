import pathlib
import subprocess
import sys
import tempfile
import unittest

import checkpoint_costs


class Costs(unittest.TestCase):
    def test_reads_the_last_step(self):
        text = "step 0 began 1500000000 waited 1000000 ns\nstep 1 began 2500000000 waited 2000000 ns\n"
        self.assertEqual(checkpoint_costs.read_step(text), (2.5, 0.002))
        self.assertIsNone(checkpoint_costs.read_step("step 1 began"))

    def test_measures_a_small_job(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ["-n", "4", "--mib", "1", "--procs", "2", "--rounds", "1", "--folder", folder]
            done = subprocess.run([sys.executable, "-B", checkpoint_costs.__file__, "--sorrel", SORREL, *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"^4 ranks with 1 MiB each, --procs 2\nthe ranks wait \d+ ms .*\nthe files are written with .* of the disk's rate\n$")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    SORREL = sys.argv.pop(1)
    unittest.main()
