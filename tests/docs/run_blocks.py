#!/usr/bin/env python3
"""run_blocks.py PAGE PREFIX SOURCES
run_blocks.py --list PAGE
run_blocks.py --summary PAGE...

Runs the blocks of a Markdown page in page order, as a reader would, with the installation PREFIX first in PATH:

- a block whose first line is a comment with a file's name (`// heat.c`, `# Makefile`) is written to that file;
- a block of `sh` must succeed, command by command;
- a block of `console` has commands behind `$ `, and below each what it prints. Lines behind `(gdb) ` are typed in a terminal in which the command runs; the lines
  below them must be in what it shows.

They run in one shell and a folder of their own, which has the sources, their folders as links, and where build/release/bin is that of PREFIX. Lines of the page
that the reader does not see say more:

    <!-- program NAME: SOURCE.c [OPTION...] -->   compiled before all blocks: a program of the reader
    <!-- file NAME: SOURCE -->                    copied before all blocks
    <!-- page checked: COMMAND...; REASON -->     the same above each block that has no line `run` or `checked`

and directly above a block:

    <!-- checked: COMMAND...; REASON -->          these commands are not run: stand_in.py takes their places and checks their arguments
    <!-- needs: COMMAND... -->                    they are run where all of them are installed, else checked; NAME=COMMAND: by another name than the page's
    <!-- needs: COMMAND...; OTHER... -->          the others are checked where a command is missing; PyPI: what builds packages of it
    <!-- job 4711: COMMAND -->                    runs meanwhile; its number stands for 4711
    <!-- compiled -->                             a block of `c` or `cpp` is compiled, without a warning
    <!-- run -->                                  also on a page whose blocks are checked

A block of `yaml` is a workflow of GitHub: its schema is checked where check-jsonschema is installed, and its commands run in their order, those of
packaging/action among them, with Sorrel installed.

--list prints the shell's script. --summary prints which blocks are checked and why, and fails if a block is neither run nor checked. Blocks of `text`, `json`,
`toctree` and the like show something and do not count.
"""
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import composite_action
import stand_in

BLOCK = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
COMMENT = re.compile(r"<!-- (.*) -->")
MARKER = re.compile(r"(checked|needs|job 4711|compiled|run)(?:: (.+))?")
PAGE_MARKER = re.compile(r"^<!-- page checked: (.+?) -->$", re.M | re.S)
PROGRAM = re.compile(r"^<!-- program ([\w.-]+): ([\w./-]+)((?: -\S+)*) -->$", re.M)
FILE = re.compile(r"^<!-- file ([\w.-]+): ([\w./-]+) -->$", re.M)
# Languages of blocks that only show something: an output, a listing, a directive of Sphinx.
SHOWN = re.compile(r"text|json|\{.*")
FILE_NAME = re.compile(r"(?://|#|!) ([\w.-]+)\n")
COMPILERS = {"c": "cc -Wall -Werror", "cpp": "cxx -std=c++20 -Wall -Werror"}
PROMPT = "(gdb) "
JOB = "4711"
LIMIT_S = 840

