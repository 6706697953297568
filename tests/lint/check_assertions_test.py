"""Each test plants a room in a small tree; the check must count its assertions, and compare them with what the table asks."""

import check_assertions
from planted_tree import PlantedTree


class Tree(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write("tests/lint/assertions.toml", '[per_100_lines]\n"src/room" = 1.0\n')

    def test_counts_macros_and_static_asserts_and_no_definitions(self):
        self.write(
            "src/room/a.cpp",
            "// SORREL_ASSERT(a)\n#define SORREL_ASSERT(condition) SORREL_CHECK(condition)\n\n"
            "void f() {\n  SORREL_ASSERT(a);\n  SORREL_CHECK(b,\n               c);\n}\nstatic_assert(d);\n",
        )
        self.assertEqual(check_assertions.counts_of(self.root / "src/room"), (3, 7))

    def test_finds_a_room_with_too_few(self):
        self.write("src/room/a.cpp", "SORREL_ASSERT(a);\n" + "f();\n" * 99)
        self.assertEqual(check_assertions.check(self.root), [])
        self.write("src/room/b.hpp", "f();\n")
        (fault,) = check_assertions.check(self.root)
        self.assertIn("src/room: 1 assertions in 101 lines of code, 0.99 in 100; at least 1.0", fault)
