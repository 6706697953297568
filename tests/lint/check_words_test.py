"""Each test plants one word in a small tree; the word check must find it where it is prose, and only there."""

import check_words
from planted_tree import PlantedTree

TABLE = 'held = ["src/"]\n[words]\nmould = "template image"\n"lie down" = "park"\n'


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
