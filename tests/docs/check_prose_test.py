"""What check_prose.py reads of a page."""
import unittest

import check_prose


class CheckProse(unittest.TestCase):
    def test_lines_stay_where_they_are(self):
        page = "# Title\n\n```sh\nteh teh\n```\n\n<!-- program a:\nb -->\nThe `code\nof` it, at [page](teh.md), 12 12 times.\n"
        text = check_prose.text_of(page)
        self.assertEqual(text.count("\n"), page.count("\n"))
        self.assertNotIn("teh", text)
        self.assertNotIn("12", text)
        self.assertIn("page", text)

    def test_findings(self):
        if not check_prose.importlib.util.find_spec("proselint") or not check_prose.importlib.util.find_spec("codespell_lib"):
            self.skipTest("no proselint and codespell")
        import pathlib
        import tempfile
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            right = {"a.md": "It is the end.", "c.md": "It is."}
            misspelt = check_prose.misspelt(right | {"b.md": "It is\nteh end."}, folder)
            self.assertEqual([found.split(" ")[0] for found in misspelt], ["b.md:2:"])
            prose = check_prose.prose_findings(right | {"b.md": "It\nruns of the the program."}, folder)
            self.assertEqual([found.split(" ")[0] for found in prose], ["b.md:2:"])
            self.assertEqual(check_prose.misspelt(right, folder) + check_prose.prose_findings(right, folder), [])


if __name__ == "__main__":
    unittest.main()
