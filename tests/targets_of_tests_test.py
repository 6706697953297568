"""What `./dev test -R` builds, of this build: tests/targets_of_tests.py."""
import os
import unittest

from targets_of_tests import targets

build = os.path.abspath(os.environ["SORREL_BUILD"])
for_every_job = {"bin/sorrel", "lib/libmpi_abi.so", "lib/libsorrel-early.so"}


class TargetsOfTests(unittest.TestCase):
    def test_a_program_with_what_every_job_needs(self):
        found = targets(build, r"^mpi\.p2p\.big_and_empty_messages_arrive\.2_on_1$")
        self.assertLessEqual(for_every_job, found)
        self.assertEqual({name for name in found if name.startswith(("tests/", "bin/"))},
                         {"bin/sorrel", "tests/mpi/programs/mpi_big_and_empty_messages_arrive"})

    def test_a_unit_test_by_its_name_in_the_sources(self):
        self.assertEqual(targets(build, "unit.core.FiberPool"), {"bin/test_core"})

    def test_a_command_that_finds_its_library_beside_itself(self):
        self.assertLessEqual({"perturbed/bin/sorrel", "perturbed/lib/libmpi_abi.so", "tests/mpi/oracle/rma"},
                             targets(build, r"^oracle\.rma\.perturbed_12_on_12$"))

    def test_the_whole_build_for_what_is_given_its_folder(self):
        self.assertFalse(targets(build, r"^docs\.install$"))


if __name__ == "__main__":
    unittest.main()
