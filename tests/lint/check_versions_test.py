"""check_versions.py finds a file with a version of its own, and a change log of another one."""

import pathlib
import shutil
import tempfile
import unittest

import check_versions

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLANTED = {
    "pyproject.toml": 'version = "1.0.0"',
    "CITATION.cff": "version: 1.0.0",
    "packaging/conda/recipe.yaml": '  version: "1.0.0"',
    "packaging/spack/packages/sorrel/package.py": '    version("1.0.0")',
    "docs/howto/build-systems.md": "spack dev-build sorrel@1.0.0",
}


class CheckVersions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ["CMakeLists.txt", "CHANGELOG.md", *dict(check_versions.WITHOUT)]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)

    def test_a_version_of_its_own_is_a_fault(self):
        self.assertEqual(check_versions.faults(self.root), [])
        for name, line in PLANTED.items():
            with (self.root / name).open("a") as file:
                file.write(f"\n{line}\n")
        self.assertEqual([fault.split(":")[0] for fault in check_versions.faults(self.root)], list(dict(check_versions.WITHOUT)))

    def test_a_change_log_of_another_version_is_a_fault(self):
        cmake = self.root / "CMakeLists.txt"
        cmake.write_text(cmake.read_text().replace("project(Sorrel VERSION ", "project(Sorrel VERSION 9"))
        self.assertRegex(check_versions.faults(self.root)[0], r"^CHANGELOG.md: the newest version is [0-9.]+; CMakeLists.txt has 9")


if __name__ == "__main__":
    unittest.main()
