"""Unit tests of instructions.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import instructions  # noqa: E402

MAPS = """\
10000-12000 r--p 00000000 fe:00 1 /lib/a.so
12000-15000 r-xp 00002000 fe:00 1 /lib/a.so
20000-21000 r-xp 00000000 00:00 0
30000-31000 r-xp 00000000 00:00 0 [vdso]
40000-42000 r-xp 00000000 fe:00 2 /home/a folder/b
"""


def places(text: str) -> list[instructions.Place]:
    """A letter for each instruction; a capital one is the first of its function."""
    return [instructions.Place(f"lib: {letter.upper()}", letter.isupper()) for letter in text]


class Rounds(unittest.TestCase):
    def test_counts_whole_rounds_only(self):
        rounds, rows = instructions.per_call(places("xxAaabbAaabbAa"), "A")
        self.assertEqual(rounds, 2)
        self.assertEqual([(row.function, row.instructions, row.entries) for row in rows], [("lib: A", 3, 1), ("lib: B", 2, 1)])

    def test_a_return_into_the_function_is_no_call(self):
        rounds, rows = instructions.per_call(places("AaBbaaA"), "A")
        self.assertEqual(rounds, 1)
        self.assertEqual((rows[0].instructions, rows[0].entries), (4, 2))

    def test_refuses_a_trace_without_a_whole_round(self):
        with self.assertRaisesRegex(instructions.CannotCount, "C was called 0 times in 3 instructions"):
            instructions.per_call(places("Aab"), "C")


class Maps(unittest.TestCase):
    def test_keeps_executable_mappings_of_files(self):
        found = instructions.parse_maps(MAPS)
        self.assertEqual([mapping.path for mapping in found], ["/lib/a.so", "/home/a folder/b"])
        self.assertEqual((found[0].begin, found[0].end, found[0].offset), (0x12000, 0x15000, 0x2000))


if __name__ == "__main__":
    unittest.main()
