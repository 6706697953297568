#!/usr/bin/env python3
"""Report links of the Markdown files to files that do not exist in the repository.

    check_links.py [ROOT]
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
SKIPPED_FOLDERS = {".git", ".venv", "build"}


def dead_links(page: pathlib.Path, root: pathlib.Path) -> list[str]:
    return [
        f"{page.relative_to(root)}:{number}: no such file: {target}"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        for target in LINK.findall(line)
        if "://" not in target and not (page.parent / target).exists()
    ]


def main(root: pathlib.Path) -> int:
    pages = [p for p in sorted(root.rglob("*.md")) if SKIPPED_FOLDERS.isdisjoint(p.relative_to(root).parts)]
    dead = [link for page in pages for link in dead_links(page, root)]
    print(*(dead or [f"links: every link of {len(pages)} pages leads to a file"]), sep="\n")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
