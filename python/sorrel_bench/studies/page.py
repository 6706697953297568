"""The page of `sorrel bench studies`: one HTML file, whose pictures are inside it."""

import base64
import html
import pathlib
from collections.abc import Mapping, Sequence

from .estimates import FAILS, HOLDS, Estimate
from .results import FLAG_TEXT, INTERVAL_TEXT, Cell, Result, Table, shown

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5em; border-top: 2px solid #ddd; padding-top: 1em; }
table { border-collapse: collapse; margin: 0.5em 0 1em; font-size: 14px; } caption { text-align: left; font-weight: bold; padding: 0.3em 0; }
th, td { padding: 0.25em 0.7em; border-bottom: 1px solid #e2e2e2; text-align: right; } th:first-child, td:first-child { text-align: left; }
.interval { color: #666; font-size: 12px; } .flag { color: #b00020; font-weight: bold; }
.text td, .text th { text-align: left; } .holds { color: #14703a; } .fails { color: #b00020; } .open { color: #7a5c00; }
.note, .source { color: #555; } img { max-width: 100%; }
"""
CLASSES = {HOLDS: "holds", FAILS: "fails"}
MACHINE_ROWS = {
    "processor": "Processor", "cpus": "CPUs", "cpus_allowed": "CPUs used", "is_virtual": "Virtual machine", "governor": "Frequency governor",
    "memory_kib": "Memory, KiB", "kernel": "Linux", "system": "System", "compiler": "Compiler", "date": "Begin", "load_before": "Load before",
    "load_after": "Load after", "other_work": "Other work during the runs, share of the machine",
}  # fmt: skip


def _text(value: object) -> str:
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return html.escape(f"{value:.3g}" if isinstance(value, float) else str(value))


def _cell(cell: Cell) -> str:
    text = shown(cell)
    if not isinstance(cell, Estimate):
        return html.escape(text)
    value, space, rest = text.partition(" [")
    interval = f' <span class="interval">[{html.escape(rest.split("]")[0])}]</span>' if space else ""
    flag = ' <span class="flag">(!)</span>' if cell.is_below_bound else ""
    return html.escape(value.removesuffix(" (!)")) + interval + flag


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(text)}</th>" for text in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in table.notes)
    return f"<table><caption>{html.escape(table.title)}</caption><tr>{head}</tr>\n{rows}</table>{notes}"


def _claims(result: Result) -> str:
    rows = []
    for claim in result.claims:
        verdict, reason = claim.verdict
        rows.append(
            f'<tr><td>{html.escape(claim.text)}<br><span class="source">{html.escape(claim.source)}</span></td>'
            f'<td>{html.escape(claim.published or "-")}</td><td class="{CLASSES.get(verdict, "open")}">{verdict}</td>'
            f"<td>{html.escape(reason)}</td></tr>"
        )
    head = "<tr><th>The study says</th><th>Published</th><th>Verdict</th><th>Because</th></tr>"
    return f'<table class="text"><caption>Claims</caption>{head}\n' + "\n".join(rows) + "</table>"


def _image(title: str, svg: pathlib.Path) -> str:
    data = base64.b64encode(svg.read_bytes()).decode("ascii")
    return f'<h3>{html.escape(title)}</h3><img alt="{html.escape(title)}" src="data:image/svg+xml;base64,{data}">'


def _study(result: Result, pictures: Mapping[str, pathlib.Path], no_picture: str) -> str:
    parts = [f'<h2 id="s{result.number}">{html.escape(result.title)}</h2><p class="source">{html.escape(result.source)}</p>', _claims(result)]
    parts += [_table(table) for table in result.tables if not table.is_empty]
    for figure in result.figures:
        if svg := pictures.get(figure.name):
            parts.append(_image(figure.title, svg))
        elif no_picture:
            parts.append(f'<p class="note">{html.escape(figure.title)}: {html.escape(no_picture)}</p>')
    if result.missing:
        items = "".join(f"<li>{html.escape(text)}</li>" for text in result.missing)
        parts.append(f"<h3>Without figures here</h3><ul>{items}</ul>")
    return "\n".join(parts)


def write(path: pathlib.Path, results: Sequence[Result], machine: Mapping, command: str, pictures: Mapping[str, pathlib.Path], no_picture: str = "") -> None:
    facts = "".join(f"<tr><td>{name}</td><td>{_text(machine[key])}</td></tr>" for key, name in MACHINE_ROWS.items() if key in machine)
    links = " · ".join(f'<a href="#s{r.number}">{html.escape(r.title)}</a>' for r in results)
    body = "\n".join(_study(result, pictures, no_picture) for result in results)
    path.write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Published figures, measured again</title><style>{STYLE}</style></head>'
        f"<body><h1>Published figures, measured again</h1><p>Made by <code>{html.escape(command)}</code>. Values are medians of the rounds. "
        f"{INTERVAL_TEXT} A claim is not judged if other work disturbed the runs or if the interval crosses its bar. {FLAG_TEXT}</p>"
        f'<p>{links}</p><table class="text"><caption>The machine</caption>{facts}</table>\n{body}</body></html>\n',
        encoding="utf-8",
    )
