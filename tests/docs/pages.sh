#!/usr/bin/env bash
# pages.sh SOURCES OUTPUT: makes the manual's pages; a warning is an error. 77 without Sphinx and its parts in .venv.
set -euo pipefail
cd "$1"
.venv/bin/python -c 'import furo, myst_parser, sphinx, sphinx_copybutton' 2>/dev/null || { echo "no Sphinx in .venv: ./dev docs installs it"; exit 77; }
.venv/bin/python -m sphinx -W --keep-going -q -b html -c docs . "$2"
test -s "$2/docs/quickstart.html"
grep -q 'docs/tutorials/find-a-race' "$2/searchindex.js"
