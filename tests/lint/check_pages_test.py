"""Each test plants one fault in a small tree of pages; the check must find it."""

import check_pages
from planted_tree import PlantedTree


class Pages(PlantedTree):
    def faults(self):
        return check_pages.check(self.root)[1]

    def test_finds_a_link_to_nowhere(self):
        self.write("docs/page.md", "[a](other.md)\n")
        self.assertEqual(self.faults(), ["docs/page.md:1: no such file: other.md"])

    def test_finds_a_long_line_that_is_neither_table_nor_code(self):
        line = "x" * 161
        self.write("page.md", f"{line}\n|{line}|\n```\n{line}\n```\n")
        self.assertEqual(self.faults(), ["page.md:1: 161 characters; at most 160"])
