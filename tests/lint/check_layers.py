#!/usr/bin/env python3
"""Report every #include below src/ and tools/ that violates layers.toml.

    check_layers.py [ROOT]

One line per violation, in the form of compilers (file:line: text); exit status 1 if there is any.
"""

import graphlib
import pathlib
import re
import sys
import tomllib

QUOTED_INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
SOURCE_ENDINGS = {".hpp", ".cpp", ".h", ".c", ".S"}


def table_faults(table: dict[str, list[str]]) -> list[str]:
    """Errors of the table itself: names that are not modules, and cycles."""
    faults = [
        f"layers.toml:1: '{module}' lists '{name}', which is not a module"
        for module, names in table.items()
        for name in names
        if name not in table
    ]
    try:
        graphlib.TopologicalSorter(table).prepare()
    except graphlib.CycleError as error:
        faults.append(f"layers.toml:1: cycle: {' -> '.join(error.args[1])}")
    return faults


def module_of(place: str, table: dict[str, list[str]]) -> str:
    """The deepest module that contains the file; if there is none, the first folder, even if it is not a module."""
    folders = place.split("/")[:-1]
    names = ["/".join(folders[:count]) for count in range(len(folders), 0, -1)]
    return next((name for name in names if name in table), folders[0] if folders else "")


def include_fault(module: str, included: str, root: pathlib.Path, table: dict[str, list[str]]) -> str | None:
    """The reason why a file of `module` may not include "included", or None if it may."""
    if (root / "include" / included).is_file() or (root / "include/mpi" / included).is_file():
        return None
    target = module_of(included, table)
    if not (root / "src" / included).is_file():
        return f"'{included}' is neither below src/ nor a public header (write includes from src/)"
    if target != module and target not in table[module]:
        return f"'{module}' may not include '{target}' ({included})"
    return None


def is_of_tools(included: str, path: pathlib.Path, root: pathlib.Path) -> bool:
    """Whether the including file and the included one are parts of the command, some of whose files the build writes."""
    is_tool = path.relative_to(root).parts[0] == "tools"
    return is_tool and ((root / included).is_file() or "/" not in included)


def file_faults(path: pathlib.Path, root: pathlib.Path, rules: dict) -> list[str]:
    table = rules["may_include"]
    place = path.relative_to(root)
    below_source = place.relative_to("src") if place.parts[0] == "src" else place
    module = module_of(below_source.as_posix(), table)
    if module not in table:
        return [f"{place}:1: the module '{module}' is not in layers.toml"]
    generated = rules.get("generated", {})
    faults = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = QUOTED_INCLUDE.match(line)
        if match and (generated.get(match[1]) == module or is_of_tools(match[1], path, root)):
            continue
        fault = match and include_fault(module, match[1], root, table)
        if fault:
            faults.append(f"{place}:{number}: {fault}")
    return faults


def check(root: pathlib.Path) -> list[str]:
    rules = tomllib.loads((root / "layers.toml").read_text(encoding="utf-8"))
    table = rules["may_include"]
    faults = table_faults(table)
    if faults:
        return faults
    for path in sorted([*(root / "src").rglob("*"), *(root / "tools").rglob("*")]):
        if path.suffix in SOURCE_ENDINGS:
            faults += file_faults(path, root, rules)
    return faults


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or ["layers: every include follows layers.toml"]), sep="\n")
    sys.exit(1 if found else 0)
