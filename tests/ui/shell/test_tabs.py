"""Going through tabs, and what the windows remember together."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from studio.document.edits import SetWorkflow
from studio.ui.main_window import MainWindow
from studio.ui.widgets.search_field import SearchField
from studio.ui.widgets.text_fields import TextBox
from studio.ui.window import memory

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window()


def test_tabs_are_gone_through_with_keys_and_the_page_has_the_focus(window: MainWindow) -> None:
    window.show()
    first, second = window.files.new(), window.files.new()
    window.pages.show_welcome()
    order = window.tabs.pages()
    assert [page.kind for page in order] == ["workflow", "workflow", "welcome"]
    for _ in range(2):
        window.refresh()
        window.actions_["go.next_tab"].trigger()
        if window.tabs.current in (first, second):
            assert window.focusWidget() is window.tabs.current.canvas  # type: ignore[union-attr]
    assert window.tabs.current is second
    second.disk_bar.show()
    second.disk_bar.keep.setFocus()
    window.tabs.show_page(first)
    window.tabs.show_page(second)
    assert window.focusWidget() is second.disk_bar.keep, "as it was left"
    window.tabs.show_page(order[2])
    window.refresh()
    window.actions_["file.close"].trigger()
    assert [page.kind for page in window.tabs.pages()] == ["workflow", "workflow"]
    assert window.focusWidget() is not None
    assert window.tabs.isAncestorOf(window.focusWidget())
    window.tabs.show_page(first)
    window.pages.show_welcome()
    window.close_tab()
    assert window.tabs.current is first, "where one came from, not what stands beside it"


def test_another_layout_leaves_the_focus_where_one_types(window: MainWindow) -> None:
    window.show_first([])
    window.showNormal()
    window.resize(1600, 1000)
    page = window.files.new()
    field = window.sides.show_panel("inspector").findChild(TextBox)
    assert field is not None
    for focus, layout, expected in (
        (field, "debug", field),
        (field, "edit", field),
        (window.sides.outline.tree, "compare", page.canvas),
    ):
        focus.setFocus()
        assert window.focusWidget() is focus
        window.sides.layouts.switch(layout)  # type: ignore[arg-type]
        assert window.focusWidget() is expected, layout
    window.sides.layouts.switch("edit")
    needle = window.sides.show_panel("find").findChild(SearchField)
    assert needle is not None
    needle.setFocus()
    needle.setText("x")
    QTest.keyClick(needle, Qt.Key.Key_Escape)
    assert (needle.text(), window.focusWidget()) == ("", needle)
    QTest.keyClick(needle, Qt.Key.Key_Escape)
    assert window.focusWidget() is page.canvas


def test_a_long_title_leaves_room_for_other_tabs(window: MainWindow) -> None:
    page = window.files.new()
    page.workspace.document.execute(SetWorkflow({"name": "R&D\n" + "x" * 300}), "Rename")
    assert window.tabs._bar.tabText(0) == "R&&D " + "x" * 35 + "…"
    window.refresh()
    assert window.windowTitle().startswith("R&D xxx")
    assert len(window.windowTitle()) < 110


def test_the_memory_of_two_windows_is_one() -> None:
    first, second = memory.load(), memory.load()
    first.inputs |= {"one": ["a"], "both": ["b"]}
    first.layouts["edit"] = "ab"
    memory.save(first)
    second.inputs |= {"two": ["c"], "both": ["d"]}
    second.layouts["debug"] = "cd"
    memory.save(second)
    found = memory.load()
    assert found.inputs == {"one": ["a"], "two": ["c"], "both": ["d", "b"]}
    assert found.layouts == {"edit": "ab", "debug": "cd"}
