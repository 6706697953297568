#!/usr/bin/env python3
"""Runs the programs of MPI-CorrBench (github.com/tudasc/MPI-Corrbench, not part of this repository) under the checker, and prints what
was found, by category, as a table.

    corrbench.py SORREL MPICC FOLDER     the folder of the suite's micro-benches/0-level

A program in a folder `correct` must give no finding, every other one at least one. Programs with OpenMP are left out.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

CATEGORIES = ["pt2pt", "coll", "rma", "usertypes", "datatype"]
TIME_MAX = 60
FINDINGS = 66


def check(sorrel, mpicc, source, folder):
    """The kinds of findings; ["timeout"] or ["not compiled"] where there is no answer."""
    program = folder / "program"
    compiled = subprocess.run([mpicc, "-g", "-w", str(source), "-o", str(program), "-lm"], capture_output=True, check=False)
    if compiled.returncode != 0:
        return ["not compiled"]
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [sorrel, "run", "-n", "2", "--check", "--check-json", str(report), str(program)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIME_MAX, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        return ["timeout"]
    if not report.exists():
        return [f"status {done.returncode}"]
    kinds = sorted({finding["kind"] for finding in json.loads(report.read_text(encoding="utf-8"))["findings"]})
    if not kinds and done.returncode != 0:
        return [f"status {done.returncode}"]
    return kinds


def main():
    sorrel, mpicc, suite = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    counts = collections.Counter()
    rest = []
    with tempfile.TemporaryDirectory() as name:
        for source in sorted(suite.rglob("*.c")):
            parts = source.relative_to(suite).parts
            category = next((part for part in parts if part in CATEGORIES), None)
            if category is None or "openmp" in parts:
                continue
            kinds = check(sorrel, mpicc, source, pathlib.Path(name))
            is_correct = "correct" in parts
            has_findings = any(" " not in kind and kind != "timeout" for kind in kinds)
            counts[category, is_correct, has_findings] += 1
            if is_correct == has_findings or any(" " in kind for kind in kinds):
                rest.append(f"{source.relative_to(suite)}: {', '.join(kinds) or 'nothing'}")
    print("| Category | Errors | found | Correct programs | false alarms |\n|---|---|---|---|---|")
    sums = [0, 0, 0, 0]
    for category in CATEGORIES:
        row = [counts[category, False, True] + counts[category, False, False], counts[category, False, True],
               counts[category, True, True] + counts[category, True, False], counts[category, True, True]]
        sums = [a + b for a, b in zip(sums, row)]
        print(f"| {category} | {' | '.join(map(str, row))} |")
    print(f"| all | {' | '.join(map(str, sums))} |\n\nMissed, and false alarms:")
    print("\n".join(rest))


if __name__ == "__main__":
    main()
