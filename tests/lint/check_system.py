#!/usr/bin/env python3
"""Report headers of the operating system that a module outside of `[system]` in layers.toml includes.

    check_system.py [ROOT]

Modules listed in `free`, with their folders, are about the system itself. In all others a file needs an entry in `files`, with its headers: what
is left, which may only shrink. Prints one line for each header that is not listed, and for each entry that is no longer
needed; exit status 1 if there is any.
"""

import pathlib
import re
import sys
import tomllib

from check_layers import SOURCE_ENDINGS

ANGLE_INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>")
SYSTEM_HEADER = re.compile(
    r"^((sys|linux|asm|net|netinet|arpa)/.*"
    r"|(unistd|fcntl|sched|signal|pthread|dlfcn|poll|ucontext|link|elf|termios|semaphore|spawn|pwd|glob|mntent)\.h|csignal)$"
)


def system_headers(path: pathlib.Path) -> set[str]:
    found = (ANGLE_INCLUDE.match(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {match[1] for match in found if match and SYSTEM_HEADER.match(match[1])}


def check(root: pathlib.Path) -> list[str]:
    table = tomllib.loads((root / "layers.toml").read_text(encoding="utf-8"))
    free, listed = tuple(f"{module}/" for module in table["system"]["free"]), table["system"]["files"]
    faults = []
    used: dict[str, set[str]] = {}
    for path in sorted((root / "src").rglob("*")):
        place = path.relative_to(root / "src").as_posix()
        if path.suffix in SOURCE_ENDINGS and not place.startswith(free):
            used[place] = system_headers(path)
    for place, headers in used.items():
        for header in sorted(headers - set(listed.get(place, []))):
            faults.append(f"src/{place}: includes <{header}>: system calls belong in src/os")
    for place, headers in listed.items():
        for header in sorted(set(headers) - used.get(place, set())):
            faults.append(f"layers.toml: src/{place} no longer includes <{header}>: remove the entry")
    return faults


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or ["system: only the listed files outside of os include the system's headers"]), sep="\n")
    sys.exit(1 if found else 0)
