#!/usr/bin/env python3
"""Report private names that two sources of a folder share, which break builds that compile a folder's sources together.

    check_private_names.py [ROOT]

`./dev install`, `./dev demo` and `./dev release` compile up to sixteen sources of a folder as one (cmake/SorrelModule.cmake). There, two
definitions of a name in an anonymous namespace, or of a static function, are one definition too many. Functions whose parameters differ
in number or type are overloads, and may share a name. Exempt are the sources and modules that such builds compile alone: SORREL_ALONE,
and the sources with SKIP_UNITY_BUILD_INCLUSION. Prints one line for each pair; exit status 1 if there is any.
"""

import dataclasses
import pathlib
import re
import sys
from collections.abc import Iterator

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((.*?)\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)\s*$")
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\s*\([^)]*\)\s*)?(\w+)\b(?!.*\()")
ALIAS = re.compile(r"^(?:template\s*<.*>\s*)?using\s+(\w+)\s*(=.*)")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|\{|$)")
POINTER = re.compile(r"^[\w:<>\s*&]+\(\s*\*\s*(\w+)\s*\)\s*\(")
DECLARATION = re.compile(r"^(?:struct|class|union|enum)\s+\w+$")
FUNCTION = re.compile(r"(\w+)\s*\(")


@dataclasses.dataclass(frozen=True)
class Name:
    """A private name of a namespace. Two with one `form` may stand in one source if this is an alias's, two with different ones if both
    are functions'."""

    namespace: str
    text: str
    form: str  # the types of a function's parameters, "= TYPE" of an alias, "" of anything else


def clash(a: Name, b: Name) -> bool:
    if a.form.startswith("=") or b.form.startswith("="):
        return a.form != b.form
    return a.form == b.form or not (a.form.startswith("(") and b.form.startswith("("))


def _blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _parameters(text: str) -> str:
    """The types in a list of parameters that begins behind the bracket; names and defaults left out."""
    depth, begin, found = 1, 0, []
    for i, letter in enumerate(text):
        if letter in "(<[{":
            depth += 1
        elif letter in ")>]}" and text[i - 1] != "-":
            depth -= 1
        if depth == 0 or (depth == 1 and letter == ","):
            found.append(text[begin:i])
            begin = i + 1
        if depth == 0:
            break
    types = (re.sub(r"=.*", "", part, flags=re.DOTALL).strip() for part in found)
    types = (re.sub(r"(?<=[\w&*>\]])\s*\b(?!const\b)\w+$", "", part) if re.search(r"[\s&*>]\w+$", part) else part for part in types)
    return ",".join(re.sub(r"\s+", "", part) for part in types)


def _name_of(head: str, namespace: str) -> Name | None:
    """What a declaration names, from its text up to its body or its end."""
    head = re.sub(r"\[\[.*?\]\]", " ", head, flags=re.DOTALL)
    head = re.sub(r"\b(?:alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)", " ", head)
    head = " ".join(head.split())
    if not head or head.startswith(("namespace", "friend", "static_assert", "using namespace", "extern", "asm", "template <>")):
        return None
    if match := ALIAS.match(head):
        return Name(namespace, match[1], match[2])
    if match := TYPE.match(head):
        return Name(namespace, match[1], "")
    if head.startswith("using"):
        return None
    if match := POINTER.search(head):
        return Name(namespace, match[1], "")
    value = head.find("=")
    call = FUNCTION.search(head)
    if call and (value < 0 or call.start() < value or "operator" in head):
        if re.search(r"::\s*$", head[: call.start()]) or call[1] in ("operator", "decltype", "noexcept", "requires"):
            return None  # a member, which its class makes unique
        return Name(namespace, call[1], "(" + _parameters(head[call.end() :]))
    match = VARIABLE.search(head)
    return Name(namespace, match[1], "") if match else None


def private_names(text: str) -> Iterator[Name]:
    """The names that a source defines in anonymous namespaces, and its static functions and variables."""
    text = DIRECTIVE.sub(_blank, COMMENT_OR_TEXT.sub(_blank, text))
    spaces: list[str] = []
    begin = i = 0
    while i < len(text):
        letter = text[i]
        if letter == "(":
            i = _end_of(text, i, "()")
            continue
        elif letter == "{":
            head = text[begin:i].strip()
            if match := NAMESPACE.search(head):
                spaces.append(match[1] or "(anonymous)")
                begin = i + 1
            elif "=" in head and not FUNCTION.search(head[: head.find("=")]):
                i = _end_of(text, i, "{}")  # a part of an initial value
                continue
            else:
                end = _end_of(text, i, "{}")
                yield from _found(head, spaces)
                # A declaration goes on behind the braces of an initial value or a type, up to a semicolon.
                rest = re.match(r"\s*(?:;|(?=\S))", text[end:])
                i = begin = end + (rest.end() if rest else 0)
                continue
        elif letter == "}":
            if spaces:
                spaces.pop()
            begin = i + 1
        elif letter == ";":
            head = text[begin:i].strip()
            if not DECLARATION.match(head) and ("=" in head or POINTER.match(head) or not FUNCTION.search(head)):
                yield from _found(head, spaces)
            begin = i + 1
        i += 1


def _found(head: str, spaces: list[str]) -> Iterator[Name]:
    if "(anonymous)" not in spaces and not re.match(r"(?:\[\[.*?\]\]\s*)?(?:constexpr\s+|inline\s+)*static\b", head):
        return
    if name := _name_of(head, "::".join(spaces)):
        yield name


def _end_of(text: str, begin: int, brackets: str) -> int:
    """The place behind the bracket that closes the one at `begin`."""
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] == brackets[0]) - (text[i] == brackets[1])
        if depth == 0:
            return i + 1
    return len(text)


