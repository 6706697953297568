#!/usr/bin/env python3
"""terminal.py PROMPT SESSION COMMAND...

Runs the command in a terminal and types the lines of SESSION that begin with PROMPT, each when the terminal shows the prompt. The lines below a typed line must be
in what the terminal shows after it, but for `...`. Prints what it shows. Exit status 1 if a line is missing, or could not be typed, or the command does not end;
else 0: what a killed program returns to its debugger is not of interest.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

LIMIT_S = 90
ROWS, COLUMNS = 1000, 200


def steps_of(prompt: str, session: str) -> list[tuple[str, list[str]]]:
    """Each line to type, with what has to be shown after it."""
    steps: list[tuple[str, list[str]]] = []
    for line in session.splitlines():
        if line.startswith(prompt):
            steps.append((line[len(prompt):], []))
        elif line.strip() not in ("", "..."):
            steps[-1][1].append(line)
    return steps


class Terminal:
    def __init__(self, command: list[str]):
        self.child, self.descriptor = pty.fork()
        if self.child == 0:
            try:
                os.execvp(command[0], command)
            except OSError as error:
                print(f"{command[0]}: {error.strerror}")
                os._exit(127)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.deadline = time.monotonic() + LIMIT_S

    def read_until(self, end: str | None) -> tuple[str, bool]:
        """What is shown, and whether it ends with `end`; None: all."""
        shown = b""
        while end is None or not shown.endswith(end.encode()):
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                return shown.decode(errors="replace"), False
            try:
                piece = os.read(self.descriptor, 4096)
            except OSError:  # the command has closed the terminal
                piece = b""
            if not piece:
                return shown.decode(errors="replace"), end is None
            sys.stdout.buffer.write(piece)
            shown += piece
        return shown.decode(errors="replace"), True

    def type(self, line: str) -> None:
        os.write(self.descriptor, line.encode() + b"\n")

    def end(self) -> bool:
        """Whether the command ends by itself; else it is killed."""
        while time.monotonic() < self.deadline:
            if os.waitpid(self.child, os.WNOHANG)[0]:
                return True
            time.sleep(0.01)
        os.killpg(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        return False


def converse(prompt: str, session: str, command: list[str]) -> int:
    terminal = Terminal(command)
    expected: list[str] = []
    faults = []
    for line, following in steps_of(prompt, session):
        shown, at_prompt = terminal.read_until(prompt)
        faults += [f"not shown: {missing}" for missing in expected if missing not in shown]
        if not at_prompt:
            faults.append(f"no prompt for: {line}")
            break
        terminal.type(line)
        expected = following
    else:
        shown, _ = terminal.read_until(None)
        faults += [f"not shown: {missing}" for missing in expected if missing not in shown]
    if faults:
        terminal.deadline = 0
    sys.stdout.flush()
    if not terminal.end() and not faults:
        faults.append("the command does not end")
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(converse(sys.argv[1], sys.argv[2], sys.argv[3:]))
