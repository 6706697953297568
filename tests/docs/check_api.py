#!/usr/bin/env python3
"""check_api.py XML PAGES: each class that Doxygen has found in the public headers has a description, and a place in one of the pages; each
public function of a class or a namespace has a description."""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

DIRECTIVE = re.compile(r"^```\{doxygen(?:class|struct)\} (\S+)$", re.M)


COMPARISONS = ("operator==", "operator!=")


def has_description(element: ElementTree.Element) -> bool:
    return any("".join(element.find(part).itertext()).strip() for part in ("briefdescription", "detaileddescription"))


def silent_functions(compound: ElementTree.Element) -> list[str]:
    """Public functions without a description, but for comparisons and what cannot be called."""
    return [
        member.findtext("name", "")
        for member in compound.iter("memberdef")
        if member.get("kind") == "function" and member.get("prot") == "public" and not has_description(member)
        and member.findtext("name", "") not in COMPARISONS and "=delete" not in member.findtext("argsstring", "").replace(" ", "")
    ]


def faults(xml: pathlib.Path, pages: pathlib.Path) -> list[str]:
    shown = [name for page in sorted(pages.glob("*.md")) for name in DIRECTIVE.findall(page.read_text(encoding="utf-8"))]
    found = []
    for compound in ElementTree.parse(xml / "index.xml").getroot():
        name = compound.findtext("name", "")
        outer = name.rpartition("::")[0]
        # C structures are part of their header's page.
        if compound.get("kind") not in ("class", "struct", "namespace") or (compound.get("kind") != "namespace" and "::" not in name):
            continue
        definition = ElementTree.parse(xml / f"{compound.get('refid')}.xml").find("compounddef")
        # A specialization is on the page of its template.
        if definition.get("prot") == "private" or "<" in name:
            continue
        found += [f"{name}::{function} has no description" for function in silent_functions(definition)]
        if compound.get("kind") == "namespace":
            continue
        if not has_description(definition):
            found.append(f"{name} has no description")
        if name not in shown and outer not in shown:
            found.append(f"{name} is on no page of {pages}")
    return found + [f"{name} is on several pages" for name in sorted({name for name in shown if shown.count(name) > 1})]


if __name__ == "__main__":
    problems = faults(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
