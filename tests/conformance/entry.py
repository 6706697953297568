"""An entry: one run of one program of a public suite, and what became of it."""
import dataclasses
import enum


class Rule(enum.Enum):
    """How the output and the exit status of an entry are judged."""

    NORMAL = "TestNormal"                      # "No Errors", nothing else, status 0
    ALLOW_WARNINGS = "TestAllowWarnings"       # as NORMAL, and warnings
    STATUS = "TestStatus"                      # a status other than 0
    STATUS_NO_ERRORS = "TestStatusNoErrors"    # "No Errors" and a status other than 0
    FATAL = "TestErrFatal"                     # a status other than 0
    BENCH = "TestBench"                        # status 0
    IMB = "imb"                                # status 0, and no defect in a table
    OSU = "osu"                                # status 0, and each row validated


@dataclasses.dataclass(frozen=True)
class Entry:
    """What to run. `not_applicable` holds the reason where an entry is known, but not run."""

    suite: str
    chapter: str
    folder: str              # of the program, relative to the suite
    program: str
    ranks: int
    arguments: tuple = ()
    environment: tuple = ()  # of "NAME=value"
    rule: Rule = Rule.NORMAL
    time_limit_s: float = 180.0
    not_applicable: str = ""

    @property
    def key(self):
        """The name in results and in causes.toml: the same for the same run in all launches."""
        return " ".join([f"{self.suite}:{self.folder}/{self.program}", str(self.ranks), *self.arguments, *self.environment])


class Outcome(enum.Enum):
    """What became of an entry."""

    PASSED = "passed"
    NOT_APPLICABLE = "not applicable"
    SKIPPED = "skipped by itself"
    MISSING = "missing function"
    UNBUILT = "does not build"
    HANG = "time limit"
    DEADLOCK = "deadlock report"
    CRASH = "crash"
    MPI_ERROR = "MPI error"
    WRONG = "wrong result"
    STRAY = "stray output"
    STATUS = "wrong exit status"

    @property
    def group(self):
        """The column of the page: passed, failed, or not applicable."""
        if self is Outcome.PASSED:
            return "passed"
        return "not applicable" if self in (Outcome.NOT_APPLICABLE, Outcome.SKIPPED) else "failed"


@dataclasses.dataclass
class Result:
    """What became of an entry in a launch. A long `output` is cut in the middle."""

    key: str
    suite: str
    chapter: str
    launch: str
    outcome: Outcome
    reason: str = ""
    seconds: float = 0.0
    output: str = ""
    library: str = ""  # what `sorrel --version` printed

    def to_json(self):
        return dict(dataclasses.asdict(self), outcome=self.outcome.value)

    @staticmethod
    def from_json(fields):
        return Result(**dict(fields, outcome=Outcome(fields["outcome"])))
