"""Each test plants one fault in a small tree; the layer check must find it."""

import check_layers
from planted_tree import PlantedTree

TABLE = '[may_include]\nlow = []\nhigh = ["low"]\n'


class Tree(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write("layers.toml", TABLE)
        self.write("include/mpi/mpi.h", "")
        self.write("src/low/thing.hpp", "")
        self.write("src/high/part/tower.hpp", '#include "low/thing.hpp"\n#include "mpi.h"\n#include <vector>\n')

    def faults(self):
        return check_layers.check(self.root)

    def test_accepts_includes_that_go_down(self):
        self.assertEqual(self.faults(), [])

    def test_catches_an_include_that_goes_up(self):
        self.write("src/low/thing.cpp", '\n  #  include "high/part/tower.hpp"\n')
        (fault,) = self.faults()
        self.assertIn("src/low/thing.cpp:2: 'low' may not include 'high'", fault)

    def test_catches_an_include_in_a_folder_of_a_module(self):
        self.write("src/low/deep/er/thing.hpp", '#include "high/part/tower.hpp"\n')
        self.assertEqual(len(self.faults()), 1)

    def test_holds_a_folder_with_a_line_of_its_own_against_that_line(self):
        self.write("layers.toml", TABLE + '"high/pure" = []\n')
        self.write("src/high/pure/thing.hpp", '#include "low/thing.hpp"\n')
        (fault,) = self.faults()
        self.assertIn("'high/pure' may not include 'low'", fault)

    def test_catches_an_include_written_relative_to_its_file(self):
        self.write("src/high/part/other.cpp", '#include "tower.hpp"\n')
        self.assertIn("write includes from src/", self.faults()[0])

    def test_a_generated_file_belongs_to_one_module(self):
        self.write("layers.toml", TABLE + '[generated]\n"low_table.inc" = "low"\n')
        self.write("src/low/thing.cpp", '#include "low_table.inc"\n')
        self.assertEqual(self.faults(), [])
        self.write("src/high/part/other.cpp", '#include "low_table.inc"\n')
        self.assertEqual(len(self.faults()), 1)

    def test_catches_a_module_that_is_not_in_the_table(self):
        self.write("src/stray/thing.cpp", "")
        self.assertIn("'stray' is not in layers.toml", self.faults()[0])

    def test_a_module_within_a_folder_has_arrows_of_its_own(self):
        self.write("layers.toml", TABLE + '"high/part" = []\n')
        self.assertIn("'high/part' may not include 'low'", self.faults()[0])
        self.write("src/high/other.cpp", '#include "high/part/tower.hpp"\n')
        self.assertTrue(any("'high' may not include 'high/part'" in fault for fault in self.faults()))

    def test_the_command_has_modules(self):
        self.write("layers.toml", TABLE + 'tools = ["low"]\n')
        self.write("tools/command/run/start.hpp", '#include "low/thing.hpp"\n')
        self.write("tools/command/main.cpp", '#include "tools/command/run/start.hpp"\n#include "text.inc"\n')
        self.assertEqual(self.faults(), [])
        self.write("src/high/other.hpp", "")
        self.write("tools/command/other.cpp", '#include "high/other.hpp"\n#include "run/start.hpp"\n')
        self.assertEqual(len(self.faults()), 2)
        self.assertIn("'tools' may not include 'high'", self.faults()[0])

    def test_no_module_includes_the_command(self):
        self.write("layers.toml", TABLE + 'tools = ["low"]\n')
        self.write("tools/command/start.hpp", "")
        self.write("src/low/thing.cpp", '#include "tools/command/start.hpp"\n')
        self.assertEqual(len(self.faults()), 1)

    def test_catches_a_cycle_in_the_table(self):
        self.write("layers.toml", '[may_include]\nlow = ["high"]\nhigh = ["low"]\n')
        self.assertIn("cycle", self.faults()[0])

    def test_catches_an_unknown_name_in_the_table(self):
        self.write("layers.toml", '[may_include]\nlow = []\nhigh = ["lowe"]\n')
        self.assertIn("'lowe', which is not a module", self.faults()[0])
