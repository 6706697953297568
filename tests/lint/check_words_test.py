"""Each test plants one word in a small tree; the word check must find it where it is prose, and only there."""

import check_words
from planted_tree import PlantedTree

TABLE = 'held = ["src/"]\nopenings = ["Of", "The same"]\n[words]\nmould = "template image"\n"lie down" = "park"\n'


class Tree(PlantedTree):
    def setUp(self):
        super().setUp()
        self.write("tests/lint/words.toml", TABLE)

    def faults(self):
        return check_words.check(self.root)

    def test_finds_a_word_in_a_comment_and_names_its_replacement(self):
        self.write("src/a.cpp", "int x;\nint y;  // the Mould of a rank\n")
        self.assertEqual(self.faults(), ["src/a.cpp:2: 'Mould': write template image"])

    def test_finds_a_word_in_a_message(self):
        self.write("src/a.cpp", 'fail("no mould");\n')
        self.assertEqual(len(self.faults()), 1)

    def test_finds_words_in_documents_but_not_in_their_code(self):
        self.write("src/README.md", "workers lie down\n`mould`\n```\nmould\n```\n")
        self.assertEqual(self.faults(), ["src/README.md:1: 'lie down': write park"])

    def test_leaves_identifiers_includes_and_longer_words(self):
        self.write("src/a.cpp", '#include "mould.hpp"\nint mould;  // moulded\n')
        self.assertEqual(self.faults(), [])

    def test_leaves_folders_that_are_not_held(self):
        self.write("tools/a.cpp", "// mould\n")
        self.assertEqual(self.faults(), [])

    def test_finds_a_comment_that_begins_with_an_ellipsis(self):
        planted = {
            "src/a.cpp": "int x;\n  /// Of a rank.\nint y;\n",
            "src/b.h": "/* The same for files. */\nint x;\n",
            "src/c.hpp": "enum {\n  y,  ///< Of a rank.\n};\n",
            "src/d.c": "/* Frees it.\n * Of a rank. */\n",
            "src/e.py": "x = 'a'  # The same.\n",
            "src/f.py": 'def f():\n    """Of a rank."""\n',
            "src/g.F90": "x = 1  ! Of a rank.\n",
            "src/h": "#!/bin/sh\n# Of a rank.\n",
            "src/i.hpp": "int x;\n//! The same.\n",
        }
        lines = {"src/a.cpp": 2, "src/b.h": 1, "src/c.hpp": 2, "src/d.c": 2, "src/e.py": 1, "src/f.py": 2, "src/g.F90": 1, "src/h": 2, "src/i.hpp": 2}
        for place, text in planted.items():
            self.write(place, text)
        found = [fault.split("'")[0] for fault in self.faults()]
        self.assertEqual(sorted(found), [f"{place}:{line}: a comment begins with " for place, line in lines.items()])

    def test_leaves_comments_that_name_their_subject(self):
        self.write("src/a.cpp", '/// Memory of a rank: the same for all.\nint of = 1;  // Offset of x.\nf("Of a rank");\n// Often called.\n')
        self.write("src/README.md", "# Of a heading\n* The same list.\n")
        self.assertEqual(self.faults(), [])

    def test_leaves_ellipses_in_folders_that_are_not_held(self):
        self.write("tools/a.cpp", "// Of a rank.\n")
        self.assertEqual(self.faults(), [])
