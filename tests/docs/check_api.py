#!/usr/bin/env python3
"""check_api.py XML PAGES: each class that Doxygen has found in the public headers has a description, and a place in one of the pages."""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

DIRECTIVE = re.compile(r"^```\{doxygen(?:class|struct)\} (\S+)$", re.M)


def faults(xml: pathlib.Path, pages: pathlib.Path) -> list[str]:
    shown = [name for page in sorted(pages.glob("*.md")) for name in DIRECTIVE.findall(page.read_text(encoding="utf-8"))]
    found = []
    for compound in ElementTree.parse(xml / "index.xml").getroot():
        name = compound.findtext("name", "")
        outer = name.rpartition("::")[0]
        # C structures are part of their header's page.
        if compound.get("kind") not in ("class", "struct") or "::" not in name:
            continue
        definition = ElementTree.parse(xml / f"{compound.get('refid')}.xml").find("compounddef")
        if not any("".join(definition.find(part).itertext()).strip() for part in ("briefdescription", "detaileddescription")):
            found.append(f"{name} has no description")
        if name not in shown and outer not in shown:
            found.append(f"{name} is on no page of {pages}")
    return found + [f"{name} is on several pages" for name in sorted({name for name in shown if shown.count(name) > 1})]


if __name__ == "__main__":
    problems = faults(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
