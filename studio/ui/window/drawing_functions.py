"""What each action of the menu Node does: shaping the drawing on the canvas of the current page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from studio.document.aligning import Axis, Side
from studio.ui.window.workflow_page import WorkflowPage

if TYPE_CHECKING:
    from studio.ui.canvas import CanvasView
    from studio.ui.main_window import MainWindow

Function = Callable[[], None]

OUTLINE_KEEPS = frozenset({"view.fit"})
"""What the outline does not take over from the canvas: Home goes to its first row."""
_SIDES: tuple[Side, ...] = ("left", "right", "up", "down", "across", "along")
_AXES: tuple[Axis, ...] = ("x", "y")


def on_page(window: MainWindow, act: Callable[[WorkflowPage], Any]) -> Function:
    """A function for the current workflow; nothing without one."""

    def run() -> None:
        page = window.page
        if page is not None:
            act(page)

    return run


def drawing_functions(window: MainWindow) -> dict[str, Function]:
    """Action id -> function."""

    def on_canvas(act: Callable[[CanvasView], object]) -> Function:
        return on_page(window, lambda page: act(page.canvas))

    def on_item(act: Callable[[CanvasView, str], object]) -> Function:
        """About the focused item, else the only selected one."""
        return on_page(window, lambda page: _on_item(page.canvas, act))

    def by_keys(act: Callable[[CanvasView], object]) -> Function:
        """Keys follow: they must reach the canvas."""
        return on_page(window, lambda page: (page.canvas.setFocus(), act(page.canvas)))

    return {
        "edit.set_start": on_item(lambda canvas, item: canvas.set_start(item)),
        "node.open": on_item(lambda canvas, item: canvas.open_item(item)),
        "node.connect": on_item(lambda canvas, item: canvas.open_connect(item)),
        "node.insert": on_item(lambda canvas, item: canvas.open_insert(item)),
        "node.take_out": on_item(lambda canvas, item: canvas.take_out(item)),
        "node.output": on_item(lambda canvas, item: canvas.toggle_output(item)),
        "node.edge_condition": on_item(lambda canvas, item: canvas.open_item(item)),
        "node.to_switch": on_item(lambda canvas, item: canvas.to_switch(item)),
        "node.to_fan_out": on_item(lambda canvas, item: canvas.to_fan_out(item)),
        "node.add_bend": on_item(lambda canvas, item: canvas.add_bend_in_middle(item)),
        "node.remove_bends": on_item(lambda canvas, item: canvas.remove_bends(item)),
        "node.move": by_keys(lambda canvas: canvas.start_key_move()),
        "node.align": by_keys(lambda canvas: canvas.start_align()),
        **{f"node.align_{side}": on_page(window, partial(_align, side)) for side in _SIDES},
        **{f"node.distribute_{axis}": on_page(window, partial(_distribute, axis)) for axis in _AXES},
        "node.keep_place": on_canvas(lambda canvas: canvas.toggle_kept()),
        "node.frame": on_canvas(lambda canvas: canvas.toggle_frame()),
        "node.collapse": on_canvas(lambda canvas: canvas.toggle_collapsed()),
        "node.extract": on_canvas(lambda canvas: canvas.extract_selection()),
        "node.inline": on_item(lambda canvas, item: canvas.inline(item)),
        "node.embed": on_item(lambda canvas, item: canvas.embed_copy(item)),
    }


def _on_item(canvas: CanvasView, act: Callable[[CanvasView, str], object]) -> None:
    """The keyboard focus inside the canvas counts while the canvas has it; elsewhere, what is selected."""
    canvas.canvas_scene.flush()
    chosen = canvas.selection_items
    item = canvas.focus_or_selection if canvas.hasFocus() else chosen[0] if len(chosen) == 1 else None
    if item is not None:
        act(canvas, item)


def _align(side: Side, page: WorkflowPage) -> None:
    page.canvas.align(side)


def _distribute(axis: Axis, page: WorkflowPage) -> None:
    page.canvas.distribute(axis)
