#!/usr/bin/env python3
"""Compare the mutable variables of static storage in built libraries with the list in globals.toml.

    check_globals.py [--write] LIBRARY...

Variables are taken from the symbol tables: sections .data, .bss, .tdata and .tbss, namespaces of this project. Left out are
pointers to the next definition of an interposed function (named `real`, or `real_` and a name). Prints one
line for each variable that is not listed, and for each that is listed and gone; exit status 1 if there is any. --write
replaces the list.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

LIST = pathlib.Path(__file__).with_name("globals.toml")
VARIABLE = re.compile(r"\s\.(?:data|bss|tdata|tbss)\s+[0-9a-f]+\s+(?:\.hidden )?(sorrel::.*)$")
LEFT_OUT = re.compile(r"^guard variable|::real(?:_\w+)?$|\[clone ")


def variables_in(symbols: str) -> set[str]:
    found = (VARIABLE.search(line) for line in symbols.splitlines())
    return {m[1] for m in found if m and not LEFT_OUT.search(m[1])}


def compare(present: set[str], listed: set[str]) -> list[str]:
    new = [f"{name}: a new mutable variable of static storage; give its object an owner" for name in sorted(present - listed)]
    return new + [f"globals.toml: {name} is gone: remove the line" for name in sorted(listed - present)]


def main(arguments: list[str]) -> int:
    table = tomllib.loads(LIST.read_text(encoding="utf-8"))
    present: set[str] = set()
    for library in arguments:
        if library != "--write":
            listing = subprocess.run(["objdump", "-tC", library], capture_output=True, text=True, check=True).stdout
            present |= variables_in(listing)
    if "--write" in arguments:
        head = LIST.read_text(encoding="utf-8").partition("variables = [")[0]
        LIST.write_text(head + "variables = [\n" + "".join(f'  "{name}",\n' for name in sorted(present)) + "]\n", encoding="utf-8")
        return 0
    found = compare(present, set(table["variables"]))
    print(*(found or [f"globals: {len(present)} mutable variables, all listed"]), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
