#!/usr/bin/env python3
"""created_files.py BUILD PAGE

Runs commands with the mask 0, and compares all files and folders that they have made with the table "Files that Sorrel creates" of the page: each
has a row, and no mode is wider than the row's. Each row that the commands cover must have been made.
"""
import fnmatch
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import time

BY_THE_MASK = {True: 0o777, False: 0o666}
# Rows of what takes long to make, or only exists on some machines, or under a home that is missing.
NOT_MADE = ("/tmp/", "/dev/shm", "~/.cache/sorrel", "$TMPDIR")


def fail(text):
    sys.exit(f"FAILED: {text}")


def rows_of(page, roots):
    """By pattern of a path: the mode in the table, or None for that of the mask."""
    rows = {}
    for line in page.split("\n## Files that Sorrel creates\n")[1].split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) < 3 or not re.fullmatch("mask|0[0-7]{3}", cells[2]):
            continue
        mode = None if cells[2] == "mask" else int(cells[2], 8)
        for pattern in re.findall(r"`([^` ]+)`", cells[0]):
            root = next((name for name in roots if pattern.startswith(name)), "")
            if not root and not pattern.startswith("/"):
                continue
            rows[str(roots.get(root, "")) + pattern[len(root):]] = (pattern, mode)
    return rows


def check(path, rows, seen):
    is_folder = path.is_dir() and not path.is_symlink()
    mode = stat.S_IMODE(path.lstat().st_mode)
    # `*` is one name.
    matching = [row for pattern, row in rows.items() if pattern.count("/") == str(path).count("/") and fnmatch.fnmatchcase(str(path), pattern)]
    if not matching:
        fail(f"no row has {path} (mode {mode:04o})")
    for pattern, allowed in matching:
        seen.add(pattern)
        if mode & ~(BY_THE_MASK[is_folder] if allowed is None else allowed):
            fail(f"{path} has the mode {mode:04o}; the row of {pattern} says {'mask' if allowed is None else oct(allowed)}")


def walk(folder, given, rows, seen):
    """All below the folder that did not exist before, or is made on the way to something else."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        try:
            if path not in given:
                check(path, rows, seen)
        except FileNotFoundError:
            # What a running command removes meanwhile is gone.
            continue


def main():
    build, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text()
    os.umask(0)
    with tempfile.TemporaryDirectory(prefix="sorrel-created-") as name:
        root = pathlib.Path(name)
        home, temporary, work = root / "home", root / "tmp", root / "work"
        for folder in (home, temporary, work):
            folder.mkdir(mode=0o700)
        roots = {"~": home, "$TMPDIR": temporary, "DIR": work / "save", "FILE": work / "file"}
        rows = rows_of(page, roots)
        # The way to what the rows name.
        on_the_way = {home / ".cache", home / ".local", home / ".local/state"}
        given = {home, temporary, work}
        kept = ("SORREL_", "XDG_", "LD_")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(kept)} | {"HOME": str(home), "TMPDIR": str(temporary)}
        sorrel, steps = str(build / "bin/sorrel"), str(build / "tests/checkpoint/steps")
        seen = set()

        def run(*words):
            done = subprocess.run([sorrel, *words], cwd=work, env=environment, capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                fail(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")

        def look():
            for folder in on_the_way:
                if folder.exists() and stat.S_IMODE(folder.stat().st_mode) & 0o077:
                    fail(f"{folder} has the mode {stat.S_IMODE(folder.stat().st_mode):04o}")
            walk(root, given | on_the_way, rows, seen)

        run("run", "-n", "4", "--procs", "2", "--checkpoint", "save", steps, "12", "4")
        look()
        run("restart", "save")
        run("restart", "--list", "save")
        run("run", "-n", "2", "--report-json", "file", "--profile", steps, "4", "100")
        run("run", "-n", "2", "--trace", "file", steps, "4", "100")
        run("info", steps)
        look()
        # While a job with each kind of temporary folder runs, and after its end.
        job = subprocess.Popen([sorrel, "run", "-n", "2", "--flight", "save", "--trace", "file", steps, "1000000", "10000000"], cwd=work, env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        job.stdout.readline()
        look()
        job.terminate()
        job.communicate()
        look()
        missing = [pattern for pattern, _ in rows.values() if pattern not in seen and not pattern.startswith(NOT_MADE)]
        if missing:
            fail(f"the commands have not made {', '.join(missing)}")


main()
