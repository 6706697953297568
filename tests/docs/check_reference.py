#!/usr/bin/env python3
"""check_reference.py SOURCES

The reference pages follow the sources:
- each message that docs/reference/messages.md quotes in the first column of a table is a text of the sources, with anything in the place of `...`;
- docs/reference/commands.md has the commands of tools/sorrel/main.cpp, and no others;
- docs/processes.md has a row with each option of `sorrel run`, for jobs under a host MPI;
- docs/settings.md has each variable SORREL_... that sources ask the environment for, but those of a job and of tests.
"""
import pathlib
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
FORMAT = re.compile(r"%[-+ #0-9.*]*(?:ll|[lhz])*[diuxsfgc]|\{[^{}]*\}")
VARIABLE = re.compile(r'"(SORREL_[A-Z_]+)"')
# Set by `sorrel run` for its processes and ranks (docs/wrappers.md); read by builds for measurements only.
INTERNAL = {"SORREL_JOB", "SORREL_RANK", "SORREL_SIZE", "SORREL_LOCAL_RANK", "SORREL_LOCAL_SIZE", "SORREL_MARK",
            "SORREL_STUDY_STEPS"}


def source_texts(sources: pathlib.Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for folder in ("src", "tools") for path in sorted((sources / folder).rglob("*"))
            if path.suffix in (".c", ".cpp", ".hpp", ".h")]


def literals(text: str) -> list[str]:
    """String literals, those that stand side by side joined, with `...` in the place of what is inserted."""
    return [FORMAT.sub("...", piece) for piece in LITERAL.findall(re.sub(r'"\s*\n?\s*"', "", text))]


def unknown_messages(page: str, texts: list[str]) -> list[str]:
    whole = "\n".join(texts)
    return [message for message in re.findall(r"^\| `([^`]+)` \|", page, re.M)
            if not re.search(r"[^\n]*".join(re.escape(part.strip()) for part in message.split("...") if part.strip()), whole)]


def command_differences(page: str, main: str) -> set[str]:
    table = main[main.index("constexpr Command commands[]"):]
    return set(re.findall(r'\{"(\w+)"', table[:table.index("};")])) ^ set(re.findall(r"^\| `(\w+)` \|", page, re.M))


def options_without_a_row(page: str, options: str) -> set[str]:
    """The options of tools/sorrel/run/run_options.cpp without a row below the heading "Options under a host MPI"."""
    section = page[page.index("### Options under a host MPI"):].split("\n#")[0]
    rows = "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    known = re.findall(r'add_(?:option|flag)\(\s*"([^"]+)"', options)
    return {name for name in known if f"`{name.split(',')[0]}`" not in rows}


def unnamed_variables(page: str, texts: list[str]) -> set[str]:
    return {name for text in texts for name in VARIABLE.findall(text)} - INTERNAL - set(re.findall(r"SORREL_[A-Z_]+", page))


def main() -> int:
    sources = pathlib.Path(sys.argv[1])
    docs = sources / "docs"
    texts = source_texts(sources)
    faults = [f"docs/reference/messages.md: no text of the sources is '{message}'" for message in unknown_messages(
        (docs / "reference/messages.md").read_text(encoding="utf-8"), [piece for text in texts for piece in literals(text)])]
    faults += [f"docs/reference/commands.md and tools/sorrel/main.cpp differ: {name}" for name in sorted(command_differences(
        (docs / "reference/commands.md").read_text(encoding="utf-8"), (sources / "tools/sorrel/main.cpp").read_text(encoding="utf-8")))]
    faults += [f"docs/processes.md has no row for {name} under a host MPI" for name in sorted(options_without_a_row(
        (docs / "processes.md").read_text(encoding="utf-8"), (sources / "tools/sorrel/run/run_options.cpp").read_text(encoding="utf-8")))]
    faults += [f"docs/settings.md lacks {name}" for name in sorted(unnamed_variables(
        (docs / "settings.md").read_text(encoding="utf-8"), texts))]
    print("\n".join(faults) or "the reference pages follow the sources")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
