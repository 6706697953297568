#!/usr/bin/env bash
# pages.sh SOURCES OUTPUT: makes the manual's pages; a warning is an error, and so is a public class without a description or a
# place in docs/api. 77 without doxygen, or Sphinx and its parts in .venv.
set -euo pipefail
cd "$1"
.venv/bin/python -c 'import breathe, furo, myst_parser, sphinx, sphinx_copybutton' 2>/dev/null && command -v doxygen >/dev/null ||
  { echo "no doxygen, or no Sphinx with its parts in .venv: ./dev docs installs them"; exit 77; }
export SORREL_API_XML=$2/xml
.venv/bin/python -m sphinx -W --keep-going -q -b html -c docs . "$2"
python3 -B tests/docs/check_api.py "$SORREL_API_XML" docs/api
test -s "$2/docs/quickstart.html"
grep -q 'docs/tutorials/find-a-race' "$2/searchindex.js"
