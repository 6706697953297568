#!/usr/bin/env python3
"""wrong_use.py INCLUDE FILE COMPILER...: a wrong use of a public template does not compile, and the first error, or a note that
belongs to it, says what is allowed: the text in the first line of FILE, a comment. A second such line may have options of the compiler."""
import pathlib
import subprocess
import sys


def first_error(text: str) -> str:
    """The first error with what follows it, up to the next one."""
    before, error, rest = text.partition("error:")
    if not error:
        return "no error"
    return before.rpartition("\n")[2] + error + rest.partition("error:")[0]


def main() -> int:
    include, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lines = source.read_text(encoding="utf-8").splitlines()
    expected = lines[0].removeprefix("// ")
    options = lines[1].removeprefix("// ").split() if lines[1].startswith("// -") else []
    status = 0
    for compiler in sys.argv[3:]:
        command = [compiler, "-std=c++20", *options, "-fsyntax-only", "-fno-diagnostics-color", f"-I{include}", str(source)]
        run = subprocess.run(command, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, check=False)
        found = first_error(run.stderr)
        if run.returncode == 0 or expected not in found:
            print(f"{compiler}: expected the first error to contain:\n  {expected}\nfound:\n  {found}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
