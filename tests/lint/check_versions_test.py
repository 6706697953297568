"""check_versions.py finds a file of another version, and one without any."""

import pathlib
import shutil
import tempfile
import unittest

import check_versions

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CheckVersions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ["CMakeLists.txt", *dict(check_versions.PLACES)]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)

    def test_each_place_is_seen(self):
        self.assertEqual(check_versions.faults(self.root), [])
        cmake = self.root / "CMakeLists.txt"
        cmake.write_text(cmake.read_text().replace("project(Sorrel VERSION ", "project(Sorrel VERSION 9"))
        self.assertEqual([fault.split(":")[0] for fault in check_versions.faults(self.root)], [name for name, _ in check_versions.PLACES])

    def test_a_missing_version_is_a_fault(self):
        (self.root / "CITATION.cff").write_text("title: Sorrel\n")
        self.assertIn("CITATION.cff: version none;", check_versions.faults(self.root)[0])


if __name__ == "__main__":
    unittest.main()
