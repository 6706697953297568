"""Runs one command with a limit of time, in a process group of its own, and ends that group only."""
import dataclasses
import os
import signal
import subprocess
import tempfile
import threading
import time

GRACE_S = 5.0  # between SIGTERM and SIGKILL
OUTPUT_BYTES_MAX = 16 << 20  # of an output that is read


@dataclasses.dataclass
class Ended:
    """How a command ended. `status` is as in subprocess: negative for a signal."""

    status: int
    seconds: float
    text: str
    timed_out: bool = False


class Interrupted(Exception):
    """A command that was to start after the run was interrupted."""


class Live:
    """The commands that run now, so that an interrupted run can end them. Any thread.

    A start and `end` exclude each other: a command either is seen by `end`, or does not start any more.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._children = set()
        self._has_ended = False

    def start(self, command, **options):
        """Starts a command in a process group of its own. Raises Interrupted after `end`."""
        with self._lock:
            if self._has_ended:
                raise Interrupted(f"not started, because the run was interrupted: {command[0]}")
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
            self._children.add(child)
        return child

    def remove(self, child):
        with self._lock:
            self._children.discard(child)

    def end(self):
        """Asks all groups to end; the threads that wait for them force those that do not. Nothing starts after it."""
        with self._lock:
            self._has_ended = True
            for child in self._children:
                try:
                    os.killpg(child.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass


def _end_group(child):
    """Ends all processes of the child's group: asks, and then forces."""
    for number, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        try:
            child.wait(timeout=wait_s)
        except subprocess.TimeoutExpired:
            pass


def run_bounded(command, *, limit_s, cwd=None, env=None, live=None):
    """Runs a command and returns how it ended. Both outputs come in one text; the standard input is empty.

    While it runs, it is in `live`. Raises Interrupted if `live` has been ended.
    """
    live = live or Live()
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = live.start(command, cwd=cwd, env=env, stdout=out, stderr=subprocess.STDOUT)
        timed_out = False
        try:
            child.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            live.remove(child)
            _end_group(child)  # also what a command has left behind
        out.seek(0)
        text = out.read(OUTPUT_BYTES_MAX).decode(errors="replace")
    return Ended(child.returncode, time.monotonic() - begun, text, timed_out)


def shortened(text, characters_max=6000):
    """A text whose middle is left out if it is long."""
    half = characters_max // 2
    return text if len(text) <= characters_max else f"{text[:half]}\n[...]\n{text[-half:]}"
