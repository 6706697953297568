"""Reads the testlists of MPICH's suite: one entry in a line, `program ranks key=value ...`."""
import os
import re

from entry import Entry, Rule

SUITE = "mpich"
MEMORY_GB = 4.0         # upstream's default: entries that ask for more are not run
RANKS_DEFAULT = 2       # upstream's
TIME_LIMIT_S = 180.0    # upstream's
FOLDERS_SKIPPED = {"cxx": "the C++ bindings were removed in MPI-3.0"}


def _reason_not_to_run(options):
    """Why an entry with these keys is not run, or ''. The same reasons as upstream's with --enable-strictmpi."""
    if options.get("strict", "").lower() == "false":
        return "tests an extension of the standard (strict=false)"
    if "hasgpu" in options:
        return "needs a GPU"
    if "xfail" in options:
        return "upstream expects it to fail (xfail)"
    if float(options.get("mem", 0)) > MEMORY_GB:
        return f"asks for {options['mem']} GB of memory"
    return ""


def parse_line(line, chapter, folder):
    """The entry of a line, or None for a comment, a directive or an entry that the configuration has disabled."""
    words = re.sub(r"#.*", "", line).split()
    if not words or words[0].startswith(("!", "@")):
        return None
    ranks, options, arguments, environment = RANKS_DEFAULT, {}, [], []
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals:
            ranks = int(word) if word.isdigit() else ranks
        elif key == "arg":
            arguments.append(value)
        elif key == "env":
            environment.append(value)
        else:
            options[key] = value
    where, program = os.path.split(words[0])
    return Entry(suite=SUITE, chapter=chapter, folder=os.path.normpath(os.path.join(folder, where)), program=program, ranks=ranks,
                 arguments=tuple(arguments), environment=tuple(environment), rule=Rule(options.get("resultTest", Rule.NORMAL.value)),
                 time_limit_s=float(options.get("timeLimit", TIME_LIMIT_S)),
                 not_applicable=FOLDERS_SKIPPED.get(chapter) or _reason_not_to_run(options))


def _find(source, build, folder):
    """The testlist of a folder: what configure has written, else the suite's own."""
    for candidate in (os.path.join(build, folder, "testlist"), os.path.join(source, folder, "testlist"),
                      os.path.join(source, folder, "testlist.in")):
        if os.path.exists(candidate):
            return candidate
    return None


def programs_of_makefile(text):
    """The programs that an automake makefile builds."""
    found = re.search(r"^noinst_PROGRAMS\s*=\s*(.*)$", text.replace("\\\n", " "), re.M)
    return [word for word in found[1].split() if not word.startswith("$")] if found else []


def read_testlist(source, build, chapter, folder=None):
    """Yields the entries of a folder and of the folders that its testlist names.

    A folder without a testlist has an entry for each program, with two ranks, judged by its exit status.
    """
    folder = folder or chapter
    path = _find(source, build, folder)
    if path is None:
        makefile = os.path.join(source, folder, "Makefile.am")
        if os.path.exists(makefile):
            with open(makefile, encoding="utf-8", errors="replace") as file:
                for program in programs_of_makefile(file.read()):
                    yield Entry(suite=SUITE, chapter=chapter, folder=folder, program=program, ranks=RANKS_DEFAULT, rule=Rule.BENCH)
        return
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            entry = parse_line(line, chapter, folder)
            if entry is None:
                continue
            inner = os.path.join(entry.folder, entry.program)
            if os.path.isdir(os.path.join(source, inner)):
                yield from read_testlist(source, build, chapter, inner)
            else:
                yield entry
