#!/usr/bin/env python3
"""Report copies of an unbounded number of bytes that do not go through copy_bytes() (src/base/copy_bytes.hpp).

    check_copies.py [ROOT]

In the folders of `[copies]` in layers.toml, memcpy() and its kind may copy a constant number of bytes: `sizeof`, a number, a
constant that ends in `_max`. Every other call must be counted in `files`, with the reason why few bytes are copied or no data of
the program. Prints one line for each file with another number of such calls than its entry says; exit status 1 if there is any.
"""

import pathlib
import re
import sys
import tomllib

from check_layers import SOURCE_ENDINGS

COMMENT = re.compile(r"//[^\n]*")
COPY = re.compile(r"\b(?:(?:__builtin_)?mem(?:p?cpy|move)|std::(?:ranges::)?(?:copy|copy_n|copy_backward|move_backward))\s*\(")
CONSTANT = re.compile(r"sizeof\b.*|\d+|\w+_max", re.DOTALL)


def arguments_at(text: str, begin: int) -> list[str]:
    """The arguments of a call whose parenthesis opens before `begin`."""
    depth, arguments = 1, [""]
    for letter in text[begin:]:
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            break
        if letter == "," and depth == 1:
            arguments.append("")
        else:
            arguments[-1] += letter
    return [argument.strip() for argument in arguments]


def unbounded_copies(text: str) -> int:
    text = COMMENT.sub("", text)
    return sum(
        "mem" not in match[0] or not CONSTANT.fullmatch(arguments_at(text, match.end())[-1]) for match in COPY.finditer(text)
    )


def check(root: pathlib.Path) -> list[str]:
    table = tomllib.loads((root / "layers.toml").read_text(encoding="utf-8"))["copies"]
    listed = {place: count for place, (count, _reason) in table["files"].items()}
    found = {}
    for folder in table["folders"]:
        for path in sorted((root / "src" / folder).rglob("*")):
            if path.suffix in SOURCE_ENDINGS and (count := unbounded_copies(path.read_text(encoding="utf-8"))):
                found[path.relative_to(root / "src").as_posix()] = count
    return [
        f"src/{place}: {found.get(place, 0)} copies of an unbounded size, {listed.get(place, 0)} listed in layers.toml: use copy_bytes()"
        for place in sorted(found.keys() | listed.keys())
        if found.get(place, 0) != listed.get(place, 0)
    ]


if __name__ == "__main__":
    faults = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*(faults or ["copies: all of unbounded size go through copy_bytes(), but for those listed"]), sep="\n")
    sys.exit(1 if faults else 0)
