"""Trial - one command under limits in a folder of its own, and how it ended."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import time

# An operation of a fraction of a second may take this long when other jobs keep the processors busy.
LIMIT_S = 90
# A damaged program may print without end: files end here, and messages are cut.
FILE_BYTES_MAX = 1 << 30
SHOWN_BYTES_MAX = 4000
# The status that shells use.
CANNOT_EXECUTE = 126


@dataclasses.dataclass
class Outcome:
    words: list[str]
    status: int  # negative: the signal
    out: bytes
    err: bytes
    is_late: bool = False
    is_left: bool = False  # a process of its group outlived it

    @property
    def is_signalled(self) -> bool:
        return self.status < 0 or 128 < self.status < 128 + signal.NSIG

    def lines(self) -> list[str]:
        """The lines of standard error."""
        return self.err.decode(errors="surrogateescape").splitlines()

    def text(self) -> str:
        def shown(data: bytes) -> str:
            return data[:SHOWN_BYTES_MAX].decode(errors="backslashreplace")

        words = " ".join(repr(word)[:200] for word in self.words)
        ending = "did not end in time" if self.is_late else f"status {self.status}"
        return f"command: {words}\n{ending}\nstdout:\n{shown(self.out)}\nstderr:\n{shown(self.err)}\n"


def limit_resources() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))


def living(group: int) -> list[int]:
    """The processes of a group that are not zombies."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = pathlib.Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[2]) == group:
            found.append(int(entry.name))
    return found


def is_left_alone(group: int) -> bool:
    """Whether all processes of the group have ended, or end soon. The scan is needed only if the kernel knows the
    group."""
    end = time.monotonic() + 20
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        if not living(group):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.01)


def end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(words: list[str], folder: pathlib.Path, env: dict[str, str], limit_s: float = LIMIT_S) -> Outcome:
    """Runs a command in a session of its own, in `folder`, which also gets its output."""
    out_path, err_path = folder / "out", folder / "err"
    is_late = False
    with open(out_path, "wb") as out, open(err_path, "wb") as err:
        try:
            child = subprocess.Popen(
                words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True, preexec_fn=limit_resources,
            )  # fmt: skip
        except OSError as error:
            return Outcome(words, CANNOT_EXECUTE, b"", str(error).encode())
        try:
            status = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            is_late = True
            end_group(child.pid)
            status = child.wait()
    is_left = not is_left_alone(child.pid)
    end_group(child.pid)
    with open(out_path, "rb") as out, open(err_path, "rb") as err:
        return Outcome(words, status, out.read(1 << 20), err.read(1 << 20), is_late, is_left)


def clean_environment(folder: pathlib.Path) -> dict[str, str]:
    """The caller's environment, without variables that affect the tested programs; the user's files go to `folder`."""
    ours = ("SORREL_", "OMP_", "GOMP_", "MP_", "LD_", "MPI", "PMI", "SLURM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder)}


def fault_of_command(outcome: Outcome) -> str:
    """Results that no command may have, for any input; "" without an error."""
    if outcome.is_late:
        return "it hangs"
    if outcome.is_left:
        return "a process is left"
    if outcome.status < 0:
        return f"it was ended by signal {-outcome.status}"
    if outcome.status != 0 and not outcome.out.strip() and not outcome.err.strip():
        return "it failed without a message"
    return ""


# The dynamic loader prints it about a damaged relocation, and continues.
LOADER_WARNING = " causes overflow in "


def fault_of_refusal(outcome: Outcome) -> str:
    """Checks that an error is one line of text, and that nothing was started."""
    if outcome.status != 2:
        return ""
    lines = [line for line in outcome.lines() if not line.startswith("sorrel: note: ") and LOADER_WARNING not in line]
    if len(lines) != 1 or not lines[0].startswith("sorrel: "):
        return "an error is not one line"
    if outcome.out:
        return "an error printed to standard output"
    return fault_of_text(outcome.err)


def fault_of_text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "what it prints is not UTF-8"
    if any(not letter.isprintable() and letter not in "\n\t\xa0\xad" and ord(letter) < 0xA0 for letter in text):
        return "it prints control characters"
    return ""
