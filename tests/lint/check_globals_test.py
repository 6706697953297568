"""The check of mutable variables reads symbol tables as objdump prints them, and compares them with a list."""

import unittest

import check_globals

SYMBOLS = """
0000000000001000 l     O .bss\t0000000000000008              sorrel::core::(anonymous namespace)::count
0000000000001008 l     O .data.rel.ro\t0000000000000008      sorrel::core::(anonymous namespace)::table
0000000000001010 g     O .tbss\t0000000000000008              .hidden sorrel::mpi::current
0000000000001018 l     O .bss\t0000000000000008              guard variable for sorrel::mpi::make()::made
0000000000001020 l     O .bss\t0000000000000008              sorrel::program::open(char const*)::real
0000000000001024 l     O .bss\t0000000000000008              sorrel::program::load(char const*)::real_open
0000000000001028 l     O .bss\t0000000000000008              sorrel::runtime::the_job
"""


class Globals(unittest.TestCase):
    def test_takes_mutable_variables_of_this_project(self):
        self.assertEqual(
            check_globals.variables_in(SYMBOLS),
            {"sorrel::core::(anonymous namespace)::count", "sorrel::mpi::current", "sorrel::runtime::the_job"},
        )

    def test_names_new_and_vanished_variables(self):
        new, gone = check_globals.compare({"sorrel::a"}, {"sorrel::b"})
        self.assertIn("sorrel::a: a new mutable variable", new)
        self.assertIn("sorrel::b is gone", gone)

    def test_accepts_equal_lists(self):
        self.assertEqual(check_globals.compare({"sorrel::a"}, {"sorrel::a"}), [])
