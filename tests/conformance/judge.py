"""Judges the output of a program of MPICH's test suite as that suite's `runtests` does.

Upstream counts four kinds of lines: "No Errors", "Test Skipped", warnings of the launcher, and all others ("stray"). The rule of
the entry says which are allowed. What Sorrel prints when a rank calls MPI_Abort is a warning of the launcher, as MPICH's own line is.
"""
import dataclasses
import re

from entry import Outcome, Rule

NO_ERRORS = re.compile(r"\s*No [Ee]rrors\s*$")
SKIPPED = re.compile(r"\s*Test Skipped\s*$")
WARNING = re.compile(r"MPICH: |WARNING: |(Abort.*)?application called MPI_Abort|sorrel: rank \d+: called MPI_Abort")
IGNORED = re.compile(r".*FORTRAN STOP\s*$")

# Which kind of failure it was: the first of these found in the output.
SYMPTOMS = (
    (re.compile(r"deadlock: \d+ of \d+ ranks"), Outcome.DEADLOCK),
    (re.compile(r"\(signal \d+\)|Segmentation fault|stack overflow|Assertion .* failed|sorrel: .*: check failed|BAD TERMINATION"), Outcome.CRASH),
    (re.compile(r"MPI_ERR_UNSUPPORTED_OPERATION|which Sorrel does not (have|support)"), Outcome.MISSING),
)
MPI_ERROR = re.compile(r"sorrel: rank \d+: MPI_\w+: MPI_ERR_|Fatal error in |MPI_ERR_\w+")


@dataclasses.dataclass
class Lines:
    """The lines of an output, counted by kind."""

    no_errors: bool = False
    skipped: bool = False
    warnings: int = 0
    stray: int = 0


def count_lines(text):
    """Only the first "No Errors" counts as such; upstream takes a second one as stray."""
    lines = Lines()
    for line in text.splitlines():
        if NO_ERRORS.match(line) and not lines.no_errors:
            lines.no_errors = True
        elif SKIPPED.match(line):
            lines.skipped = True
        elif WARNING.match(line):
            lines.warnings += 1
        elif not IGNORED.match(line):
            lines.stray += 1
    return lines


def is_accepted(rule, status, lines):
    """Whether upstream accepts an output with this exit status."""
    said = lines.no_errors or lines.skipped
    if rule is Rule.BENCH:
        return status == 0
    if rule in (Rule.STATUS, Rule.FATAL):
        return status != 0
    if rule is Rule.STATUS_NO_ERRORS:
        return lines.no_errors and not lines.stray and status != 0
    clean = not lines.stray and (rule is Rule.ALLOW_WARNINGS or not lines.warnings)
    return said and clean and status == 0


def symptom(status, text, lines):
    """The kind of a failure."""
    for pattern, outcome in SYMPTOMS:
        if pattern.search(text):
            return outcome
    if status < 0:
        return Outcome.CRASH
    if lines.no_errors:
        return Outcome.STRAY if status == 0 else Outcome.STATUS
    return Outcome.MPI_ERROR if status != 0 and MPI_ERROR.search(text) else Outcome.WRONG


def judge(rule, status, text):
    """The outcome of an entry that ended by itself. `status` is negative for a signal."""
    lines = count_lines(text)
    if is_accepted(rule, status, lines):
        return Outcome.SKIPPED if lines.skipped and not lines.no_errors else Outcome.PASSED
    if rule in (Rule.STATUS, Rule.FATAL) and status == 0:
        return Outcome.STATUS
    return symptom(status, text, lines)
