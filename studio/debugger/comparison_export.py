"""A comparison of two runs as JSON, and as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from studio.debugger.run_comparison import Cell, Detail, Row, RunComparison, Side
from studio.debugger.text_diff import Span, word_diff

_PARTS = (("path", "Path"), ("messages", "Messages"), ("state", "State"), ("prompts", "Prompts"))
_KINDS = {
    "shared": "shared", "same": "same", "different": "different", "only_a": "only in A", "only_b": "only in B",
    "route": "other way",
}  # fmt: skip
_STYLE = """
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .35rem .6rem; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
td.text { white-space: pre-wrap; }
td.kind { width: 6.5rem; }
th:first-child { width: 6.5rem; }
tr.same, tr.shared { opacity: .65; }
del, ins { text-decoration: none; font-weight: 600; background: Mark; color: MarkText; border-radius: 2px; }
.num { font-variant-numeric: tabular-nums; }
small { opacity: .75; }
#only:checked ~ section tr.same, #only:checked ~ section tr.shared { display: none; }
"""


def to_json(comparison: RunComparison) -> dict[str, Any]:
    """Both sides and every row, children included."""
    return {
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        **{name: [_row(row) for row in getattr(comparison, name)] for name, _ in _PARTS},
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "title": side.title, "subtitle": side.subtitle, "branch": side.branch, "supersteps": side.supersteps,
        "tokens": side.tokens, "cost": side.cost, "seconds": side.seconds,
    }  # fmt: skip


def _row(row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "differs": row.differs,
        "a": _cell(row.a),
        "b": _cell(row.b),
        "details": [{"label": d.label, "a": d.a, "b": d.b} for d in row.details],
        **({"children": [_row(child) for child in row.children]} if row.children else {}),
    }


def _cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {
        "superstep": cell.number, "node": cell.node, "name": cell.name, "note": cell.note, "tokens": cell.tokens,
        "cost": cell.cost, "seconds": cell.seconds,
    }  # fmt: skip


def to_html(comparison: RunComparison, name: str = "") -> str:
    """A page with a box *Only differences*. Everything a run said stands in it as text, never as markup."""
    title = f"{comparison.a.title} and {comparison.b.title}" + (f" — {name}" if name else "")
    sections = "".join(_section(label, getattr(comparison, part), comparison) for part, label in _PARTS)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"{_totals(comparison)}"
        '<input type="checkbox" id="only"> <label for="only">Only differences</label>'
        f"{sections}</body></html>\n"
    )


def _totals(comparison: RunComparison) -> str:
    rows = [
        ("Run", comparison.a.subtitle, comparison.b.subtitle),
        ("Supersteps", str(comparison.a.supersteps), str(comparison.b.supersteps)),
        ("Tokens", str(comparison.a.tokens), str(comparison.b.tokens)),
        ("Cost", _money(comparison.a.cost), _money(comparison.b.cost)),
        ("Time", f"{comparison.a.seconds:.1f} s", f"{comparison.b.seconds:.1f} s"),
    ]
    body = "".join(
        f'<tr><th>{label}</th><td class="num">{escape(a)}</td><td class="num">{escape(b)}</td></tr>'
        for label, a, b in rows
    )
    heads = f"<tr><th></th><th>A: {escape(comparison.a.title)}</th><th>B: {escape(comparison.b.title)}</th></tr>"
    return f"<table>{heads}{body}</table><p></p>"


def _money(cost: float | None) -> str:
    if cost is None:
        return "not known"
    return f"${cost:.4f}" if cost else "free"


def _section(label: str, rows: Sequence[Row], comparison: RunComparison) -> str:
    different = sum(row.differs for row in rows)
    heads = f"<tr><th></th><th>{escape(comparison.a.title)}</th><th>{escape(comparison.b.title)}</th></tr>"
    body = "".join(_rows(rows)) or '<tr><td colspan="3">There is nothing of this kind.</td></tr>'
    title = f"<h2>{label} <small>{different} of {len(rows)} differ</small></h2>"
    return f"<section>{title}<table>{heads}{body}</table></section>"


def _rows(rows: Iterable[Row]) -> Iterable[str]:
    for row in rows:
        yield (
            f'<tr class="{row.kind}"><td class="kind">{_KINDS[row.kind]}</td>'
            f"<td>{_words(row.a)}</td><td>{_words(row.b)}</td></tr>"
        )
        for detail in row.details:
            yield _detail(row, detail)
        yield from _rows(row.children)


def _words(cell: Cell | None) -> str:
    if cell is None:
        return ""
    figures = []
    if cell.tokens:
        figures.append(f"{cell.tokens} tokens")
    if cell.cost:
        figures.append(_money(cell.cost))
    if cell.seconds:
        figures.append(f"{cell.seconds:.1f} s")
    head = " ".join(part for part in (cell.number, cell.name) if part)
    small = " · ".join([part for part in (cell.note,) if part] + figures)
    return f"{escape(head)} <small>{escape(small)}</small>"


def _detail(row: Row, detail: Detail) -> str:
    if row.kind in ("only_a", "only_b"):
        a, b = escape(detail.a), escape(detail.b)
    else:
        left, right = word_diff(detail.a, detail.b)
        a, b = _marked(left, "del"), _marked(right, "ins")
    return (
        f'<tr class="{row.kind}"><td class="kind"><small>{escape(detail.label)}</small></td>'
        f'<td class="text">{a}</td><td class="text">{b}</td></tr>'
    )


def _marked(spans: Sequence[Span], tag: str) -> str:
    return "".join(f"<{tag}>{escape(s.text)}</{tag}>" if s.only else escape(s.text) for s in spans)