PRELUDE = r"""
set -e -o pipefail

# expect PRINTED EXPECTED; what a command prints that is not installed is not known.
expect() { [ -n "$is_replaced" ] || [ "$1" = "$2" ] || { printf 'printed:\n%s\nexpected:\n%s\n' "$1" "$2"; exit 1; }; }

# in_place_of NAME COMMAND...: a program of this name, in PATH or at this path, that runs the command.
in_place_of() {
  local file=$DOCS_COMMANDS/$1
  if [[ $1 == */* ]]; then
    file=$1
    mkdir -p "$(dirname "$file")"
    # Not through a link into the sources.
    [[ $(realpath "$(dirname "$file")")/ == "$DOCS_FOLDER"/* ]] || { echo "$file is not in the folder of the page"; exit 1; }
    [ ! -e "$file" ] || mv "$file" "$file.real"
    replaced+=("$file")
  fi
  printf '#!/bin/sh\nexec %s "$@"\n' "$(printf '%q ' "${@:2}")" >"$file"
  chmod +x "$file"
}

check_instead() { for name; do in_place_of "$name" "$DOCS_PYTHON" -B "$DOCS_TOOLS/stand_in.py" "$name"; done; }

replace_begin() { replaced=(); mkdir "$DOCS_COMMANDS"; PATH=$DOCS_COMMANDS:$PATH; }

replace_end() {
  local file
  PATH=${PATH//"$DOCS_COMMANDS:"/}
  unset CFLAGS PIP_CONSTRAINT is_replaced
  rm -r "$DOCS_COMMANDS"
  for file in "${replaced[@]}"; do
    rm "$file"
    [ ! -e "$file.real" ] || mv "$file.real" "$file"
  done
}

is_usable() {
  case $1 in
    PyPI)
      [ "${pypi:=$("$DOCS_PYTHON" -B "$DOCS_TOOLS/builds_from_pypi.py" && echo yes)}" = yes ] || return 1
      # Packages run for an instant: what is built quickly will do.
      export CFLAGS='-O0 -g0' PIP_CONSTRAINT=$DOCS_TOOLS/constraints.txt
      ;;
    # It may be installed where nothing may be traced.
    gdb) gdb -q -batch -ex run --args true 2>&1 | grep -q 'exited normally' ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# needs PLACE '[NAME=]COMMAND...' OTHER...
needs() {
  local place=$1 pairs=$2 pair
  shift 2
  for pair in $pairs; do
    is_usable "${pair#*=}" || { echo "checked $place: no ${pair#*=}"; check_instead "$@"; is_replaced=1; return 0; }
  done
  for pair in $pairs; do [[ $pair != *=* ]] || in_place_of "${pair%%=*}" "${pair#*=}"; done
}

# Whether `sorrel ps` lists the job, by its own number or that of its process.
is_listed() { sorrel ps | grep -qwE "$(echo $job $(cat /proc/$job/task/$job/children 2>/dev/null) | tr ' ' '|')"; }

job_begin() {
  "$@" >job.log 2>&1 &
  job=$!
  until is_listed; do
    kill -0 $job || { cat job.log; exit 1; }
    sleep 0.1
  done
}

job_end() { kill -KILL $job; wait $job || true; }

# type_lines PROMPT SESSION COMMAND...
type_lines() {
  local session=$2
  [ -z "$is_replaced" ] || session=$(grep -F "$1" <<<"$session")
  "$DOCS_PYTHON" -B "$DOCS_TOOLS/terminal.py" "$1" "$session" "${@:3}"
}
"""


def names_and_reason(text: str) -> tuple[list[str], str]:
    names, _, reason = text.partition(";")
    return names.split(), reason.strip()


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    markers: dict[str, str]
    unknown: list[str]  # comments above it that mean nothing

    @property
    def file_name(self) -> str | None:
        named = FILE_NAME.match(self.text)
        return named[1] if named else None

    def checked_if_missing(self) -> list[str]:
        needed, _, others = self.markers.get("needs", "").partition(";")
        return others.split() or [pair.partition("=")[0] for pair in needed.split()]

    def is_counted(self) -> bool:
        return not SHOWN.fullmatch(self.language)

    def fault(self) -> str | None:
        """Why it is neither run nor checked."""
        if self.unknown:
            return f"no such marker: {self.unknown[0]}"
        names, reason = names_and_reason(self.markers.get("checked", ""))
        if "checked" in self.markers and not (names and reason):
            return "`checked` needs commands, a semicolon and a reason"
        names += self.checked_if_missing()
        if missing := [name for name in names if stand_in.find(name) is None]:
            return f"nothing checks the arguments of {missing[0]}"
        if self.language in ("sh", "console") or self.file_name:
            return None
        if self.language in COMPILERS and "compiled" in self.markers:
            return None
        if self.language == "yaml" and "checked" in self.markers:
            return None
        return "the block is neither run nor checked"

    def commands(self, page: str) -> list[str]:
        place = f"{page}:{self.line}"
        if self.file_name:
            return [f"cat >{self.file_name} <<'END OF {self.file_name}'\n{self.text}END OF {self.file_name}"]
        return [f"echo '+ {place}'", *self.prepared(self.plain_commands(), place)]

    def plain_commands(self) -> list[str]:
        if self.language == "sh":
            return [self.text]
        if self.language == "console":
            return console_commands(self.text)
        if self.language == "yaml":
            return workflow_commands(self.text)
        file = f"block_{self.line}.{self.language}"
        return [f"cat >{file} <<'END OF BLOCK'\n{self.text}END OF BLOCK", f"sorrel {COMPILERS[self.language]} -c {file} -o {file}.o"]

    def prepared(self, commands: list[str], place: str) -> list[str]:
        if "job 4711" in self.markers:
            commands = [f"job_begin {self.markers['job 4711']}", *(command.replace(JOB, "$job") for command in commands), "job_end"]
        checked, _ = names_and_reason(self.markers.get("checked", ""))
        if checked or "needs" in self.markers:
            before = [f"check_instead {' '.join(checked)}"] if checked else []
            if "needs" in self.markers:
                needed = self.markers["needs"].partition(";")[0]
                before.append(f"needs {place} {shlex.quote(needed)} {' '.join(self.checked_if_missing())}")
            commands = ["replace_begin", *before, *commands, "replace_end"]
        return commands


