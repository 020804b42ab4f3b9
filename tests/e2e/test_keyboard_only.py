"""A workflow of three nodes is built, wired, run and read without a pointer: keys only, in the real program."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.conftest import SHOTS
from tests.e2e.studio import Studio
from tests.e2e.test_whole_loop import RUN, WORKFLOW

pytestmark = pytest.mark.e2e

FOCUS = "window.page.canvas.canvas_scene.focus_id"
ON_CANVAS = "window.page.canvas.hasFocus()"
FIELD = "getattr(app.focusWidget(), 'accessibleName', str)()"


class Keyboard:
    """Presses keys and waits until the window has followed."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.press = studio.display.key
        self.type = studio.display.type

    def shot(self, name: str) -> None:
        self.studio.display.screenshot(SHOTS / f"keyboard-{name}.png")

    def node(self, name: str) -> str:
        found: str = self.studio.ask(f"next(n.id for n in {WORKFLOW}.nodes if n.name == {name!r})")
        return found

    def to_canvas(self) -> None:
        self.press("ctrl+1")
        self.studio.wait(ON_CANVAS)

    def choose(self, key: str, words: str, count: str, expected: int) -> None:
        """Opens a search with a key of the canvas, types, takes the first hit."""
        self.to_canvas()
        self.press(key)
        self.studio.wait("window.page.canvas.prompts.popup.field.hasFocus()")
        self.type(words)
        self.press("Return")
        self.studio.wait(f"len({WORKFLOW}.{count}) == {expected}")

    def name_it(self, name: str) -> None:
        """Names what is selected: F2 goes to the field."""
        self.to_canvas()
        self.press("F2")
        self.studio.wait(f"{FIELD} == 'Name'")
        self.press("ctrl+a")
        self.type(name)
        self.studio.wait(f"any(n.name == {name!r} for n in {WORKFLOW}.nodes)")

    def go_to(self, name: str) -> None:
        """Moves the focus of the canvas to a node with the arrows."""
        self.to_canvas()
        wanted = self.node(name)
        for key in ("Left", "Left", "Left", "Right", "Right", "Right"):
            if self.studio.ask(FOCUS) == wanted:
                break
            self.press(key)
            self.studio.wait(ON_CANVAS)
        assert self.studio.ask(FOCUS) == wanted
        self.press("space")
        self.studio.wait(f"window.page.workspace.selection.items == ({wanted!r},)")


def test_three_nodes_without_a_pointer(start: Callable[..., Studio]) -> None:
    studio = start()
    hands = Keyboard(studio)
    hands.press("ctrl+n")
    studio.wait("window.page is not None")
    hands.choose("shift+a", "agent", "nodes", 1)
    hands.name_it("Writer")
    hands.choose("i", "agent", "nodes", 2)
    studio.wait(f"len({WORKFLOW}.edges) == 1")
    hands.name_it("Critic")
    hands.choose("shift+a", "agent", "nodes", 3)
    hands.name_it("Closer")
    hands.shot("1-three-nodes")

    # The third one is moved aside with the keyboard, then wired from the second.
    hands.to_canvas()
    before = studio.ask(f"{WORKFLOW}.places[{hands.node('Closer')!r}].y")
    hands.press("g", *["Down"] * 12, "Return")
    studio.wait(f"{WORKFLOW}.places[{hands.node('Closer')!r}].y == {before} + 96")
    hands.press("ctrl+shift+l")
    hands.go_to("Critic")
    hands.choose("c", "Closer", "edges", 2)
    pairs = studio.ask(f"[(e.source, e.target) for e in {WORKFLOW}.edges]")
    writer, critic, closer = (hands.node(name) for name in ("Writer", "Critic", "Closer"))
    assert pairs == [[writer, critic], [critic, closer]]
    hands.press("ctrl+shift+l")
    hands.shot("2-wired")

    hands.press("ctrl+l")
    hands.press("ctrl+a")
    hands.type("tidal power")
    hands.press("F5")
    studio.wait(f"{RUN}.state.value == 'completed'", 30)
    assert studio.ask(f"[i.node for i in {RUN}.invocations.values()]") == [writer, critic, closer]

    # Read: what a screen reader says of the node, then the output, copied from its panel.
    hands.go_to("Closer")
    said = studio.ask("window.page.canvas.accessibleDescription()")
    assert said.startswith("Closer, agent")
    assert "1 input" in said
    output = studio.ask(f"{RUN}.outputs[-1].text")
    assert output
    hands.press("ctrl+3")
    studio.wait("window.sides.bottom.isAncestorOf(app.focusWidget())")
    hands.shot("3-read")
    read = f"getattr(app.focusWidget(), 'toPlainText', str)() == {output!r}"
    for _ in range(8):
        if studio.ask(read):
            break
        hands.press("Tab")
    assert studio.ask(read)
    hands.press("ctrl+a", "ctrl+c")
    studio.wait(f"app.clipboard().text() == {output!r}")
    hands.press("ctrl+1")
    hands.press("ctrl+a", "Delete")
    studio.wait(f"len({WORKFLOW}.nodes) == 0")
    hands.press("ctrl+z")
    studio.wait(f"len({WORKFLOW}.nodes) == 3")
    assert studio.ask(f"[(e.source, e.target) for e in {WORKFLOW}.edges]") == pairs
