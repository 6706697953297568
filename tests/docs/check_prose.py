#!/usr/bin/env python3
"""check_prose.py PAGE...

Spelling by codespell, and prose by proselint, in the text of Markdown pages: without code, addresses and comments. Quotation marks, dots and the like are those
of the keyboard, so proselint's typography is off. Exit status 1 for findings, 77 without codespell and proselint of PyPI.
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Correct words that codespell takes for wrong ones: names, and terms of the field.
WORDS = "inout,mattern,statics,namd"
# It prefers "allocable", which is not Fortran's word.
WRONG_CHECKS = {"spelling.able_atable"}
CONFIG = {"max_errors": 10000, "checks": {"typography": False, "restricted": False, "annotations": False}}


def text_of(page: str) -> str:
    """The page with its lines, without code, and with punctuation in the place of markup and numbers."""
    page = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), page, flags=re.M | re.S)
    page = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), page, flags=re.S)
    page = re.sub(r"(``?)[^`]+\1", lambda code: "(code)" + "\n" * code[0].count("\n"), page)
    page = re.sub(r"\]\([^)\s]*\)", "]", page)
    page = re.sub(r"<?https?://\S+", "", page)
    page = re.sub(r"^#+ (.*)$", r"\1.", page, flags=re.M)
    page = re.sub(r"\d[\d.,:]*( x)?", ";", page)
    return re.sub(r"[|*\[\]]", ";", page)


def copies_of(texts: dict[str, str], folder: pathlib.Path) -> dict[str, str]:
    """Writes each text into a file, so that one start of a linter reads them all; the pages, by the names of the files."""
    copies = {}
    for number, (page, text) in enumerate(texts.items()):
        copy = folder.resolve() / f"{number}.md"
        copy.write_text(text, encoding="utf-8")
        copies[str(copy)] = page
    return copies


def prose_findings(texts: dict[str, str], folder: pathlib.Path) -> list[str]:
    """The findings of proselint, as page:line: finding."""
    config = folder / "proselint.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    copies = copies_of(texts, folder)
    said = subprocess.run([sys.executable, "-m", "proselint", "check", "--config", str(config), "-o", "json", *copies],
                          capture_output=True, text=True)
    results = json.loads(said.stdout)["result"]
    found = []
    for copy, page in copies.items():
        found += [f"{page}:{one['pos'][0]}: {one['check_path']}: {one['message']}" for one in results[f"file://{copy}"]["diagnostics"]
                  if one["check_path"] not in WRONG_CHECKS]
    return found


def misspelt(texts: dict[str, str], folder: pathlib.Path) -> list[str]:
    """The findings of codespell, as page:line: finding."""
    copies = copies_of(texts, folder)
    said = subprocess.run([sys.executable, "-m", "codespell_lib", "-L", WORDS, *copies], capture_output=True, text=True).stdout
    return [copies[line.split(":")[0]] + line[line.index(":"):] for line in said.splitlines()]


def main(pages: list[str]) -> int:
    if not importlib.util.find_spec("proselint") or not importlib.util.find_spec("codespell_lib"):
        print("no proselint and codespell (PyPI): prose is not checked")
        return 77
    texts = {page: text_of(pathlib.Path(page).read_text(encoding="utf-8")) for page in pages}
    with tempfile.TemporaryDirectory() as name:
        found = misspelt(texts, pathlib.Path(name)) + prose_findings(texts, pathlib.Path(name))
    print("\n".join(found) or f"prose: nothing found in {len(pages)} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