class Page:
    def __init__(self, path: pathlib.Path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.programs = PROGRAM.findall(text)
        self.files = FILE.findall(text)
        page_marker = PAGE_MARKER.search(text)
        self.checked = page_marker[1] if page_marker else None
        self.blocks = [self.block(text, match) for match in BLOCK.finditer(text)]

    def block(self, text: str, match: re.Match[str]) -> Block:
        block = Block(text[: match.start("text")].count("\n"), match["language"], match["text"], {}, [])
        for line in reversed(text[: match.start()].splitlines()):
            comment = COMMENT.fullmatch(line)
            if not comment:
                break
            if marker := MARKER.fullmatch(comment[1]):
                block.markers[marker[1]] = marker[2] or ""
            elif not PROGRAM.fullmatch(line) and not FILE.fullmatch(line) and not PAGE_MARKER.fullmatch(line):
                block.unknown.append(comment[1])
        if self.checked and block.is_counted() and not block.file_name and not {"run", "checked"} & set(block.markers):
            block.markers["checked"] = self.checked
        return block

    def counted(self) -> list[Block]:
        return [block for block in self.blocks if block.is_counted()]

    def script(self) -> str:
        """The shell's script: each command is preceded by a line that names its place."""
        parts = [PRELUDE]
        parts += [f"cp {source} {name}" for name, source in self.files]
        for name, source, options in self.programs:
            parts += [f"echo '+ {self.path.name}:{name}'", f"sorrel cc -O2 {source} -o {name}{options}"]
        for block in self.counted():
            parts += block.commands(self.path.name)
        return "\n".join(parts) + "\n"


def console_commands(text: str) -> list[str]:
    """`$ command` and what it prints; a command that prints nothing runs in the shell itself, so that it may set variables."""
    parts = []
    for piece in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, printed = piece.partition("\n")
        if printed.startswith(PROMPT):
            parts.append(f"type_lines {shlex.quote(PROMPT)} {shlex.quote(printed)} {command}")
        else:
            parts.append(f"expect \"$({command})\" {shlex.quote(printed.rstrip())}" if printed.strip() else command)
    return parts


def workflow_commands(text: str) -> list[str]:
    """The commands of a workflow, step by step; what a step adds to GITHUB_PATH is in PATH of the next ones."""
    parts = [f"cat >workflow.yml <<'END OF WORKFLOW'\n{text}END OF WORKFLOW",
             "linter=$DOCS_SOURCES/.venv/bin/check-jsonschema",
             "[ ! -x $linter ] || $linter --builtin-schema vendor.github-workflows workflow.yml",
             "export GITHUB_PATH=$DOCS_FOLDER/github_path; : >$GITHUB_PATH"]
    lines = text.splitlines()
    steps = 0
    for number, line in enumerate(lines):
        if re.fullmatch(r" +- uses: \S+/packaging/action@\S+", line):
            steps += 1
            parts += action_commands(lines[number:])
        run = re.fullmatch(r"( +)(- )?run: (.+)", line)
        if not run:
            continue
        indent = len(run[1]) + len(run[2] or "")
        command = run[3]
        if command == "|":
            block = []
            for following in lines[number + 1:]:
                if following.strip() and len(following) - len(following.lstrip()) <= indent:
                    break
                block.append(following.strip())
            command = "\n".join(block)
        steps += 1
        parts += [command, "while read -r added; do PATH=$added:$PATH; done <$GITHUB_PATH; : >$GITHUB_PATH"]
    return parts if steps else ["echo 'no step of the workflow runs a command'; false"]


def action_commands(lines: list[str]) -> list[str]:
    """The commands of packaging/action with the inputs of the step that begins here."""
    step = [lines[0].replace("- ", "  ", 1)]
    for line in lines[1:]:
        if composite_action.indent_of(line) < composite_action.indent_of(step[0]):
            break
        step.append(line)
    inputs = composite_action.pairs(composite_action.section(step, "with"))
    words = [shlex.quote(f"{name}={value}") for name, value in {**inputs, "install": "none"}.items()]
    return [f'action=$("$DOCS_PYTHON" -B "$DOCS_TOOLS/composite_action.py" "$DOCS_SOURCES/packaging/action/action.yml" {" ".join(words)})', 'eval "$action"']


def make_folder(folder: pathlib.Path, prefix: pathlib.Path, sources: pathlib.Path) -> None:
    """What a reader has: the sources, their folders as links, a release build of them, and the installation where the pages install."""
    for entry in sources.iterdir():
        # ./dev is not there: it would build in the sources.
        if not entry.name.startswith(".") and entry.name not in ("build", "dist", "dev"):
            # A page may write a file of the same name.
            if entry.is_dir():
                (folder / entry.name).symlink_to(entry)
            else:
                shutil.copyfile(entry, folder / entry.name)
    built = folder / "build" / "release" / "bin"
    built.mkdir(parents=True)
    for entry in (prefix / "bin").iterdir():
        (built / entry.name).symlink_to(entry)
    (folder / ".local").symlink_to(prefix)
    (folder / ".gdbinit").write_text("set confirm off\n")


def run(page: Page, prefix: pathlib.Path, sources: pathlib.Path) -> int:
    for block in page.counted():
        if fault := block.fault():
            print(f"{page.path}:{block.line}: {fault}")
            return 1
    with tempfile.TemporaryDirectory() as name:
        temporary = pathlib.Path(name).resolve()
        folder = temporary / "page"
        folder.mkdir()
        make_folder(folder, prefix, sources)
        environment = os.environ | {
            "HOME": str(folder), "PATH": f"{prefix}/bin:{os.environ['PATH']}", "TERM": "dumb",
            "DOCS_FOLDER": str(temporary), "DOCS_COMMANDS": f"{temporary}/commands", "DOCS_PREFIX": str(prefix), "DOCS_SOURCES": str(sources),
            "DOCS_TOOLS": str(pathlib.Path(__file__).resolve().parent), "DOCS_PYTHON": sys.executable,
            # Tests run as root in containers, on fewer cores than a launcher starts processes.
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
        shell = subprocess.Popen(["bash", "-c", page.script()], cwd=folder, env=environment, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        status = None
        try:
            printed, _ = shell.communicate(timeout=LIMIT_S)
            status = shell.returncode
        except subprocess.TimeoutExpired:
            pass
        # Jobs of a page that failed.
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if status is None:
            printed, _ = shell.communicate()
            printed += f"\nnot ended after {LIMIT_S} s\n"
    print(printed)
    if status != 0:
        last = [line for line in printed.splitlines() if line.startswith("+ ")]
        print(f"FAILED with status {status} in the block {last[-1][2:] if last else 'first'}")
    return 1 if status != 0 else 0


def summarize(pages: list[Page]) -> int:
    faults, checked, count = [], {}, 0
    for page in pages:
        for block in page.counted():
            count += 1
            if fault := block.fault():
                faults.append(f"{page.path}:{block.line}: {fault}")
            elif "checked" in block.markers:
                _, reason = names_and_reason(block.markers["checked"])
                checked.setdefault((page.path, reason), []).append(str(block.line))
    for (path, reason), lines in checked.items():
        print(f"{path}:{','.join(lines)}: checked: {reason}")
    checked_count = sum(map(len, checked.values()))
    summary = f"{count} blocks: {count - checked_count - len(faults)} run, {checked_count} are checked"
    print(*faults, summary, sep="\n")
    return 1 if faults else 0


def main() -> int:
    if sys.argv[1:2] == ["--summary"]:
        return summarize([Page(pathlib.Path(path)) for path in sys.argv[2:]])
    if sys.argv[1:2] == ["--list"]:
        print(Page(pathlib.Path(sys.argv[2])).script())
        return 0
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    page, prefix, sources = map(pathlib.Path, sys.argv[1:])
    return run(Page(page), prefix.resolve(), sources.resolve())


if __name__ == "__main__":
    sys.exit(main())
