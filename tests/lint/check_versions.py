#!/usr/bin/env python3
"""Report files whose version of Sorrel is not that of CMakeLists.txt, or whose change log has no section of it.

    check_versions.py [ROOT]
"""

import pathlib
import re
import sys

# A file, and what stands around its version.
PLACES = [
    ("pyproject.toml", r'^version = "(.+)"$'),
    ("CITATION.cff", r"^version: (.+)$"),
    ("packaging/conda/recipe.yaml", r'^  version: "(.+?)"$'),
    ("packaging/spack/packages/sorrel/package.py", r'^    version\("(.+?)"'),
    ("packaging/spack/packages/sorrel/package.py", r"dev-build sorrel@([0-9.]+)"),
    ("docs/howto/build-systems.md", r"dev-build sorrel@([0-9.]+)"),
    ("CHANGELOG.md", r"^## \[([0-9.]+)\]"),
]


def faults(root: pathlib.Path) -> list[str]:
    def first(name: str, pattern: str) -> str:
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        return found[1] if found else "none"

    version = first("CMakeLists.txt", r"project\(Sorrel VERSION ([0-9.]+)")
    return [
        f"{name}: version {found}; CMakeLists.txt has {version}"
        for name, pattern in PLACES
        if (found := first(name, pattern)) != version
    ]


if __name__ == "__main__":
    found = faults(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or ["versions: the same in all files"]), sep="\n")
    sys.exit(1 if found else 0)
