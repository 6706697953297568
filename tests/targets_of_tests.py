#!/usr/bin/env python3
"""Prints the targets of the build that tests need, one a line: targets_of_tests.py BUILD -R EXPRESSION

For `./dev test -R`. A test needs the files of the build that its command line and its environment name, all files of the build below the
folders that they name, and what every job needs (`needed_by_job`). Unit tests have their names from their sources, because a program
that is missing or old does not list them. Nothing is printed if the selection needs the whole build, or selects no test.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

source = Path(__file__).resolve().parent.parent
# The command, the libraries, and what they read.
needed_by_job = re.compile(r"(bin/sorrel$|lib/|libexec/)")
case = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def outputs_of(build):
    """The files that the build makes and that are no step of it, relative to its folder."""
    pairs = (line.rpartition(": ") for line in output_of("ninja", "-C", build, "-t", "targets", "all").splitlines())
    return {name for name, _, rule in pairs
            if rule not in ("phony", "RERUN_CMAKE") and not re.search(r"^/|\.o$|CMakeFiles", name)}


def texts_of_tests(build):
    """The statements about each test in CTest's files: ctest itself does not tell the command of a program that is missing."""
    texts = {}
    for path in Path(build).rglob("CTestTestfile.cmake"):
        for statement in re.split(r"^(?:add_test|set_tests_properties)\(", path.read_text(), flags=re.MULTILINE)[1:]:
            name = re.match(r"\[(=*)\[(.*?)\]\1\]|(\S+)", statement)
            texts.setdefault(name[2] or name[3], []).append(statement)
    return texts


def unit_programs(expression, names):
    """The programs of the unit tests among the names, and of those in the sources whose names the expression finds."""
    folder = source / "tests/unit"
    modules = {name.split(".")[1] for name in names if name.startswith("unit.")}
    for path in folder.rglob("*_test.cpp"):
        module = path.relative_to(folder).parts[0]
        cases = (f"unit.{module}.{suite}.{name}" for suite, name in case.findall(path.read_text()))
        if any(re.search(expression, name) for name in cases):
            modules.add(module)
    return {f"bin/test_{module}" for module in modules}


def targets(build, expression):
    """Empty: the whole build."""
    outputs = outputs_of(build)
    listing = output_of("ctest", "--test-dir", build, "--show-only=json-v1", "-R", expression)
    names = [test["name"] for test in json.loads(listing)["tests"]]
    needed = set()
    texts = texts_of_tests(build)
    path_in_build = re.compile(re.escape(build) + r"(?:/[^\s\\\"';|&:,()]*)?")
    for path in {path for name in names for text in texts.get(name, []) for path in path_in_build.findall(text)}:
        name = os.path.relpath(path, build)
        if name == ".":
            return set()
        # The second command finds its library beside itself.
        if name.startswith("perturbed/"):
            name = "perturbed"
        needed |= {output for output in outputs if output == name or output.startswith(name + "/")}
    if needed:
        needed |= set(filter(needed_by_job.match, outputs))
    return needed | unit_programs(expression, names) & outputs


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] != "-R":
        sys.exit(__doc__)
    print("\n".join(sorted(targets(os.path.abspath(sys.argv[1]), sys.argv[3]))))
