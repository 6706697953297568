# The manual's web pages, by Sphinx; `./dev docs`. The sources are the Markdown files of the repository, whose root is Sphinx's.
import os
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent
project = "Sorrel"
author = "The Sorrel developers"
copyright = f"2026, {author}"
release = version = re.search(r"project\(Sorrel VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx_copybutton", "breathe"]
root_doc = "docs/index"
source_suffix = {".md": "markdown"}
include_patterns = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md",
                    "docs/**", "apps/**/README.md", "src/**/README.md", "tests/README.md", "tests/**/README.md", "bench/**/README.md"]
exclude_patterns = ["build", ".venv", ".git", "docs/conf.py", "docs/Doxyfile"]

# The API pages: Doxygen reads the public headers, Breathe shows what it has found.
xml = pathlib.Path(os.environ.get("SORREL_API_XML", root / "build" / "docs" / "xml"))
xml.mkdir(parents=True, exist_ok=True)
settings = (root / "docs" / "Doxyfile").read_text() + f'OUTPUT_DIRECTORY = "{xml}"\n'
subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=root, check=True)
breathe_projects = {"sorrel": str(xml)}
breathe_default_project = "sorrel"
breathe_default_members = ("members", "undoc-members")

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"Sorrel {release}"
html_static_path = ["static"]
html_css_files = ["manual.css"]