def compiled_alone(root: pathlib.Path) -> tuple[set[str], set[str]]:
    """The modules below src/ of SORREL_ALONE, and the sources that have SKIP_UNITY_BUILD_INCLUSION, as paths from the root."""
    modules: set[str] = set()
    sources: set[str] = set()
    for folder in ("src", "tools/sorrel"):
        file = root / folder / "CMakeLists.txt"
        text = re.sub(r"#[^\n]*", "", file.read_text(encoding="utf-8")) if file.is_file() else ""
        lists = {name: words.split() for name, words in re.findall(r"\bset\((\w+)\s+([^)]*)\)", text)}
        modules.update(lists.get("SORREL_ALONE", []))
        for words in re.findall(r"set_source_files_properties\(([^)]*SKIP_UNITY_BUILD_INCLUSION ON[^)]*)\)", text):
            for word in words.split():
                names = lists.get(word[2:-1], []) if word.startswith("${") else [word]
                sources.update(f"{folder}/{name.removesuffix('.cpp')}.cpp" for name in names)
        for pattern, kept in re.findall(r"file\(GLOB \w+ CONFIGURE_DEPENDS ([\w/*.]+)\)\s*list\(FILTER \w+ EXCLUDE REGEX \"([^\"]*)\"\)", text):
            sources.update(path for path in (found.relative_to(root).as_posix() for found in (root / folder).glob(pattern)) if not re.search(kept, path))
    return modules, sources


def check(root: pathlib.Path) -> list[str]:
    modules, alone = compiled_alone(root)
    faults = []
    known: dict[tuple[str, str, str], list[tuple[str, Name]]] = {}
    for path in sorted([*root.glob("src/**/*.cpp"), *root.glob("tools/sorrel/**/*.cpp")]):
        place = path.relative_to(root).as_posix()
        if place in alone or any(place.startswith(f"src/{module}/") for module in modules):
            continue
        for name in set(private_names(path.read_text(encoding="utf-8"))):
            others = known.setdefault((path.parent.as_posix(), name.namespace, name.text), [])
            for other, earlier in others:
                if other != place and clash(name, earlier):
                    faults.append(f"{place}: {name.text} is private in {other}, too, and both are compiled as one source by ./dev install: name them apart")
            others.append((place, name))
    return faults


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    faults = check(root)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
