"""The page of `sorrel bench studies`: one HTML file, whose pictures are inside it."""

import html
import pathlib
from collections.abc import Mapping, Sequence

from .. import html_page
from .estimates import FAILS, HOLDS, Estimate
from .results import FLAG_TEXT, INTERVAL_TEXT, Cell, Result, Table, shown

CLASSES = {HOLDS: "holds", FAILS: "fails"}


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


def _study(result: Result, pictures: Mapping[str, pathlib.Path], no_picture: str) -> str:
    parts = [f'<h2 id="s{result.number}">{html.escape(result.title)}</h2><p class="source">{html.escape(result.source)}<br>{html.escape(result.processors)}</p>', _claims(result)]
    parts += [_table(table) for table in result.tables if not table.is_empty]
    for figure in result.figures:
        if svg := pictures.get(figure.name):
            parts.append(html_page.image(figure.title, svg))
        elif no_picture:
            parts.append(f'<p class="note">{html.escape(figure.title)}: {html.escape(no_picture)}</p>')
    if result.missing:
        items = "".join(f"<li>{html.escape(text)}</li>" for text in result.missing)
        parts.append(f"<h3>Without figures here</h3><ul>{items}</ul>")
    return "\n".join(parts)


def write(path: pathlib.Path, results: Sequence[Result], machine: Mapping, command: str, pictures: Mapping[str, pathlib.Path], no_picture: str = "") -> None:
    links = " · ".join(f'<a href="#s{r.number}">{html.escape(r.title)}</a>' for r in results)
    body = "\n".join(_study(result, pictures, no_picture) for result in results)
    begin = (
        f"<p>Made by <code>{html.escape(command)}</code>. Values are medians of the rounds. "
        f"{INTERVAL_TEXT} A claim is not judged if other work disturbed the runs or if the interval crosses its bar. {FLAG_TEXT}</p><p>{links}</p>"
    )
    path.write_text(html_page.document("Published figures, measured again", begin, machine, body), encoding="utf-8")
