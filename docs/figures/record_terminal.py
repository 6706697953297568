#!/usr/bin/env python3
"""record_terminal.py OUT.svg COMMAND...

Runs the command in a terminal of 82 columns and makes a moving picture of what it shows, in the time that it takes. The picture of the README:

    PATH=build/release/bin:$PATH docs/figures/record_terminal.py docs/figures/demo.svg sorrel demo

Of a terminal's language it knows what `sorrel` prints: text, colours, "up by N lines" and "clear to the end of the line"; anything else is an error.
Viewers that show no movement show the end.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from xml.sax.saxutils import escape

COLUMNS, ROWS_MAX = 82, 200
FRAME_S = 0.1  # pieces of output that are nearer in time are one frame
HOLD_S = 6.0  # the end stands still before the picture begins again
CELL, LINE, MARGIN, BAR = 8.4, 18, 16, 30
BLOCKS = " ▁▂▃▄▅▆▇█"
COLOURS = {31: "#f47067", 32: "#6bc46d", 33: "#daaa3f", 34: "#6cb6ff", 39: "#d5dbe3"}
ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")
Style = tuple[str, bool]  # colour, bold
PLAIN: Style = (COLOURS[39], False)
Line = tuple[tuple[str, Style], ...]  # characters with their styles


def colour_of(number: int) -> str:
    """One of a terminal's 256 colours."""
    if number < 16:
        light = 1.0 if number >= 8 else 0.7
        return "#" + "".join(f"{round(255 * light * (number >> bit & 1)):02x}" for bit in range(3))
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    steps = [0, 95, 135, 175, 215, 255]
    place = number - 16
    return "#" + "".join(f"{steps[place // power % 6]:02x}" for power in (36, 6, 1))


class Screen:
    """What a terminal shows after some output."""

    def __init__(self) -> None:
        self.lines: list[list[tuple[str, Style]]] = [[]]
        self.row = self.column = 0
        self.style = PLAIN

    def write(self, text: str) -> None:
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = ESCAPE.match(text, at)
                if found is None:
                    raise ValueError(f"not a known escape: {text[at:at + 12]!r}")
                self.control(found[2], [int(part or 0) for part in found[1].split(";")])
                at = found.end()
            else:
                self.put(text[at])
                at += 1

    def put(self, letter: str) -> None:
        if letter == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append([])
        elif letter == "\r":
            self.column = 0
        else:
            line = self.lines[self.row]
            line.extend([(" ", PLAIN)] * (self.column + 1 - len(line)))
            line[self.column] = (letter, self.style)
            self.column += 1

    def control(self, name: str, numbers: list[int]) -> None:
        if name == "A":
            self.row = max(0, self.row - max(1, numbers[0]))
        elif name == "K" and numbers == [0]:
            del self.lines[self.row][self.column:]
        elif name == "m":
            self.set_style(numbers)
        else:
            raise ValueError(f"not a known escape: {numbers} {name}")

    def set_style(self, numbers: list[int]) -> None:
        if numbers == [0]:
            self.style = PLAIN
        elif numbers == [1]:
            self.style = (self.style[0], True)
        elif len(numbers) == 3 and numbers[:2] == [38, 5]:
            self.style = (colour_of(numbers[2]), self.style[1])
        elif len(numbers) == 1 and numbers[0] in COLOURS:
            self.style = (COLOURS[numbers[0]], self.style[1])
        else:
            raise ValueError(f"not a known style: {numbers}")

    def shown(self) -> list[Line]:
        return [tuple(line) for line in self.lines]


def record(command: list[str]) -> list[tuple[float, str]]:
    """What the command prints, each piece with its time."""
    child, descriptor = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS))
        os.environ.pop("NO_COLOR", None)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}")
            os._exit(127)
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS_MAX, COLUMNS, 0, 0))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begin, pieces = time.monotonic(), []
    while True:
        select.select([descriptor], [], [])
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # the command has closed the terminal
            piece = b""
        if not piece:
            break
        pieces.append((time.monotonic() - begin, decoder.decode(piece)))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        sys.exit("record_terminal.py: the command failed:\n" + "".join(text for _, text in pieces))
    return pieces


