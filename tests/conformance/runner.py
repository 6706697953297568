"""Runs entries of a suite in a launch, several at a time, and records what became of each."""
import collections
import concurrent.futures
import contextlib
import os
import shutil
import tempfile
import threading

import benchmark_suites
import judge
import mpi4py_suite
from entry import Outcome, Result
from mpich import functions_missing
from process import Live, run_bounded, shortened


def judged(entry, status, text):
    """(outcome, reason) of an entry that ended by itself."""
    if entry.suite == "mpi4py":
        return mpi4py_suite.judge(entry, status, text)
    if entry.suite in ("imb", "osu"):
        return benchmark_suites.judge(entry, status, text)
    return judge.judge(entry.rule, status, text), ""


def _build_failure(text):
    """(outcome, reason) of a program that could not be built."""
    missing = functions_missing(text)
    return (Outcome.MISSING, ", ".join(missing)) if missing else (Outcome.UNBUILT, "")


class Runner:
    """Runs entries of one suite in one launch. Each job has a folder of its own for its files, removed at its end."""

    def __init__(self, suite, launch, *, time_limit_s=None, library=""):
        self.suite, self.launch, self.time_limit_s, self.library = suite, launch, time_limit_s, library
        self.live = Live()
        self._folder_locks = collections.defaultdict(threading.Lock)

    def _alone_in_folder(self, entry):
        """Programs of MPI-IO in one folder write files of the same names there: they run one after the other."""
        return self._folder_locks[entry.folder] if os.path.basename(entry.folder) == "io" else contextlib.nullcontext()

    def run(self, entry):
        """Runs an entry and returns its result. Does not raise for anything that the program does."""
        result = Result(entry.key, entry.suite, entry.chapter, self.launch.name, Outcome.NOT_APPLICABLE, entry.not_applicable,
                        library=self.library)
        if entry.not_applicable:
            return result
        path, trouble = self.suite.program(entry)
        if not path:
            result.outcome, result.reason = _build_failure(trouble)
            result.output = shortened(trouble)
            return result
        arguments = entry.arguments
        if entry.suite == "mpi4py":
            arguments = self.suite.interpreter_arguments(entry)
        scratch = tempfile.mkdtemp(prefix="conformance-")
        try:
            env = self.launch.environment(dict(os.environ, TMPDIR=scratch), entry.environment)
            limit_s = min(entry.time_limit_s, self.time_limit_s or entry.time_limit_s)
            with self._alone_in_folder(entry):
                done = run_bounded(self.launch.command(entry.ranks, path, arguments), limit_s=limit_s, cwd=self.suite.folder_of(entry),
                                   env=env, live=self.live)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        result.seconds = round(done.seconds, 2)
        result.output = shortened(done.text)
        if done.timed_out:
            result.outcome, result.reason = Outcome.HANG, f"{limit_s:g} s"
        else:
            result.outcome, result.reason = judged(entry, done.status, done.text)
        return result

    def run_all(self, entries, store, jobs, report):
        """Runs entries, `jobs` at a time. `report(number, result)` is called for each in the order in which they end."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            pending = [pool.submit(self.run, entry) for entry in entries]
            try:
                for number, ended in enumerate(concurrent.futures.as_completed(pending), 1):
                    result = ended.result()
                    store.add(result)
                    report(number, result)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                self.live.end()
                raise
