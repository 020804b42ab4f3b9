"""Breakpoints inside embedded workflows: set in the inner tab, they hold runs of the workflow around it."""

from __future__ import annotations

from studio.bridge.inner_breakpoints import InnerBreakpoints
from studio.bridge.run_setup import RunSetup, _news
from studio.debugger.breakpoints import Breakpoint


def opened(id: str) -> RunSetup:
    setup = RunSetup()
    setup.open(id)
    return setup


def places(setup: RunSetup) -> list[tuple[str, str]]:
    return sorted((b.kind, b.place) for b in setup.breakpoints)


def test_one_list_for_the_inner_tab_and_the_runs_around_it() -> None:
    outer, inner = opened("outer"), opened("inner")
    outer.put(Breakpoint("node", "sub/x", id="a"))
    outer.put(Breakpoint("node", "y", id="b"))
    link = InnerBreakpoints(outer, inner, "sub")
    assert places(inner) == [("node", "x")]
    inner.toggle("node", "z")
    inner.put(Breakpoint("model", "x", from_hit=3, id="m"))
    inner.put(Breakpoint("edge", "xz", "queued", id="e"))
    assert places(outer) == [
        ("edge", "sub/xz"), ("model", "sub/x"), ("node", "sub/x"), ("node", "sub/z"), ("node", "y"),
    ]  # fmt: skip
    inner.remove("e")
    found = outer.breakpoints.get("m")
    assert found is not None
    assert found.from_hit == 3
    outer.switch("a", on=False)
    assert [b.enabled for b in inner.breakpoints if b.id == "a"] == [False]
    inner.toggle("node", "x")
    outer.remove("m")
    assert (places(inner), places(outer)) == ([("node", "z")], [("node", "sub/z"), ("node", "y")])
    link.deleteLater()


def test_two_tabs_and_windows_of_one_workflow_lose_nothing_of_each_other() -> None:
    first, second = opened("both"), opened("both")
    first.put(Breakpoint("node", "x", id="a"))
    assert places(second) == [("node", "x")]
    first.breakpoints.hits["a"] = 2
    # Another process, that read the file before: it hears nothing, and only changes what it means to change.
    elsewhere = RunSetup()
    elsewhere.open("both")
    _news().told.disconnect(elsewhere._on_news_told)
    second.put(Breakpoint("node", "y", id="b"))
    first.pin("x", 1)
    elsewhere.toggle("node", "z")
    assert places(opened("both")) == [("node", "x"), ("node", "y"), ("node", "z")]
    assert places(first) == [("node", "x"), ("node", "y"), ("node", "z")]
    assert first.breakpoints.hits["a"] == 2
    assert set(opened("both").overrides.pins) == {"x"}
    second.remove("a")
    assert places(first) == places(opened("both")) == [("node", "y"), ("node", "z")]


def test_other_kinds_stay_where_they_were_made() -> None:
    outer, inner = opened("outer2"), opened("inner2")
    link = InnerBreakpoints(outer, inner, "sub")
    inner.put(Breakpoint("tool", "search", id="e"))
    inner.put(Breakpoint("node", "", id="every"))
    outer.put(Breakpoint("tokens", limit=5, id="t"))
    assert places(outer) == [("tokens", "")]
    assert places(inner) == [("node", ""), ("tool", "search")]
    link.deleteLater()


def test_they_go_two_levels_up_and_survive_a_restart() -> None:
    outer, middle, inner = opened("o"), opened("m"), opened("i")
    links = [InnerBreakpoints(outer, middle, "sub"), InnerBreakpoints(middle, inner, "deep")]
    inner.toggle("node", "x")
    assert places(outer) == [("node", "sub/deep/x")]
    again = opened("o")
    assert places(again) == [("node", "sub/deep/x")]
    again.remove_all()
    # What the inner tab kept for itself does not come back: the list around it counts.
    late = RunSetup()
    late_link = InnerBreakpoints(again, late, "sub")
    late.open("m")
    assert (places(late), places(again)) == ([], [])
    for link in (*links, late_link):
        link.deleteLater()
