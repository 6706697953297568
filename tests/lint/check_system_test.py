"""Each test plants one header of the system in a small tree; the check must find it, or accept it where it is listed."""

import check_system
from planted_tree import PlantedTree

TABLE = '[may_include]\nos = []\nroom = []\n[system]\nfree = ["os"]\n[system.files]\n'


class Tree(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write("layers.toml", TABLE)

    def test_accepts_standard_headers_everywhere_and_any_in_a_free_module(self):
        self.write("src/room/a.cpp", "#include <vector>\n#include <cerrno>\n")
        self.write("src/os/b.cpp", "#include <sys/mman.h>\n")
        self.write("src/os/folder/c.cpp", "#include <sys/mman.h>\n")
        self.assertEqual(check_system.check(self.root), [])

    def test_finds_a_header_of_the_system(self):
        self.write("src/room/a.hpp", "#include <vector>\n#  include <sys/mman.h>\n")
        self.assertEqual(check_system.check(self.root), ["src/room/a.hpp: includes <sys/mman.h>: system calls belong in src/os"])

    def test_accepts_what_is_listed_and_finds_an_entry_too_many(self):
        self.write("src/room/a.cpp", "#include <sched.h>\n")
        self.write("layers.toml", TABLE + '"room/a.cpp" = ["sched.h", "unistd.h"]\n')
        (fault,) = check_system.check(self.root)
        self.assertIn("no longer includes <unistd.h>", fault)
