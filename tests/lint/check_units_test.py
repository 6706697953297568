"""Each test plants one cycle in a small tree; the unit check must find it, or accept it where it is allowed."""

import check_units
from planted_tree import PlantedTree

TABLE = '[may_include]\nroom = []\n'


class Tree(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write("layers.toml", TABLE)

    def write_ring(self, count):
        """Units 0 to count - 1: the source of each includes the header of the next one."""
        for i in range(count):
            self.write(f"src/room/u{i}.hpp", "")
            self.write(f"src/room/u{i}.cpp", f'#include "room/u{(i + 1) % count}.hpp"\n')

    def test_accepts_a_tree_without_cycles(self):
        self.write("src/room/low.hpp", "")
        self.write("src/room/high.cpp", '#include "room/low.hpp"\n')
        self.assertEqual(check_units.check(self.root), [])

    def test_accepts_three_units_in_a_cycle(self):
        self.write_ring(3)
        self.assertEqual(check_units.check(self.root), [])

    def test_finds_a_cycle_of_four_that_only_sources_close(self):
        self.write_ring(4)
        (fault,) = check_units.check(self.root)
        self.assertIn("src/room: 4 units include each other", fault)
        self.assertIn("room/u3", fault)

    def test_a_module_may_have_a_limit_of_its_own(self):
        self.write_ring(4)
        self.write("layers.toml", TABLE + "[cycle_max]\nroom = 4\n")
        self.assertEqual(check_units.check(self.root), [])

    def test_a_header_and_its_source_are_one_unit(self):
        self.write("src/room/a.hpp", "")
        self.write("src/room/a.cpp", '#include "room/a.hpp"\n')
        self.assertEqual(check_units.cycles(check_units.read_units(self.root)), [])
