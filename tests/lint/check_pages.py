#!/usr/bin/env python3
"""Report links of the Markdown files to files that do not exist in the repository, and lines of over 160 characters.

    check_pages.py [ROOT]

Tables and code may have longer lines.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
SKIPPED_FOLDERS = {".git", ".venv", "build"}
LENGTH_MAX = 160


def faults(page: pathlib.Path, root: pathlib.Path) -> list[str]:
    found = []
    is_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        place = f"{page.relative_to(root)}:{number}"
        found += [
            f"{place}: no such file: {target}"
            for target in LINK.findall(line)
            if "://" not in target and not (page.parent / target).exists()
        ]
        is_code ^= line.lstrip().startswith("```")
        if len(line) > LENGTH_MAX and not is_code and not line.lstrip().startswith("|"):
            found.append(f"{place}: {len(line)} characters; at most {LENGTH_MAX}")
    return found


def check(root: pathlib.Path) -> tuple[int, list[str]]:
    """The number of pages, and what is wrong."""
    pages = [p for p in sorted(root.rglob("*.md")) if SKIPPED_FOLDERS.isdisjoint(p.relative_to(root).parts)]
    return len(pages), [fault for page in pages for fault in faults(page, root)]


if __name__ == "__main__":
    count, found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or [f"pages: every link of {count} pages leads to a file, and no line is too long"]), sep="\n")
    sys.exit(1 if found else 0)
