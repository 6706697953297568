"""Each test plants one copy in a small tree; the check must find it, or accept it where few bytes are copied or it is listed."""

import check_copies
from planted_tree import PlantedTree

TABLE = '[copies]\nfolders = ["room"]\n[copies.files]\n'


class Tree(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write("layers.toml", TABLE)

    def faults_of(self, text):
        self.write("src/room/folder/a.cpp", text)
        return check_copies.check(self.root)

    def test_accepts_constants_comments_and_other_folders(self):
        self.write("src/hall/b.cpp", "std::memcpy(to, from, bytes);\n")
        self.assertEqual(
            self.faults_of(
                "// memcpy(to, from, bytes)\nstd::memcpy(to(1, 2), from, sizeof *to);\nmemcpy(a, b, 8);\n"
                "std::memmove(a + f(x, y),\n  b,\n  small_bytes_max);\ncopy_bytes(to, from, bytes);\nslab.copy(index);\n"
            ),
            [],
        )

    def test_finds_every_kind_of_unbounded_copy(self):
        for call in (
            "std::memcpy(to, from, bytes);",
            "memmove(to, from,\n  count * sizeof(T));",
            "__builtin_memcpy(to, from, f(sizeof a, b));",
            "std::copy(a, b, c);",
            "std::copy_n(a, 8, c);",
            "std::ranges::copy(a, c);",
        ):
            with self.subTest(call):
                (fault,) = self.faults_of(f"void f() {{ {call} }}\n")
                self.assertIn("src/room/folder/a.cpp: 1 copies of an unbounded size, 0 listed", fault)

    def test_accepts_what_is_listed_and_finds_an_entry_too_many(self):
        self.write("layers.toml", TABLE + '"room/folder/a.cpp" = [1, "a name"]\n')
        self.assertEqual(self.faults_of("memcpy(to, from, bytes);\n"), [])
        (fault,) = self.faults_of("copy_bytes(to, from, bytes);\n")
        self.assertIn("0 copies of an unbounded size, 1 listed", fault)