def frames_of(pieces: list[tuple[float, str]]) -> list[tuple[float, list[Line]]]:
    """The screen at the times when it has changed."""
    screen, frames = Screen(), []
    pending = ""
    for index, (when, text) in enumerate(pieces):
        # An escape may be cut in two.
        pending += text
        cut = pending.rfind("\x1b")
        whole = len(pending) if cut < 0 or ESCAPE.match(pending, cut) else cut
        screen.write(pending[:whole])
        pending = pending[whole:]
        is_last = index + 1 == len(pieces)
        if is_last or not frames or when - frames[-1][0] >= FRAME_S or pieces[index + 1][0] - when >= FRAME_S:
            frames.append((when, screen.shown()))
    return frames


def versions_of(frames: list[tuple[float, list[Line]]], end: float) -> list[tuple[int, float, float, Line]]:
    """Each line as it stood for a while: its number, from when, until when, its text."""
    found: list[tuple[int, float, float, Line]] = []
    for row in range(max(len(lines) for _, lines in frames)):
        since, shown = 0.0, ()
        for when, lines in frames:
            line = lines[row] if row < len(lines) else ()
            if line != shown:
                if shown:
                    found.append((row, since, when, shown))
                since, shown = when, line
        if shown:
            found.append((row, since, end, shown))
    return found


def drawn(line: Line, top: float) -> str:
    """Its text, and its blocks as rectangles: fonts draw these in many ways."""
    out, at = [], 0
    while at < len(line):
        letter, style = line[at]
        length = 1
        is_block = letter in BLOCKS and letter != " "
        while at + length < len(line) and line[at + length][1] == style and (
                line[at + length][0] == letter if is_block else line[at + length][0] not in BLOCKS[1:]):
            length += 1
        text = "".join(each for each, _ in line[at:at + length])
        x = MARGIN + at * CELL
        if is_block:
            height = (LINE - 3) * BLOCKS.index(letter) / (len(BLOCKS) - 1)
            out.append(f"<path fill='{style[0]}' d='M{x:.1f} {top + LINE - 2 - height:.1f}h{CELL * length:.1f}v{height:.1f}h-{CELL * length:.1f}z'/>")
        elif text.strip():
            lead = len(text) - len(text.lstrip())
            body = text.strip()
            weight = " font-weight='700'" if style[1] else ""
            out.append(f"<text x='{x + lead * CELL:.1f}' y='{top + LINE - 5:.1f}' textLength='{len(body) * CELL:.1f}' fill='{style[0]}'{weight}>"
                       f"{escape(body)}</text>")
        at += length
    return "".join(out)


def picture(frames: list[tuple[float, list[Line]]], title: str) -> str:
    total = frames[-1][0] + HOLD_S
    height = BAR + MARGIN + LINE * max(len(lines) for _, lines in frames)
    width = 2 * MARGIN + COLUMNS * CELL
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' height='{height:.0f}' "
           f"font-family='ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace' font-size='14' xml:space='preserve' role='img'>",
           f"<title>{escape(title)}</title>",
           f"<rect width='{width:.0f}' height='{height:.0f}' rx='8' fill='#1c2128'/>"]
    out += [f"<circle cx='{18 + 18 * place}' cy='15' r='5' fill='{fill}'/>" for place, fill in enumerate(("#f47067", "#daaa3f", "#6bc46d"))]
    out.append(f"<text x='{width / 2:.0f}' y='20' text-anchor='middle' fill='#768390'>{escape(title)}</text>")
    for row, since, until, line in versions_of(frames, total):
        body = drawn(line, BAR + LINE * row)
        if not body:
            continue
        is_last = until == total
        times = [0.0, since / total] + ([] if is_last else [until / total])
        values = ["hidden", "visible"] + ([] if is_last else ["hidden"])
        if since == 0:
            times, values = times[1:], values[1:]
        out.append(f"<g visibility='{'visible' if is_last else 'hidden'}'>{body}<animate attributeName='visibility' calcMode='discrete' "
                   f"values='{';'.join(values)}' keyTimes='{';'.join(f'{each:.4f}' for each in times)}' dur='{total:.2f}s' "
                   "repeatCount='indefinite'/></g>")
    return "\n".join([*out, "</svg>", ""])


def main() -> int:
    if sys.argv[1:] == ["--help"]:
        print(__doc__)
        return 0
    if len(sys.argv) < 3:
        sys.exit("usage: record_terminal.py OUT.svg COMMAND...")
    command = sys.argv[2:]
    pieces = [(0.0, "$ " + " ".join(command) + "\r\n"), *record(command)]
    text = picture(frames_of(pieces), " ".join(command))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{sys.argv[1]}: {len(text.encode()) / 1000:.0f} kB, {pieces[-1][0]:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
