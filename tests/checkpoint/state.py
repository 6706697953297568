#!/usr/bin/env python3
"""state.py SORREL STATE_PROGRAM PAGE

Walks the tables of docs/reference/saved-state.md: each function exists in the C library, each row has a case of state.c, and each case a
row; what goes along is right after a restart, what is refused gives its line, and what is not noticed keeps no job from being saved and is
afterwards as the page says.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Macros, variables of a thread, and functions that are linked into the program: no symbols of these names.
NOT_EXPORTED = {"errno", "h_errno", "sigsetjmp", "setjmp", "res_init", "atexit", "at_quick_exit", "pthread_atfork"}
# Rows of the third table without a case: what they have cannot be read, or is a time.
NOT_TRIED = {
    "clocks, of which the program keeps a value",
    "settings of the resolver",
    "settings of the heap, and records of it",
    "profiles",
}
# As names of constants and commands they need no symbol.
NO_FUNCTION = re.compile(r"[A-Z_0-9]+$|SYS_")


def rows_of(page, title):
    """The cells of each row of the table below the title."""
    section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def functions_of(cell):
    """The names in a cell that are those of functions: not of system calls, which have no function in the C library."""
    names = re.findall(r"`([^`]+)`", re.sub(r"system calls? [^;|]*", "", cell))
    return [name for name in names if not NO_FUNCTION.match(name)]


def fail(text):
    sys.exit(f"FAILED: {text}")


def check_names(rows):
    libraries = [ctypes.CDLL(name) for name in ("libc.so.6", "libm.so.6", "libresolv.so.2", "libcrypt.so.1") if can_be_loaded(name)]
    unknown = [name for row in rows for name in functions_of(row[-1] if len(row) < 3 else row[2])
               if name not in NOT_EXPORTED and not any(hasattr(library, name) for library in libraries)]
    if unknown:
        fail(f"the C library has no {', '.join(unknown)}")


def can_be_loaded(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


def row_of(rows, case):
    """The first row that names the case, by a name in code or by words between two commas."""
    return next((row for row in rows if any(case in re.findall(r"`([^`]+)`", cell) or case in re.split(r"[;,] ", cell) for cell in row[1:])), None)


def run(*words, expects=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, "TZ": "XST5XDT"})
    if done.returncode != expects:
        fail(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def check_cases(rows, cases):
    """Each row has a case, and each case a row."""
    unlisted = [case for case in cases if row_of(rows, case) is None]
    if unlisted:
        fail(f"no row has {', '.join(unlisted)}")
    without = [row[0] for row in rows if row[0] not in NOT_TRIED and not any(row_of(rows, case) is row for case in cases)]
    if without:
        fail(f"no case tries {'; '.join(without)}")


def check_restarted(sorrel, program, kind, cases, folder, count, options):
    """`count` of the three ranks enter the cases. Returns what the restarted job has printed."""
    save = f"{folder}/{kind}"
    first = run(sorrel, "run", "-n", "3", "--workers", "1", "--checkpoint", save, program, kind)
    again = run(sorrel, "restart", *options, "--workers", "1", save)
    for case in cases:
        if again.stdout.count(f"{case}: right\n") != count:
            fail(f"{case} is not as the page says ({kind}):\n{first.stderr}{again.stdout}{again.stderr}")
    return again.stdout


def check_refused(sorrel, program, rows, cases, folder):
    catalog = pathlib.Path(folder, "state.msg")
    catalog.write_text("$set 1\n1 a message\n")
    run("gencat", f"{folder}/state.cat", str(catalog))
    done = run(sorrel, "run", "-n", str(len(cases)), "--workers", "1", "--checkpoint", f"{folder}/refused", program, "refused", folder)
    lines = done.stderr.splitlines()
    impossible = set(re.findall("(?m)^impossible here: (.*)$", done.stdout))
    if impossible:
        print(f"not tried, since this system has or permits none: {', '.join(sorted(impossible))}")
    cases = [case for case in cases if case not in impossible]
    if len(lines) != len(cases):
        fail(f"{len(lines)} lines, not {len(cases)}:\n{done.stderr}")
    for case, line in zip(reversed(cases), lines):
        text = row_of(rows, case)[1].split("`")[1]
        if not re.search(f"no checkpoint, and the job goes on: .*{text}", line):
            fail(f"{case}: '{line}' does not match '{text}'")


def check_ended(sorrel, program, folder):
    done = run(sorrel, "run", "-n", "1", "--checkpoint", f"{folder}/ended", program, "ended", folder)
    if done.stderr:
        fail(f"a state that has ended keeps the job from being saved:\n{done.stderr}")


def main():
    sorrel, program, page = sys.argv[1:]
    text = pathlib.Path(page).read_text()
    tables = {title: rows_of(text, title) for title in ("Goes along", "Keeps the job from being saved", "Not noticed")}
    kept, refused = tables["Goes along"], tables["Keeps the job from being saved"]
    check_names(kept + refused)
    check_names([row[:2] for row in tables["Not noticed"]])
    listed = run(sorrel, "run", "-n", "1", program, "list").stdout.splitlines()
    cases = {kind: [line.split(" ", 1)[1] for line in listed if line.startswith(kind)] for kind in ("kept", "refused", "unnoticed")}
    check_cases(kept, cases["kept"])
    check_cases(refused, cases["refused"])
    check_cases(tables["Not noticed"], cases["unnoticed"])
    with tempfile.TemporaryDirectory() as folder:
        # In two processes, so that no rank finds what another one has in its memory.
        printed = check_restarted(sorrel, program, "kept", cases["kept"], folder, 3, ["--procs", "2"])
        if printed.count("handler of atexit\n") != 3:
            fail("the handlers of atexit do not go along")
        check_restarted(sorrel, program, "unnoticed", cases["unnoticed"], folder, 1, [])
        check_refused(sorrel, program, refused, cases["refused"], folder)
        check_ended(sorrel, program, folder)


main()
