#!/usr/bin/env python3
"""run_blocks.py PAGE PREFIX SOURCES
run_blocks.py --list PAGE
run_blocks.py --exceptions PAGE...

Runs the blocks of a Markdown page in page order, as a reader would, with the installation PREFIX first in PATH:

- a block whose first line is a comment with a file's name (`// heat.c`, `# Makefile`) is written to that file;
- a program of the reader is compiled from the file that a line `<!-- program NAME: SOURCE.c -->` names, before all blocks;
- a block of `sh` must succeed, command by command;
- a block of `console` has commands behind `$ `, and below each what it prints.

They run in one shell and a folder of their own, which has links to examples/ and bench/ of SOURCES. A block below
`<!-- not run: REASON -->` is left out. One below `<!-- needs: COMMAND -->` is left out, with a word, where there is no such command. A page with a line
`<!-- page not run: REASON -->` is left out as a whole.

--list prints what would run. --exceptions prints the blocks that never run, with the reasons, and fails if a block neither runs nor has a reason: blocks of
`text`, `json`, `toctree` and the like show something and do not count.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^(?:<!-- (?P<marker>not run|needs): (?P<reason>[^\n]+) -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
PAGE_MARKER = re.compile(r"^<!-- page not run: (.+) -->$", re.M)
# Languages of blocks that only show something: an output, a listing, a directive of Sphinx.
SHOWN = re.compile(r"text|json|\{.*")
PROGRAM = re.compile(r"^<!-- program ([\w.-]+): ([\w./-]+) -->$", re.M)
FILE_NAME = re.compile(r"(?://|#|!) ([\w.-]+)\n")
LIMIT_S = 120


class Page:
    def __init__(self, path: pathlib.Path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.programs = PROGRAM.findall(text)
        self.blocks = [(text[: match.start("text")].count("\n"), match) for match in BLOCK.finditer(text)]
        page_marker = PAGE_MARKER.search(text)
        self.reason = page_marker[1] if page_marker else None

    def exceptions(self) -> tuple[int, list[tuple[int, str | None]]]:
        """The number of blocks that count; line and reason of those that never run, with None where a reason is missing."""
        counted = [(line, match) for line, match in self.blocks if not SHOWN.fullmatch(match["language"])]
        left_out = []
        for line, match in counted:
            runs = match["language"] in ("sh", "console") or FILE_NAME.match(match["text"])
            if self.reason:
                left_out.append((line, self.reason))
            elif match["marker"] == "not run":
                left_out.append((line, match["reason"]))
            elif not runs:
                left_out.append((line, None))
        return len(counted), left_out

    def script(self) -> str:
        """The shell's script: each command is preceded by a line that names its place."""
        parts = ["set -e -o pipefail", "expect() { [ \"$1\" = \"$2\" ] || { printf 'printed:\\n%s\\nexpected:\\n%s\\n' \"$1\" \"$2\"; exit 1; }; }"]
        for name, source in self.programs:
            parts += [f"echo '+ {self.path.name}:{name}'", f"sorrel cc -O2 {source} -o {name}"]
        for line, match in self.blocks:
            if match["marker"] == "not run" or self.reason:
                continue
            language, text = match["language"], match["text"]
            if match["marker"] == "needs":
                parts.append(f"if ! command -v {match['reason']} >/dev/null; then echo 'skipped {self.path.name}:{line}: no {match['reason']}'; else")
            named = FILE_NAME.match(text)
            if named:
                parts.append(f"cat >{named[1]} <<'END OF {named[1]}'\n{text}END OF {named[1]}")
            elif language == "sh":
                parts += [f"echo '+ {self.path.name}:{line}'", text]
            elif language == "console":
                parts += [f"echo '+ {self.path.name}:{line}'", *console_commands(text)]
            if match["marker"] == "needs":
                parts.append("fi")
        return "\n".join(parts) + "\n"


def console_commands(text: str) -> list[str]:
    """`$ command` and what it prints; a command that prints nothing runs in the shell itself, so that it may set variables."""
    parts = []
    for piece in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, printed = piece.partition("\n")
        parts.append(f"expect \"$({command})\" {quoted(printed.rstrip())}" if printed.strip() else command)
    return parts


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def run(page: Page, prefix: pathlib.Path, sources: pathlib.Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "bench"):
            (pathlib.Path(folder) / name).symlink_to(sources / name)
        # ~/.local is where the pages install: it is this installation.
        (pathlib.Path(folder) / ".local").symlink_to(prefix)
        environment = os.environ | {"HOME": folder, "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
        try:
            ended = subprocess.run(["bash", "-c", page.script()], cwd=folder, env=environment, timeout=LIMIT_S,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except subprocess.TimeoutExpired as late:
            print((late.stdout or b"").decode(errors="replace"), f"\nnot ended after {LIMIT_S} s", sep="")
            return 1
    print(ended.stdout)
    if ended.returncode:
        last = [line for line in ended.stdout.splitlines() if line.startswith("+ ")]
        print(f"FAILED with status {ended.returncode} in the block {last[-1][2:] if last else 'first'}")
    return 1 if ended.returncode else 0


def print_exceptions(pages: list[Page]) -> int:
    count, reasons, missing = 0, {}, 0
    for page in pages:
        counted, left_out = page.exceptions()
        count += counted
        for line, reason in left_out:
            if reason is None:
                print(f"{page.path}:{line}: the block neither runs nor says why")
                missing += 1
            else:
                reasons.setdefault((page.path, reason), []).append(str(line))
    for (path, reason), lines in reasons.items():
        print(f"{path}:{','.join(lines)}: not run: {reason}")
    left_out_count = sum(map(len, reasons.values()))
    print(f"{count} blocks: {count - left_out_count - missing} run, {left_out_count} have a reason not to, {missing} have none")
    return 1 if missing else 0


def main() -> int:
    if sys.argv[1:2] == ["--exceptions"]:
        return print_exceptions([Page(pathlib.Path(path)) for path in sys.argv[2:]])
    if sys.argv[1:2] == ["--list"]:
        print(Page(pathlib.Path(sys.argv[2])).script())
        return 0
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    page, prefix, sources = map(pathlib.Path, sys.argv[1:])
    return run(Page(page), prefix.resolve(), sources.resolve())


if __name__ == "__main__":
    sys.exit(main())
