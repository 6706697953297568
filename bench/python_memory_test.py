import collections
import unittest

import python_memory
from python_memory import ARENAS, FILES, HEAPS, OTHER, STACKS

SMAPS = """10000-20000 rw-p 00000000 00:00 0
Pss:                  40 kB
Private_Dirty:        40 kB
20000-30000 ---p 00000000 00:00 0
Pss:                   0 kB
40000-50000 r-xp 00000000 fd:00 77                         /env/numpy.libs/libquad-96973f99-934c22de.so.0.0.0
Rss:                  64 kB
Pss:                  16 kB
Private_Dirty:         0 kB
50000-60000 rw-p 00010000 fd:00 77                         /env/numpy.libs/libquad-96973f99-934c22de.so.0.0.0
Pss:                  12 kB
Private_Dirty:         8 kB
60000-68000 rw-p 00000000 00:00 0
Pss:                   4 kB
Private_Dirty:         4 kB
80000-90000 rw-p 00000000 00:00 0                          [heap]
Pss:                   5 kB
Private_Dirty:         5 kB
90000-a0000 rw-p 00000000 00:00 0
Pss:                   6 kB
Private_Dirty:         6 kB
c0000-d0000 rw-p 00000000 00:00 0
Pss:                  60 kB
Private_Dirty:        60 kB
e0000-f0000 rw-p 00000000 00:00 0
Pss:                   3 kB
Private_Dirty:         3 kB
"""


class Memory(unittest.TestCase):
    def test_a_reservation_has_no_gap(self):
        maps = python_memory.read_maps(SMAPS)
        self.assertEqual(python_memory.chain_of(maps, 0x10010), {0, 1})
        self.assertEqual(python_memory.chain_of(maps, 0x40010), set())
        self.assertEqual(python_memory.chain_of(maps, 0x70000), set())

    def test_each_page_has_a_kind(self):
        maps = python_memory.read_maps(SMAPS)
        kinds = python_memory.kinds_of(maps, [0xC1000], 0x10010, 0xE0010)
        self.assertEqual(kinds, {HEAPS: 40, FILES: 20, "data of libquad": 12, OTHER: 11, ARENAS: 60, STACKS: 3})
        self.assertEqual(sum(kinds.values()), sum(one.pss for one in maps))

    def test_libraries_have_their_plain_names(self):
        for path, name in {
            "/x/MPI.mpich.cpython-311-x86_64-linux-gnu.so": "MPI",
            "/x/libscipy_openblas64_-fdde5778.so": "libscipy_openblas64_",
            "/x/libpython3.11.so.1.0": "libpython3.11",
            "/x/python3.11": "python3.11",
        }.items():
            self.assertEqual(python_memory.library_of(path), name)

    def test_the_table_adds_up(self):
        kinds = collections.Counter({HEAPS: 40, ARENAS: 60, "a": 3, "b": 1})
        lines = python_memory.table_of(kinds, 2, 2).splitlines()
        self.assertEqual([line.split()[-1] for line in lines], ["30", "20", "2", "52"])
        self.assertIn("the rest", lines[2])


if __name__ == "__main__":
    unittest.main()
