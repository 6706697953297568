"""Pages of `sorrel bench`: one HTML file, whose pictures are inside it."""

import base64
import html
import pathlib
from collections.abc import Mapping

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5em; border-top: 2px solid #ddd; padding-top: 1em; }
table { border-collapse: collapse; margin: 0.5em 0 1em; font-size: 14px; } caption { text-align: left; font-weight: bold; padding: 0.3em 0; }
th, td { padding: 0.25em 0.7em; border-bottom: 1px solid #e2e2e2; text-align: right; } th:first-child, td:first-child { text-align: left; }
.interval { color: #666; font-size: 12px; } .flag { color: #b00020; font-weight: bold; }
.text td, .text th { text-align: left; } .holds { color: #14703a; } .fails { color: #b00020; } .open { color: #7a5c00; }
.note, .source { color: #555; } img { max-width: 100%; }
"""
MACHINE_ROWS = {
    "processor": "Processor", "cpus": "CPUs", "cpus_allowed": "CPUs used", "is_virtual": "Virtual machine", "governor": "Frequency governor",
    "memory_kib": "Memory, KiB", "kernel": "Linux", "system": "System", "compiler": "Compiler", "date": "Begin", "load_before": "Load before",
    "load_after": "Load after", "other_work": "Other work during the runs, share of the machine",
}  # fmt: skip


def _text(value: object) -> str:
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return html.escape(f"{value:.3g}" if isinstance(value, float) else str(value))


def image(title: str, svg: pathlib.Path) -> str:
    data = base64.b64encode(svg.read_bytes()).decode("ascii")
    return f'<h3>{html.escape(title)}</h3><img alt="{html.escape(title)}" src="data:image/svg+xml;base64,{data}">'


def document(title: str, begin: str, machine: Mapping, body: str) -> str:
    """A page: its title, how it came about, the machine, and the rest."""
    facts = "".join(f"<tr><td>{name}</td><td>{_text(machine[key])}</td></tr>" for key, name in MACHINE_ROWS.items() if key in machine)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style></head>'
        f'<body><h1>{html.escape(title)}</h1>{begin}<table class="text"><caption>The machine</caption>{facts}</table>\n{body}</body></html>\n'
    )
