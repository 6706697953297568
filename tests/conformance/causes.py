"""The reviewed causes of failures: causes.toml, a pattern of keys each. Nothing here guesses a cause."""
import dataclasses
import re
import tomllib

KINDS = ("defect", "missing", "upstream", "machine")


@dataclasses.dataclass(frozen=True)
class Cause:
    """Why entries fail. `kind`: a defect of Sorrel; a function that is missing; upstream: the program demands what the standard does
    not, or breaks it; machine: the launch or the machine cannot run it. The last two make an entry not applicable."""

    name: str
    kind: str
    text: str
    patterns: tuple
    launches: tuple = ()

    @property
    def is_applicable(self):
        return self.kind in ("defect", "missing")

    def matches(self, result):
        return (not self.launches or result.launch in self.launches) and any(p.fullmatch(result.key) for p in self.patterns)


def parse_causes(text):
    """The causes of a TOML document. Raises ValueError for a table that lacks something or has a kind that is none."""
    causes = []
    for name, table in tomllib.loads(text).items():
        if set(table) - {"kind", "text", "entries", "launches"} or not {"kind", "text", "entries"} <= set(table):
            raise ValueError(f"[{name}] must have kind, text and entries, and may have launches")
        if table["kind"] not in KINDS:
            raise ValueError(f"[{name}]: the kind {table['kind']!r} is none of {', '.join(KINDS)}")
        causes.append(Cause(name, table["kind"], table["text"], tuple(re.compile(p) for p in table["entries"]),
                            tuple(table.get("launches", ()))))
    return causes


def cause_of(result, causes):
    """The first cause that matches a result which failed, or None."""
    if result.outcome.group != "failed":
        return None
    return next((cause for cause in causes if cause.matches(result)), None)


def unused(causes, results):
    """Causes that match no failure: they are to be removed."""
    return [cause for cause in causes if not any(cause_of(result, [cause]) for result in results)]
