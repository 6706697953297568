#!/usr/bin/env python3
"""Runs the cases of a program (cases.h) under the checker: each planted error must be found at its line, and their corrected twins
must give no finding.

    run_cases.py [--procs N] SORREL PROGRAM SOURCE [CASE...]

With --procs, N processes run the ranks; a case that has fewer ranks has a process for each.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

FINDINGS = 66
TIME_MAX = 150


def run(sorrel, ranks, procs, program, case, folder):
    """The exit status, the findings, and what the run has printed."""
    report = folder / "findings.json"
    report.unlink(missing_ok=True)
    processes = [] if procs == 1 else ["--procs", str(min(procs, int(ranks)))]
    command = [sorrel, "run", "-n", str(ranks), *processes, "--check", "--check-json", str(report), program, case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_MAX, errors="replace", check=False)
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"] if report.exists() else None
    return done.returncode, findings, done.stdout + done.stderr


def statement_at(lines, number):
    """The lines from this one to the end of its statement."""
    statement = ""
    for line in lines[number - 1:] if number > 0 else []:
        statement += line
        if ";" in line:
            break
    return statement


def fault_of_planted(kinds, status, findings, lines):
    """What is wrong with the findings of a planted error, or ""."""
    if findings is None or status != FINDINGS:
        return f"exit status {status} instead of {FINDINGS}"
    of_kind = [finding for finding in findings if finding["kind"] in kinds]
    if not of_kind:
        return f"no {' or '.join(kinds)} among {[finding['kind'] for finding in findings]}"
    places = [finding.get("line", 0) for finding in of_kind]
    if kinds != ["finalize"] and not any("planted" in statement_at(lines, line) for line in places):
        return f"found at lines {places}, none of which is planted"
    # The library itself ends a collective whose members do not fit together: that finding follows the checker's own.
    allowed = {*kinds, "message-truncated", "argument"} if kinds[0].startswith("collective-") else kinds
    if any(finding["kind"] not in allowed for finding in findings):
        return f"more than {' or '.join(kinds)}: {[finding['kind'] for finding in findings]}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--procs", type=int, default=1)
    for name in ("sorrel", "program", "source"):
        parser.add_argument(name)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    sorrel, program, source = options.sorrel, options.program, options.source
    lines = pathlib.Path(source).read_text(encoding="utf-8").splitlines()
    table = subprocess.run([sorrel, "run", "-n", "1", program], capture_output=True, text=True, check=True).stdout
    cases = [line.split() for line in table.splitlines()]
    wanted = options.cases or [name for name, _, _ in cases] + ["right"]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case, ranks, kind in cases + [["right", max(int(ranks) for _, ranks, _ in cases), ""]]:
            if case not in wanted:
                continue
            status, findings, output = run(sorrel, ranks, options.procs, program, case, folder)
            if case == "right":
                fault = "" if (status, findings) == (0, []) else f"status {status}, findings of correct programs"
            else:
                fault = fault_of_planted(kind.split("|"), status, findings, lines)
            if fault:
                failed += 1
                print(f"{case}: {fault}\n{output}")
    print(f"{len(wanted)} runs, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
