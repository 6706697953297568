#!/usr/bin/env python3
"""Report functions of src/ and tools/ that are longer or more complex than .clang-tidy allows.

    check_functions.py [--longest N] [ROOT]

The limits are those of readability-function-size and readability-function-cognitive-complexity in .clang-tidy. clang-tidy
takes hours for all files; this check counts in the text, as clang-format lays it out, in seconds. Complexity: 1 for each
branch, loop, `catch` and `?:`, and 1 more for each of these, and for each lambda, around it; 1 for each `else` and `goto`, and for each
sequence of like `&&` or `||`. The arguments of SORREL_ macros do not count. Prints one line for each such function; exit
status 1 if there is any. --longest shows the N longest and the N most complex ones.
"""

import argparse
import bisect
import dataclasses
import pathlib
import re
import sys

from check_layers import SOURCE_ENDINGS

TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<text>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
    |(?P<word>(?:[A-Za-z_]|\d)(?:\w|'(?=\w))*)
    |(?P<sign>&&|\|\||::|->|[^\s\w])""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
LIMIT = re.compile(r"readability-function-(size\.LineThreshold|cognitive-complexity\.Threshold): (\d+)")
CLOSING = {"(": ")", "[": "]", "{": "}"}
SCOPES = {"namespace", "class", "struct", "union", "enum"}
# In front of parentheses that hold no parameters: of the language, and macros.
NO_NAME = re.compile(r"alignas|decltype|requires|noexcept|__attribute__|[A-Z][A-Z0-9_]+")


@dataclasses.dataclass
class Function:
    path: str
    line: int
    name: str
    lines: int
    complexity: int


class Tokens:
    """The tokens of a file: their text, where they stand, and the partners of brackets."""

    def __init__(self, text: str):
        self.words: list[str] = []
        self.begins: list[int] = []
        for match in TOKEN.finditer(text):
            if match.lastgroup != "skip" and not match["skip"]:
                self.words.append('""' if match["text"] else match[0])
                self.begins.append(match.start())
        self.line_begins = [0, *(match.end() for match in re.finditer("\n", text))]
        self.has_blank_before = [begin == 0 or text[begin - 1].isspace() for begin in self.begins]
        self.partners: dict[int, int] = {}
        self.openings: dict[int, int] = {}
        opened: list[int] = []
        for at, word in enumerate(self.words):
            if word in CLOSING:
                opened.append(at)
            elif opened and word == CLOSING[self.words[opened[-1]]]:
                self.openings[at] = opened[-1]
                self.partners[opened.pop()] = at

    def line(self, at: int) -> int:
        return bisect.bisect_right(self.line_begins, self.begins[at])

    def after(self, opening: int) -> int:
        """The place behind the bracket that closes."""
        return self.partners.get(opening, len(self.words) - 1) + 1

    def __getitem__(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""


class Complexity:
    """Sums up one body, statement by statement."""

    def __init__(self, tokens: Tokens):
        self.tokens = tokens
        self.sum = 0

    def block(self, at: int, end: int, nesting: int) -> int:
        while at < end:
            at = self.statement(at, end, nesting)
        return end

    def statement(self, at: int, end: int, nesting: int) -> int:
        tokens = self.tokens
        word = tokens[at]
        if word == "{":
            self.block(at + 1, tokens.after(at) - 1, nesting)
            return tokens.after(at)
        if word == "if":
            return self.branch(at, end, nesting, 1 + nesting)
        if word in ("for", "while", "switch", "catch"):
            self.sum += 1 + nesting
            return self.statement(self.condition(at + 1, nesting), end, nesting + 1)
        if word == "do":
            self.sum += 1 + nesting
            # `while` and its condition.
            at = self.statement(at + 1, end, nesting + 1)
            return self.expression(self.condition(at + 1, nesting), end, nesting)
        if word == "try":
            return self.statement(at + 1, end, nesting)
        if word == "case" or (word == "default" and tokens[at + 1] == ":"):
            while at < end and tokens[at] != ":":
                at += 1
            return at + 1
        if word == "goto":
            self.sum += 1
        return self.expression(at, end, nesting)

    def branch(self, at: int, end: int, nesting: int, cost: int) -> int:
        """`if` and all that belongs to it."""
        self.sum += cost
        at += 1
        if self.tokens[at] == "constexpr":
            at += 1
        at = self.statement(self.condition(at, nesting), end, nesting + 1)
        if self.tokens[at] != "else" or at >= end:
            return at
        if self.tokens[at + 1] == "if":
            return self.branch(at + 1, end, nesting, 1)
        self.sum += 1
        return self.statement(at + 1, end, nesting + 1)

    def condition(self, at: int, nesting: int) -> int:
        if self.tokens[at] != "(":
            return at
        end = self.tokens.after(at)
        inner = at + 1
        while inner < end - 1:
            inner = self.expression(inner, end - 1, nesting)
        return end

    def expression(self, at: int, end: int, nesting: int) -> int:
        """To the next `;`, or to `end`; the place behind it."""
        tokens = self.tokens
        last, has_or, open_questions = "", False, 0
        while at < end:
            word = tokens[at]
            if word in (";", ",") or (word == ":" and open_questions == 0):
                last, has_or, open_questions = "", False, 0
                if word == ";":
                    return at + 1
            elif word in ("&&", "||") and tokens.has_blank_before[at]:
                if (word == "||" and not has_or) or (word == "&&" and last != "&&"):
                    self.sum += 1
                last, has_or = word, has_or or word == "||"
            elif word == "?":
                self.sum += 1 + nesting + open_questions
                open_questions += 1
            elif word.startswith("SORREL_") and tokens[at + 1] == "(":
                at = tokens.after(at + 1)
                continue
            elif word in CLOSING:
                at = self.bracket(at, nesting)
                continue
            at += 1
        return end

    def bracket(self, at: int, nesting: int) -> int:
        tokens = self.tokens
        close = tokens.after(at) - 1
        is_lambda = tokens[at] == "{" and self.is_lambda_body(at)
        inner = at + 1
        if tokens[at] == "{":
            self.block(inner, close, nesting + is_lambda)
        else:
            while inner < close:
                inner = self.expression(inner, close, nesting)
        return close + 1

    def is_lambda_body(self, at: int) -> bool:
        """Behind [...], with or without parameters and what may stand between them and the body."""
        tokens = self.tokens
        while at > 0:
            at -= 1
            if tokens[at] in (")", "]"):
                opening = tokens.openings.get(at, 0)
                if tokens[at] == "]":
                    return not re.fullmatch(r"\w+|\)|\]", tokens[opening - 1]) or tokens[opening - 1] == "return"
                if tokens[opening - 1] == "]" or tokens[opening - 1] == ">":
                    at = opening
                    continue
                return False
            if not re.fullmatch(r"\w+|::|->|[<>*&,]", tokens[at]) or tokens[at] == "return":
                return False
        return False


def functions_of(path: str, text: str) -> list[Function]:
    tokens = Tokens(text)
    found: list[Function] = []

    def read_scope(at: int, end: int) -> None:
        head = at
        while at < end:
            word = tokens[at]
            if word == ";" or (word == ":" and tokens[at - 1] in ("public", "private", "protected")):
                head = at + 1
            elif word in ("(", "["):
                at = tokens.after(at)
                continue
            elif word == "{":
                after = tokens.after(at)
                if is_member_initialiser(head, at) or "=" in heads(head, at):
                    at = after
                    continue
                if SCOPES & set(heads(head, at)) and name_at(head, at) is None or tokens[at - 1] == '""':
                    read_scope(at + 1, after - 1)
                elif (name := name_at(head, at)) is not None:
                    complexity = Complexity(tokens)
                    complexity.block(at + 1, after - 1, 0)
                    first = tokens.line(name)
                    found.append(Function(path, first, tokens[name], tokens.line(after - 1) - first + 1, complexity.sum))
                head = at = after
                continue
            at += 1

    def heads(head: int, at: int) -> list[str]:
        """The words from `head`, without what is in brackets."""
        words = []
        while head < at:
            words.append(tokens[head])
            head = tokens.after(head) if tokens[head] in CLOSING else head + 1
        return words

    def name_at(head: int, at: int) -> int | None:
        """The place of the name in front of the parameters, if what begins at `head` is a function."""
        while head < at:
            if tokens[head] == "(" and not NO_NAME.fullmatch(tokens[head - 1]):
                return head - 1
            head = tokens.after(head) if tokens[head] in CLOSING else head + 1
        return None

    def is_member_initialiser(head: int, at: int) -> bool:
        name = name_at(head, at)
        if name is None or ":" not in heads(name + 1, at):
            return False
        return bool(re.fullmatch(r"\w+|>", tokens[at - 1])) and tokens[at - 1] not in ("const", "noexcept", "override")

    read_scope(0, len(tokens.words))
    return found


def limits_of(root: pathlib.Path) -> tuple[int, int]:
    """Lines, complexity."""
    found = dict(LIMIT.findall((root / ".clang-tidy").read_text(encoding="utf-8")))
    return int(found["size.LineThreshold"]), int(found["cognitive-complexity.Threshold"])


def functions_below(root: pathlib.Path) -> list[Function]:
    found = []
    for folder in ("src", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_ENDINGS:
                found += functions_of(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    return found


def check(root: pathlib.Path) -> list[str]:
    lines_max, complexity_max = limits_of(root)
    faults = []
    for function in functions_below(root):
        place = f"{function.path}:{function.line}: {function.name}()"
        if function.lines > lines_max:
            faults.append(f"{place} has {function.lines} lines, at most {lines_max} are allowed")
        if function.complexity > complexity_max:
            faults.append(f"{place} has complexity {function.complexity}, at most {complexity_max} is allowed")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longest", type=int, default=0, metavar="N")
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    options = parser.parse_args()
    if options.longest:
        functions = functions_below(options.root)
        for key in ("lines", "complexity"):
            for function in sorted(functions, key=lambda one: -getattr(one, key))[: options.longest]:
                print(f"{getattr(function, key):4} {key} {function.path}:{function.line}: {function.name}()")
        return 0
    faults = check(options.root)
    print(*(faults or ["functions: none is longer or more complex than .clang-tidy allows"]), sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
