"""Writes docs/conformance.md from the results of launches and the reviewed causes of failures."""
import collections
import re
import textwrap

from causes import cause_of
from entry import Outcome

TITLES = {"mpich": "MPICH's test suite", "imb": "Intel MPI Benchmarks", "osu": "OSU micro-benchmarks", "mpi4py": "mpi4py's test suite"}
INTRODUCTION = """# Conformance

Results of public MPI test suites with Sorrel. `tests/conformance/run.py` writes this page ([how](../tests/conformance/README.md)); the
sources of the suites are not part of the project. A cell is *passed / failed / not applicable*. Each failure has a reviewed cause
below, or the words *not examined*.
"""
NOT_EXAMINED = "not examined"
WIDTH = 140  # of lines of prose


def group_of(result, causes):
    """The column of a result: a failure whose reviewed cause is not Sorrel's is not applicable."""
    cause = cause_of(result, causes)
    return "not applicable" if cause is not None and not cause.is_applicable else result.outcome.group


def count(results, causes):
    """{chapter: Counter of groups} in the order of the results' first appearance."""
    chapters = {}
    for result in results:
        chapters.setdefault(result.chapter, collections.Counter())[group_of(result, causes)] += 1
    return chapters


def _cell(counter):
    return f"{counter['passed']} / {counter['failed']} / {counter['not applicable']}"


def percentage(counter):
    """The share of the applicable entries that passed; rounded down to a tenth."""
    applicable = counter["passed"] + counter["failed"]
    return f"{1000 * counter['passed'] // applicable / 10:.1f} %" if applicable else "-"


def chapter_table(by_launch, titles, causes):
    """The table of a suite: a row for each chapter, a column for each launch."""
    counts = {launch: count(results, causes) for launch, results in by_launch.items()}
    chapters = list(dict.fromkeys(chapter for table in counts.values() for chapter in table))
    lines = ["| Chapter | " + " | ".join(titles[launch] for launch in counts) + " |", "|---|" + "--:|" * len(counts)]
    for chapter in chapters:
        cells = [_cell(table[chapter]) if chapter in table else "" for table in counts.values()]
        lines.append(f"| {chapter} | " + " | ".join(cells) + " |")
    sums = [sum(table.values(), collections.Counter()) for table in counts.values()]
    lines.append("| all | " + " | ".join(map(_cell, sums)) + " |")
    lines.append("| passed of applicable | " + " | ".join(map(percentage, sums)) + " |")
    return lines


def _merge_launches(results):
    """{(key, outcome, reason): launches}, so that the same failure in several launches is one row."""
    merged = {}
    for result in results:
        merged.setdefault((result.key.partition(":")[2], result.outcome.value, result.reason), []).append(result.launch)
    return merged


def failures(by_launch, causes):
    """Sections by cause: what failed, in which launches, and how."""
    groups = {}
    for results in by_launch.values():
        for result in results:
            if result.outcome.group == "failed":
                cause = cause_of(result, causes)
                groups.setdefault(cause, []).append(result)
    lines = []
    for cause, results in sorted(groups.items(), key=lambda item: (item[0] is None, item[0] is not None and not item[0].is_applicable)):
        text = f"{cause.text} ({cause.kind})" if cause else NOT_EXAMINED
        lines += ["", *textwrap.wrap(f"**{text}**", WIDTH), "", "| Entry | Outcome | Launches |", "|---|---|---|"]
        for (key, outcome, reason), launches in _merge_launches(results).items():
            lines.append(f"| `{key}` | {outcome}{', ' + reason if reason else ''} | {', '.join(launches)} |")
    return lines


def reasons(by_launch):
    """Counts of the entries that are not applicable by the suite's own testlist, by reason, in the launch that has most."""
    tables = [collections.Counter(r.reason or Outcome.SKIPPED.value for r in results if r.outcome.group == "not applicable")
              for results in by_launch.values()]
    largest = max(tables, key=lambda table: sum(table.values()), default=collections.Counter())
    return [f"- {number} entries: {reason}" for reason, number in sorted(largest.items())]


def details(by_launch):
    """What was checked, for suites whose entries are whole programs: the sum of a chapter's rows, or the program's own words."""
    lines = ["| Chapter | Launch | Passed | Checked |", "|---|---|--:|---|"]
    for launch, results in by_launch.items():
        for chapter in dict.fromkeys(result.chapter for result in results):
            reasons = [r.reason for r in results if r.chapter == chapter and r.outcome is Outcome.PASSED]
            rows = [int(found[1]) for found in map(re.compile(r"(\d+) rows checked").match, reasons) if found]
            tests = [found for found in map(re.compile(r"(\d+) tests run, (\d+) skipped").match, reasons) if found]
            if rows:
                words = f"{sum(rows)} rows in {len(rows)} entries"
            elif tests:
                run, skipped = (sum(int(found[i]) for found in tests) for i in (1, 2))
                words = f"{run} tests, {skipped} of them skipped by themselves"
            else:
                words = "; ".join(dict.fromkeys(filter(None, reasons)))
            if reasons:
                lines.append(f"| {chapter} | {launch} | {len(reasons)} | {words} |")
    return lines


def libraries(by_launch, titles):
    """Which Sorrel has run how many entries, or which chapters if there were several; nothing for results that do not say it."""
    chapters, numbers = {}, collections.Counter()
    for launch, results in by_launch.items():
        for result in results:
            if result.library:
                chapters.setdefault(result.library, {}).setdefault(launch, {})[result.chapter] = None
                numbers[result.library] += 1
    if not chapters:
        return []
    if len(chapters) == 1:
        return [f"Run with {library} ({numbers[library]} entries)." for library in chapters] + [""]
    lines = ["| Library | Launch | Entries of |", "|---|---|---|"]
    for library, launches in chapters.items():
        lines += [f"| {library} | {titles[launch]} | {', '.join(names)} |" for launch, names in launches.items()]
    return [*lines, ""]


def suite_section(name, version, by_launch, titles, causes):
    """The chapter of the page for one suite."""
    lines = ["", f"## {TITLES[name]}" + (f" {version}" if version else ""), ""]
    lines += libraries(by_launch, titles)
    lines += chapter_table(by_launch, titles, causes)
    failed = failures(by_launch, causes)
    if failed:
        lines += ["", "### Failures and their causes"] + failed
    unfit = reasons(by_launch)
    if unfit:
        lines += ["", "### Not applicable", "", *unfit]
    if name != "mpich":
        lines += ["", "### What was checked", "", *details(by_launch)]
    return lines


def sections_of(text):
    """{suite: lines} of a page that was written before."""
    found = {}
    for part in re.split(r"^(?=## )", text, flags=re.M)[1:]:
        for name, title in TITLES.items():
            if part.startswith(f"## {title}"):
                found[name] = ["", *part.rstrip("\n").split("\n")]
    return found


def page(sections):
    """The whole page; `sections` are lists of lines."""
    return INTRODUCTION + "\n".join(line for section in sections for line in section) + "\n"
