#!/usr/bin/env python3
"""Report files that repeat the version of Sorrel, which stands in CMakeLists.txt alone, and a change log whose newest version is another one.

    check_versions.py [ROOT]
"""

import pathlib
import re
import sys

# Files that once had a version of their own, and what would be one.
WITHOUT = [
    ("pyproject.toml", r"^version\s*="),
    ("CITATION.cff", r"^version:"),
    ("packaging/conda/recipe.yaml", r'^  version: "?[0-9]'),
    ("packaging/spack/packages/sorrel/package.py", r'^    version\("[0-9]'),
    ("docs/howto/build-systems.md", r"sorrel@[0-9]"),
]


def faults(root: pathlib.Path) -> list[str]:
    def read(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    found = re.search(r"project\(Sorrel VERSION ([0-9.]+)", read("CMakeLists.txt"))
    version = found[1] if found else "none"
    released = re.search(r"^## \[([0-9.]+)\]", read("CHANGELOG.md"), re.MULTILINE)
    result = [f"{name}: has a version of its own; CMakeLists.txt has the only one" for name, pattern in WITHOUT if re.search(pattern, read(name), re.MULTILINE)]
    if not released or released[1] != version:
        result.append(f"CHANGELOG.md: the newest version is {released[1] if released else 'none'}; CMakeLists.txt has {version}")
    return result


if __name__ == "__main__":
    found = faults(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or ["versions: one, in CMakeLists.txt"]), sep="\n")
    sys.exit(1 if found else 0)
