# The manual's web pages, by Sphinx; `./dev docs`. The sources are the Markdown files of the repository, whose root is Sphinx's.
import pathlib
import re

root = pathlib.Path(__file__).resolve().parent.parent
project = "Sorrel"
author = "The Sorrel developers"
release = version = re.search(r"project\(Sorrel VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "docs/index"
source_suffix = {".md": "markdown"}
include_patterns = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md",
                    "docs/**", "apps/**/README.md", "src/**/README.md", "tests/**/README.md", "bench/**/README.md"]
exclude_patterns = ["build", ".venv", ".git", "docs/conf.py", "docs/Doxyfile"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"Sorrel {release}"
html_static_path = []
