"""mpi4py's own test suite: its sources from PyPI, built with Sorrel's mpicc in a virtual environment of the cache.

The suite runs with 1, 2, 3 and 5 ranks. Each module is an entry, so that an interrupted run goes on where it was; those that start or meet
other programs are one together. Each rank prints a summary of its own; all of them must agree.
"""
import glob
import os
import re
import sys
import tarfile

from entry import Entry, Outcome
from mpich import SetupError
from process import run_bounded, shortened

RANKS = (1, 2, 3, 5)
TIME_LIMIT_S = 600.0  # of a module
# Modules that start or meet other programs; some of their tests wait for ever where that is refused.
DYNAMIC = ("dynproc", "spawn", "util_pool")
DYNAMIC_LIMIT_S = 300.0
INSTALL_LIMIT_S = 1800
REQUIREMENT = "mpi4py>=4.1,<5"
# As docs/python.md tells users; not optimised, because it is compiled for a test only.
BUILD_ENVIRONMENT = {"MPI4PY_BUILD_CONFIGURE": "1", "MPICC": "mpicc", "CFLAGS": "-O0 -g0"}
# What the tests use where it is installed.
EXTRAS = ("numpy", "cffi")


class Suite:
    """mpi4py, installed from its sources, and its folder of tests."""

    name = "mpi4py"

    def __init__(self, cache, folder=None):
        self.cache, self.folder = cache, folder and os.path.abspath(folder)
        self.build = os.path.join(cache, "mpi4py-env")

    @property
    def source(self):
        """The folder with mpi4py's sources: the user's, or that of the cache."""
        if self.folder:
            return self.folder
        found = [path for path in glob.glob(os.path.join(self.cache, "mpi4py-source/mpi4py-*")) if os.path.isdir(path)]
        return found[0] if found else ""

    @property
    def version(self):
        with open(os.path.join(self.source, "src/mpi4py/__init__.py"), encoding="utf-8") as file:
            return re.search(r'__version__ = "(.*)"', file.read())[1]

    def _run(self, *command, env=None):
        done = run_bounded(command, limit_s=INSTALL_LIMIT_S, env=env)
        if done.status or done.timed_out:
            raise SetupError(" ".join(command) + " failed\n" + shortened(done.text))

    def prepare(self):
        """Fetches, builds and installs mpi4py, once."""
        stamp = os.path.join(self.build, "prepared")
        if os.path.exists(stamp):
            return
        self._run(sys.executable, "-m", "venv", "--clear", self.build)
        pip = os.path.join(self.build, "bin/pip")
        if not self.source:
            target = os.path.join(self.cache, "mpi4py-source")
            self._run(pip, "download", "--quiet", "--no-deps", "--no-binary=mpi4py", "--dest", target, REQUIREMENT)
            with tarfile.open(glob.glob(os.path.join(target, "*.tar.gz"))[0]) as tar:
                tar.extractall(target, filter="data")
        self._run(pip, "install", "--quiet", self.source, env=dict(os.environ, **BUILD_ENVIRONMENT))
        self._run(pip, "install", "--quiet", *EXTRAS)
        with open(stamp, "w", encoding="utf-8"):
            pass

    def entries(self, chapters):
        for ranks in RANKS:
            chapter = f"{ranks} ranks" if ranks > 1 else "1 rank"
            if chapters and chapter not in chapters:
                continue
            for module in self._modules():
                yield self._entry(chapter, ranks, ("-i", f"^test_{module}.py$"), TIME_LIMIT_S)
            yield self._entry(chapter, ranks, tuple(word for module in DYNAMIC for word in ("-i", module)), DYNAMIC_LIMIT_S)

    def _entry(self, chapter, ranks, arguments, limit_s):
        return Entry(suite=self.name, chapter=chapter, folder="test", program="main.py", ranks=ranks, arguments=arguments,
                     time_limit_s=limit_s)

    def _modules(self):
        """The modules that start no program, in order."""
        found = [re.fullmatch(r"test_(\w+)\.py", name) for name in sorted(os.listdir(os.path.join(self.source, "test")))]
        return [match[1] for match in found if match and match[1] not in DYNAMIC]

    def folder_of(self, _entry):
        return os.path.join(self.source, "test")

    def program(self, _entry):
        """The interpreter; its arguments are in interpreter_arguments."""
        return os.path.join(self.build, "bin/python"), ""

    @staticmethod
    def interpreter_arguments(entry):
        return (entry.program, "-q", *entry.arguments)


def count_tests(text):
    """(run, skipped, failed) of one rank: the largest numbers that a rank printed, and the names of tests that failed."""
    numbers = {"run": [int(n) for n in re.findall(r"^.*Ran (\d+) tests?", text, re.M)]}
    for word in ("skipped", "failures", "errors"):
        numbers[word] = [int(n) for n in re.findall(rf"\b{word}=(\d+)", text)]
    largest = {word: max(found, default=0) for word, found in numbers.items()}
    names = sorted(set(re.findall(r"^.*(?:ERROR|FAIL): \w+ \((\w+\.\w+\.\w+)\)", text, re.M)))
    return len(numbers["run"]), largest["run"], largest["skipped"], largest["failures"] + largest["errors"], names


def judge(entry, status, text):
    """(outcome, reason) of the whole suite with so many ranks."""
    summaries, run, skipped, failed, names = count_tests(text)
    reason = f"{run} tests run, {skipped} skipped, {failed} failed"
    if names:
        reason += ": " + ", ".join(names)
    if summaries < entry.ranks:
        return (Outcome.CRASH if status else Outcome.WRONG), f"{summaries} of {entry.ranks} ranks ended their tests; {reason}"
    if failed or names:
        return Outcome.WRONG, reason
    return (Outcome.PASSED if status == 0 else Outcome.STATUS), reason
