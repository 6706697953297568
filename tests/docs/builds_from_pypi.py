#!/usr/bin/env python3
"""Exit status 0 if extension modules can be built here from packages of PyPI: it can be reached, and the headers of Python are installed."""
import pathlib
import subprocess
import sys
import sysconfig

if __name__ == "__main__":
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        sys.exit("no headers of Python")
    asked = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "0", "--timeout", "5", "--dest", "pypi", "wheel"],
                           capture_output=True, text=True, check=False)
    sys.exit(0 if asked.returncode == 0 else "PyPI cannot be reached")
