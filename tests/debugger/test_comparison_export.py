"""The export of a comparison: everything is in it, differences are marked, nothing of a run becomes markup."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from studio.debugger.comparison_export import to_html, to_json
from studio.debugger.run_comparison import Cell, Detail, Row, RunComparison, Side

from tests.debugger.test_run_comparison import two


class Tags(HTMLParser):
    """Counts tags and joins texts; unclosed ones are an error."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def test_json_has_both_sides_and_every_row() -> None:
    comparison = two()
    told = json.loads(json.dumps(to_json(comparison)))
    assert (told["a"]["title"], told["b"]["title"]) == ("main", "Fork A")
    assert told["a"]["tokens"] == comparison.a.tokens
    assert [row["kind"] for row in told["path"]] == [row.kind for row in comparison.path]
    shared = told["path"][0]
    assert shared["kind"] == "shared"
    assert shared["differs"] is False
    assert shared["children"]
    assert {"label": "reply", "a": "bad", "b": "good"} in [d for row in told["path"] for d in row["details"]]


def test_the_page_is_whole_and_marks_what_differs() -> None:
    page = to_html(two(), "Research brief")
    tags = parsed(page)
    assert tags.seen.count("section") == 4
    assert "<del>bad</del>" in page
    assert "<ins>good</ins>" in page
    assert "main and Fork A — Research brief" in tags.texts
    assert 'id="only"' in page
    assert "script" not in tags.seen


def test_what_a_run_said_is_never_markup() -> None:
    evil = "<script>alert(1)</script><img src=x onerror=y>"
    cell = Cell("1", "n", evil, evil)
    row = Row("different", cell, cell, (Detail("reply", evil, f"{evil}!"),))
    page = to_html(RunComparison(Side(evil), Side("b"), (row,)), evil)
    tags = parsed(page)
    assert "script" not in tags.seen
    assert "img" not in tags.seen
    assert any(evil in text for text in tags.texts)
