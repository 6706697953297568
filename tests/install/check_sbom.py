#!/usr/bin/env python3
"""check_sbom.py PREFIX

The list of parts of an installation, share/sorrel/sorrel.cdx.json: valid CycloneDX, of this version of Sorrel, with the libraries that are always compiled in,
each with version and license. Exit status 77 without cyclonedx-python-lib and jsonschema of PyPI.
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema  # noqa: F401  the validator needs it
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
except ImportError as missing:
    print(f"{missing}: skipped")
    sys.exit(77)

prefix = pathlib.Path(sys.argv[1])
text = (prefix / "share/sorrel/sorrel.cdx.json").read_text(encoding="utf-8")
fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
if fault:
    sys.exit(f"not valid: {fault}")

parts = json.loads(text)
version = subprocess.run([prefix / "bin/sorrel", "--version"], capture_output=True, text=True, check=True).stdout.split()[1].rstrip(",")
if parts["metadata"]["component"]["version"] != version:
    sys.exit(f"version {parts['metadata']['component']['version']}, the command has {version}")
components = {component["name"]: component for component in parts["components"]}
for name in ("CLI11", "fmt", "nlohmann_json", "libstdc++"):
    if not components.get(name, {}).get("version") or not components[name].get("licenses"):
        sys.exit(f"no component {name} with version and license")
print(f"{len(components)} parts: {', '.join(components)}")
