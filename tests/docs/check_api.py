#!/usr/bin/env python3
"""check_api.py XML PAGES

What Doxygen has found in the public headers is described:

- each class has a description, and a place in one of the pages; each function of a namespace has such a place, by its name;
- each public function of a class, of a namespace or of C has a description, which names each parameter (`@param`), says what is returned (`@return`), and has
  `@throws` where it mentions that something is thrown;
- a constructor with parameters and a variable of a structure, too.

Comparisons, and functions that cannot be called, need none of this.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

DIRECTIVE = re.compile(r"^```\{doxygen(?:class|struct)\} (\S+)$", re.M)
FUNCTION_DIRECTIVE = re.compile(r"^```\{doxygenfunction\} ([\w:]+)", re.M)


COMPARISONS = ("operator==", "operator!=")


def has_description(element: ElementTree.Element) -> bool:
    return any("".join(part.itertext()).strip() for part in element if part.tag in ("briefdescription", "detaileddescription"))


def described(member: ElementTree.Element, kind: str) -> set[str]:
    """The names in a list of parameters (`param`) or exceptions (`exception`) of a description."""
    return {"".join(name.itertext()).strip() for names in member.iter("parameterlist") if names.get("kind") == kind for name in names.iter("parametername")}


def member_faults(member: ElementTree.Element) -> list[str]:
    name = member.findtext("name", "")
    if not has_description(member):
        return [f"{name} has no description"]
    if member.get("kind") == "variable":
        return []
    found = []
    parameters = [parameter.findtext("declname") for parameter in member.iterfind("param")]
    found += [f"{name} does not describe {parameter}" for parameter in parameters if parameter and parameter not in described(member, "param")]
    type_element = member.find("type")
    returned = "".join(type_element.itertext()).split() if type_element is not None else []
    returned = [word for word in returned if word not in ("constexpr", "inline", "static", "virtual", "friend", "[[nodiscard]]")]
    if returned and returned != ["void"] and not any(section.get("kind") == "return" for section in member.iter("simplesect")):
        found.append(f"{name} does not say what it returns")
    text = " ".join("".join(part.itertext()) for part in member if part.tag.endswith("description"))
    if re.search(r"\b[Tt]hrows?\b|GraphError", text) and not described(member, "exception") and "may throw" not in text:
        found.append(f"{name} throws without @throws")
    return found


def faults_of_members(compound: ElementTree.Element) -> list[str]:
    """Faults of public functions and variables, but for comparisons and what cannot be called."""
    return [
        fault
        for member in compound.iter("memberdef")
        if member.get("kind") in ("function", "variable") and member.get("prot") == "public"
        and member.findtext("name", "") not in COMPARISONS and "=delete" not in member.findtext("argsstring", "").replace(" ", "")
        for fault in member_faults(member)
    ]


def functions_of(namespace: ElementTree.Element, name: str) -> set[str]:
    functions = (member.findtext("name", "") for member in namespace.iter("memberdef") if member.get("kind") == "function")
    return {f"{name}::{function}" for function in functions if not function.startswith("operator")}


def faults(xml: pathlib.Path, pages: pathlib.Path) -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in sorted(pages.glob("*.md"))]
    shown = [name for text in texts for name in DIRECTIVE.findall(text)]
    shown_functions = {name for text in texts for name in FUNCTION_DIRECTIVE.findall(text)}
    found = []
    for compound in ElementTree.parse(xml / "index.xml").getroot():
        name = compound.findtext("name", "")
        outer = name.rpartition("::")[0]
        # C structures are part of their header's page.
        # Files hold the functions of C.
        in_c = compound.get("kind") == "file" and name.endswith(".h")
        if not in_c and (compound.get("kind") not in ("class", "struct", "namespace") or (compound.get("kind") != "namespace" and "::" not in name)):
            continue
        definition = ElementTree.parse(xml / f"{compound.get('refid')}.xml").find("compounddef")
        # A specialization is on the page of its template.
        if definition.get("prot") == "private" or "<" in name:
            continue
        found += [f"{name}::{fault}" for fault in faults_of_members(definition)]
        if compound.get("kind") == "namespace":
            found += [f"{function} is on no page of {pages}" for function in sorted(functions_of(definition, name) - shown_functions)]
        if in_c or compound.get("kind") == "namespace":
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
