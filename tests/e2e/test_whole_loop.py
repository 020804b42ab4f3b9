"""A person does the whole job: draw, run, step, rewind, branch, export. Real pointer, real keys; a screenshot a step."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import SHOTS
from tests.e2e.studio import ROOT, Studio

pytestmark = pytest.mark.e2e

WORKFLOW = "window.page.workspace.document.workflow"
RUN = "window.page.workspace.run"


class Person:
    """Somebody at the window: what they do, in words of the window."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.display = studio.display

    def shot(self, name: str) -> None:
        self.display.screenshot(SHOTS / f"loop-{name}.png")

    def ids(self) -> list[str]:
        return list(self.studio.ask(f"[n.id for n in {WORKFLOW}.nodes]"))

    def drag_from_palette(self, kind: str, x: float, y: float) -> str:
        before = set(self.ids())
        self.display.drag(self.studio.place(kind, "PalettePanel"), tuple(self.studio.ask(f"free_spot({x}, {y})")))
        self.studio.wait(f"len({WORKFLOW}.nodes) == {len(before) + 1}")
        return (set(self.ids()) - before).pop()

    def click_item(self, item: str, part: str = "middle", times: int = 1) -> None:
        self.display.click(*self.studio.ask(f"spot({item!r}, {part!r})"), times=times)

    def drag_edge(self, source: str, target: str) -> str:
        before = set(self.studio.ask(f"[e.id for e in {WORKFLOW}.edges]"))
        start, end = (self.studio.ask(f"spot({i!r}, {p!r})") for i, p in ((source, "out"), (target, "in")))
        self.display.drag(tuple(start), tuple(end))
        self.studio.wait(f"len({WORKFLOW}.edges) == {len(before) + 1}")
        return (set(self.studio.ask(f"[e.id for e in {WORKFLOW}.edges]")) - before).pop()

    def fill(self, field: str, text: str) -> None:
        self.studio.click(field, "InspectorPanel")
        self.display.key("ctrl+a")
        self.display.type(text)

    def name_node(self, item: str, name: str) -> None:
        self.click_item(item)
        self.studio.wait(f"window.page.workspace.selection.items == ({item!r},)")
        self.fill("Name", name)
        self.studio.wait(f"{WORKFLOW}.node({item!r}).name == {name!r}")

    def node_text(self, item: str, field: str, label: str, text: str) -> None:
        self.fill(label, text)
        self.studio.wait(f"{WORKFLOW}.node({item!r}).{field} == {text!r}")

    def wait_state(self, state: str, seconds: float = 20) -> None:
        self.studio.wait(f"{RUN}.state.value == {state!r}", seconds)


def draw(person: Person) -> dict[str, str]:
    """Step 3: four nodes, names, instructions, edges, one condition."""
    studio = person.studio
    writer = person.drag_from_palette("Agent", 0.16, 0.4)
    person.shot("3-first-node")
    critic = person.drag_from_palette("Agent", 0.46, 0.4)
    finish = person.drag_from_palette("Function", 0.82, 0.4)
    studio.display.click(*studio.ask("free_spot(0.46, 0.75)"))
    studio.display.key("shift+a")
    studio.display.type("human")
    studio.display.key("Return")
    studio.wait(f"len({WORKFLOW}.nodes) == 4")
    human = next(i for i in person.ids() if i not in (writer, critic, finish))
    return {"writer": writer, "critic": critic, "finish": finish, "human": human}


def test_whole_loop(start: Callable[..., Studio], tmp_path: Path) -> None:
    studio = start()
    person = Person(studio)
    person.shot("2-welcome")
    studio.click("New workflow")
    studio.wait("window.page is not None")
    nodes = draw(person)
    person.name_node(nodes["writer"], "Writer")
    person.node_text(nodes["writer"], "instructions", "Instructions", "Write one sentence.")
    person.name_node(nodes["critic"], "Critic")
    person.node_text(nodes["critic"], "instructions", "Instructions", "Say what is missing.")
    person.shot("3-nodes")
