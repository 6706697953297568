#!/usr/bin/env python3
"""Report words in comments, documents and messages that words.toml replaces, and comments that lean on another one.

    check_words.py [ROOT]

Sources: comments and string literals; Markdown: all text outside code. Only paths in the list `held` of words.toml are
checked, without those in `exempt`. Prints one line for each use (file:line: word), with what to write instead; exit status 1 if there is any.

A comment that begins with one of the list `openings` of words.toml ("Of a rank.", "The same for files.") does not say what it is about.
It is reported where it begins a line, outside of Markdown.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

CODE_SPAN = re.compile(r"`[^`]*`")
STRING = r'"(?:[^"\\\n]|\\.)*"'
C_TEXT = re.compile(rf"//[^\n]*|/\*.*?\*/|{STRING}", re.DOTALL)
HASH_TEXT = re.compile(rf'#[^\n]*|"""(?:.*?)"""|{STRING}', re.DOTALL)
FORTRAN_TEXT = re.compile(rf"![^\n]*|{STRING}")
COMMENT_START = r'(?:^|\s)(?://[/!]?<?|/\*+|\*|#+|!+|""")\s*'
INCLUDE = re.compile(r"^\s*#\s*include[^\n]*$", re.MULTILINE)
C_ENDINGS = {".c", ".h", ".cpp", ".hpp", ".inc", ".def", ".S"}
HASH_ENDINGS = {".py", ".sh", ".txt", ".cmake", ".toml", ".in", ".yml", ".yaml", ".fish", ""}
FORTRAN_ENDINGS = {".f90", ".F90"}


def blank(text: str) -> str:
    """As many lines as `text`, without words."""
    return re.sub(r"[^\n]", " ", text)


def prose_of(path: pathlib.Path, text: str) -> str:
    """The text of a file with everything blanked that is not prose; line numbers stay."""
    if path.suffix == ".md":
        text = re.sub(r"^```.*?^```", lambda m: blank(m[0]), text, flags=re.DOTALL | re.MULTILINE)
        return CODE_SPAN.sub(lambda m: blank(m[0]), text)
    if path.suffix in C_ENDINGS:
        text, pattern = INCLUDE.sub(lambda m: blank(m[0]), text), C_TEXT
    elif path.suffix in HASH_ENDINGS:
        pattern = HASH_TEXT
    elif path.suffix in FORTRAN_ENDINGS:
        pattern = FORTRAN_TEXT
    else:
        return ""
    prose, end = [], 0
    for match in pattern.finditer(text):
        prose += [blank(text[end : match.start()]), match[0]]
        end = match.end()
    prose.append(blank(text[end:]))
    return "".join(prose)


def faults_of(place: str, prose: str, words: dict[str, str]) -> list[str]:
    pattern = re.compile(r"\b(" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + r")\b", re.IGNORECASE)
    return [
        f"{place}:{number}: '{match[0]}': write {words[match[0].lower()]}"
        for number, line in enumerate(prose.splitlines(), start=1)
        for match in pattern.finditer(line)
    ]


def ellipses_of(place: str, prose: str, openings: list[str]) -> list[str]:
    pattern = re.compile(COMMENT_START + "(" + "|".join(map(re.escape, openings)) + r")\b")
    return [
        f"{place}:{number}: a comment begins with '{match[1]}': name its subject"
        for number, line in enumerate(prose.splitlines(), start=1)
        for match in pattern.finditer(line)
    ]


def tracked_files(root: pathlib.Path) -> list[str]:
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        return [name for name in listing.stdout.split("\0") if name]
    return [p.relative_to(root).as_posix() for p in sorted(root.rglob("*")) if p.is_file()]


def check(root: pathlib.Path, files: list[str] | None = None) -> list[str]:
    table = tomllib.loads((root / "tests/lint/words.toml").read_text(encoding="utf-8"))
    held, exempt = tuple(table["held"]), table.get("exempt", [])
    faults = []
    for place in files if files is not None else tracked_files(root):
        path = root / place
        if place.startswith(held) and place not in exempt and path.is_file():
            prose = prose_of(path, path.read_text(encoding="utf-8", errors="replace"))
            faults += faults_of(place, prose, table["words"])
            if path.suffix != ".md":
                faults += ellipses_of(place, prose, table.get("openings", []))
    return faults


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(found or ["words: the checked folders use none of the words that words.toml replaces"]), sep="\n")
    sys.exit(1 if found else 0)
