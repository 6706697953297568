#!/usr/bin/env python3
"""Report rooms that have fewer assertions than assertions.toml asks of them.

    check_assertions.py [ROOT]

Counts the lines that state an invariant: by a macro of base/check.hpp, or by static_assert(). The number is for 100 lines of
code, which are neither empty nor a comment. Prints one line for each room with fewer; exit status 1 if there is any.
"""

import pathlib
import re
import sys
import tomllib

from check_layers import SOURCE_ENDINGS

ASSERTION = re.compile(r"\b(?:SORREL_(?:CHECK|ASSERT|AUDIT|ASSERT_INVARIANTS|AUDIT_INVARIANTS)|static_assert)\s*\(")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def counts_of(folder: pathlib.Path) -> tuple[int, int]:
    """Assertions, lines of code."""
    assertions = lines = 0
    for path in folder.rglob("*"):
        if path.suffix in SOURCE_ENDINGS:
            code = [line for line in COMMENT.sub("", path.read_text(encoding="utf-8")).splitlines() if line.strip()]
            lines += len(code)
            assertions += sum(bool(ASSERTION.search(line)) and not line.lstrip().startswith("#") for line in code)
    return assertions, lines


def check(root: pathlib.Path) -> list[str]:
    table = tomllib.loads((root / "tests/lint/assertions.toml").read_text(encoding="utf-8"))
    faults = []
    for room, least in table["per_100_lines"].items():
        assertions, lines = counts_of(root / room)
        if 100 * assertions < least * lines:
            faults.append(
                f"{room}: {assertions} assertions in {lines} lines of code, {100 * assertions / max(lines, 1):.2f} in 100; at least {least}"
            )
    return faults


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or ["assertions: each room states as many invariants as assertions.toml asks of it"]), sep="\n")
    sys.exit(1 if found else 0)
