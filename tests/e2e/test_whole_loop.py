"""The whole job: draw, run, step, rewind, branch, export. Real pointer, real keys; a screenshot at each step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import SHOTS
from tests.e2e.display import wait_until
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
        self.focus(field, "InspectorPanel")
        self.display.key("ctrl+a")
        self.display.type(text)

    def focus(self, field: str, within: str) -> None:
        """Clicks into a field; again if the page was moving."""
        focused = f"getattr(app.focusWidget(), 'accessibleName', str)() == {field!r}"

        def clicked() -> bool:
            self.studio.click(field, within)
            return bool(self.studio.ask(focused))

        wait_until(clicked, f"{field} has the focus")

    def name_node(self, item: str, name: str) -> None:
        self.click_item(item)
        self.studio.wait(f"window.page.workspace.selection.items == ({item!r},)")
        self.fill("Name", name)
        self.studio.wait(f"{WORKFLOW}.node({item!r}).name == {name!r}")

    def node_text(self, item: str, field: str, label: str, text: str) -> None:
        self.fill(label, text)
        self.studio.wait(f"{WORKFLOW}.node({item!r}).{field} == {text!r}")

    def name_the_file(self, file: Path) -> None:
        """Types a path into the file dialog that comes up."""
        self.studio.wait("find('file_dialog') is not None")
        self.display.key("ctrl+a")
        self.display.type(str(file))
        self.display.key("Return")
        self.studio.wait("find('file_dialog') is None")

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


def write_settings(person: Person, nodes: dict[str, str]) -> None:
    """Step 3: names and texts in the inspector."""
    person.name_node(nodes["writer"], "Writer")
    person.node_text(nodes["writer"], "instructions", "Instructions", "Write one sentence.")
    person.name_node(nodes["critic"], "Critic")
    person.node_text(nodes["critic"], "instructions", "Instructions", "Say what is missing.")
    person.name_node(nodes["human"], "Editor")
    person.name_node(nodes["finish"], "Finish")
    person.node_text(nodes["finish"], "body", "Body", 'result = "Done: " + data')
    person.node_text(nodes["finish"], "yields", "Yields", "text")


def wire(person: Person, nodes: dict[str, str]) -> dict[str, str]:
    """Step 3: edges from port to port, one with a condition."""
    first = person.drag_edge(nodes["writer"], nodes["critic"])
    second = person.drag_edge(nodes["critic"], nodes["human"])
    third = person.drag_edge(nodes["human"], nodes["finish"])
    person.display.click(*person.studio.ask(f"line_spot({third!r})"))
    person.studio.wait(f"window.page.workspace.selection.items == ({third!r},)")
    person.studio.click("Rules", "InspectorPanel")
    person.focus("Value", "InspectorPanel")
    person.display.type("ok")
    rule = f"{WORKFLOW}.edge({third!r}).condition"
    person.studio.wait(f"{rule} and {rule}.rule and {rule}.rule.value == 'ok'")
    return {"first": first, "second": second, "third": third}


def save(person: Person, file: Path) -> None:
    """Step 4: save, title and dirty mark."""
    studio = person.studio
    assert studio.ask("window.windowTitle()").startswith("Untitled •")
    person.display.key("ctrl+s")
    person.name_the_file(file)
    studio.wait("not window.page.workspace.document.dirty")
    assert "•" not in studio.ask("window.windowTitle()")
    assert json.loads(file.read_text(encoding="utf-8"))["format"] == "superstep-workflow"


def undo_and_redo_everything(person: Person, nodes: dict[str, str]) -> None:
    """Step 4: every step back to the empty canvas, and forth again; inspector typing is a step of its own."""
    studio = person.studio
    before = studio.ask(f"{WORKFLOW}.model_dump_json()")
    person.display.click(*studio.ask("free_spot(0.9, 0.08)"))
    count = studio.ask("window.page.workspace.document.undo_stack.count()")
    assert count >= 14
    person.display.key(*["ctrl+z"] * count)
    studio.wait(f"len({WORKFLOW}.nodes) == 0")
    assert studio.ask("window.windowTitle()").startswith("x •")
    person.display.key(*["ctrl+shift+z"] * count)
    studio.wait(f"{WORKFLOW}.model_dump_json() == {before!r}")
    studio.wait("not window.page.workspace.document.dirty")


def run_and_answer(person: Person) -> list[str]:
    """Step 5: run, lanes, form, answer, outputs; returns them as an exported project prints them."""
    studio = person.studio
    person.display.key("ctrl+l")
    person.display.key("ctrl+a")
    person.display.type("tidal power")
    person.display.key("F5")
    studio.wait(f"any(len(i.pieces) and 0 < len(i.pieces[-1].text) < 60 for i in {RUN}.invocations.values())", 10)
    person.shot("5-streaming")
    person.wait_state("waiting")
    studio.wait("find('Send answers') is not None")
    person.shot("5-question")
    x, y, width, height = studio.ask("find('Answer', 'RequestsPanel')")
    for below in (height // 2, height + 24):
        person.display.click(x + width // 2, y + below)
        if studio.ask("hasattr(app.focusWidget(), 'toPlainText')"):
            break
    person.display.type("ok then")
    person.display.key("ctrl+Return")
    person.wait_state("completed")
    texts = studio.ask(f"[o.text for o in {RUN}.outputs]")
    assert texts[-1] == "Done: ok then"
    assert studio.ask(f"[s.number for s in {RUN}.supersteps]") == [1, 2, 3, 4, 5, 6]
    person.shot("5-outputs")
    return list(studio.ask(f"[o.node + '\\t' + o.text for o in {RUN}.outputs]"))


def step_and_break(person: Person, nodes: dict[str, str]) -> None:
    """Step 6: step stops at each boundary, a breakpoint before its node, pause and stop work at any moment."""
    studio = person.studio
    person.display.key("ctrl+l")
    person.display.key("F10")
    person.wait_state("paused")
    assert studio.ask(f"len({RUN}.supersteps)") == 0
    person.display.key("F10")
    studio.wait(f"{RUN}.state.value == 'paused' and len({RUN}.supersteps) == 1")
    queued = studio.ask(f"[(q.source, q.text) for q in {RUN}.queued]")
    assert [q[0] for q in queued] == [nodes["writer"]]
    person.shot("6-stepped")
    person.click_item(nodes["human"])
    person.display.key("F9")
    studio.wait(f"{nodes['human']!r} in {RUN}.breakpoints")
    person.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'paused' and {RUN}.paused_at == {nodes['human']!r}")
    assert studio.ask(f"{RUN}.nodes[{nodes['human']!r}].invocations if {nodes['human']!r} in {RUN}.nodes else 0") == 0
    assert studio.ask(f"len({RUN}.requests)") == 0
    assert "Editor" in studio.ask(f"{RUN}.sentence")
    person.shot("6-breakpoint")
    person.display.key("shift+F5")
    person.wait_state("cancelled", 2)
    person.click_item(nodes["human"])
    person.display.key("F9")
    studio.wait(f"not {RUN}.breakpoints")


def pause_and_stop(person: Person) -> None:
    """Step 6: pause says what it waits for and takes effect at the boundary; stop is at once."""
    studio = person.studio
    person.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'running' and any(i.tokens for i in {RUN}.invocations.values())")
    person.display.key("F7")
    studio.wait(f"{RUN}.state.value in ('pausing', 'paused')", 2)
    sentence = studio.ask(f"{RUN}.sentence")
    assert sentence == "Pausing: waits for Writer" or studio.ask(f"{RUN}.state.value") == "paused"
    person.wait_state("paused")
    assert studio.ask(f"len({RUN}.supersteps)") == 1
    person.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'running'")
    studio.wait(f"any(i.superstep == 2 and i.tokens for i in {RUN}.invocations.values())")
    person.display.key("shift+F5")
    person.wait_state("cancelled", 2)
    person.shot("6-stopped")


def restore_and_fork(person: Person, nodes: dict[str, str]) -> None:
    """Step 7: a checkpoint per superstep; restore shows its moment; a fork with an edited message is a branch."""
    studio = person.studio
    main = studio.ask(f"[b.branch for b in {RUN}.branches if b.state == 'completed'][0]")
    studio.click("checkpoints_header", times=2)  # the tree instead of the strip
    chain = studio.ask(f"[c.checkpoint for c in {RUN}.checkpoints if c.branch == {main!r}]")
    assert len(chain) == 8  # the input, three supersteps, the answer, three more supersteps
    studio.wait(f"checkpoint_spot({chain[1]!r}) is not None")
    person.display.click(*studio.ask(f"checkpoint_spot({chain[1]!r})"))
    studio.wait(f"window.page.workspace.selection.checkpoint == {chain[1]!r}")
    person.shot("7-checkpoint")
    studio.click("Restore…", "TimelinePanel")
    studio.wait(f"{RUN}.here == {chain[1]!r} and {RUN}.state.value == 'paused'")
    assert [q[0] for q in studio.ask(f"[(q.source,) for q in {RUN}.queued]")] == [nodes["writer"]]
    person.shot("7-restored")

    main_before = studio.ask(f"[(c.checkpoint, c.bytes) for c in {RUN}.checkpoints if c.branch == {main!r}]")
    person.fill("Writer → Critic", "A tide is a wave.")
    studio.click("Fork", "InspectorPanel")
    person.wait_state("waiting")
    forks = studio.ask(f"[(b.branch, b.name) for b in {RUN}.branches if b.branch == {RUN}.branch]")
    assert forks[0][1].startswith("Fork")
    assert "A tide is a wave." in studio.ask(f"{RUN}.requests[0].question")
    after = studio.ask(f"[(c.checkpoint, c.bytes) for c in {RUN}.checkpoints if c.branch == {main!r}]")
    assert after == main_before
    person.shot("7-forked")


def close_and_come_back(person: Person, start: Callable[..., Studio], file: Path) -> Person:
    """Step 8: after a restart the runs and their tree are there; restore and continue works."""
    studio = person.studio
    tree = studio.ask(f"sorted((c.checkpoint, c.parent, c.branch) for c in {RUN}.checkpoints)")
    person.display.key("ctrl+q")
    assert studio.wait_closed() == 0
    again = Person(start(str(file)))
    again.studio.wait("window.page is not None")
    again.studio.wait(f"len({RUN}.checkpoints) == {len(tree)}")
    assert again.studio.ask(f"sorted((c.checkpoint, c.parent, c.branch) for c in {RUN}.checkpoints)") == tree
    again.shot("8-after-restart")
    main = again.studio.ask(f"[b.branch for b in {RUN}.branches if b.state == 'completed'][0]")
    second = again.studio.ask(f"[c.checkpoint for c in {RUN}.checkpoints if c.branch == {main!r}][2]")
    again.studio.click("checkpoints_header", times=2)
    again.studio.wait(f"checkpoint_spot({second!r}) is not None")
    again.display.click(*again.studio.ask(f"checkpoint_spot({second!r})"))
    again.studio.click("Restore…", "TimelinePanel")
    again.studio.wait(f"{RUN}.here == {second!r} and {RUN}.state.value == 'paused'")
    again.display.key("F5")
    again.wait_state("waiting")
    assert again.studio.ask(f"len({RUN}.requests)") == 1
    again.shot("8-continued")
    return again


def export_and_run(person: Person, folder: Path) -> None:
    """Step 9: a highlighted preview, then a project that prints the same outputs on the real framework."""
    studio = person.studio
    studio.click("Export")
    studio.wait("find('code_view') is not None")
    person.shot("9-export")
    folder.mkdir()
    studio.click("Write to folder…")
    studio.wait("find('file_dialog') is not None")
    person.display.key("ctrl+a")
    person.display.type(str(folder))
    person.display.key("Return")
    studio.wait("find('file_dialog') is None")
    wait_until(lambda: (folder / "pyproject.toml").exists(), "the project is written")


def run_exported(workflow: Path, folder: Path, answer: str) -> list[str]:
    """What the exported project prints, with the offline model on loopback."""
    command = [sys.executable, "-m", "studio", "offline-model", str(workflow), "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            said = dict(server.stdout.readline().strip().split("=", 1) for _ in range(3))
            package = next(p.parent.name for p in folder.glob("*/workflow.py"))
            done = subprocess.run(
                [sys.executable, "-m", f"{package}.workflow", "tidal power"],
                cwd=folder,
                env={**environment, **said, "PYTHONPATH": str(folder)},
                input=answer + "\n",
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        finally:
            server.terminate()
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_whole_loop(start: Callable[..., Studio], tmp_path: Path) -> None:
    studio = start()
    person = Person(studio)
    person.shot("2-welcome")
    studio.click("New workflow")
    studio.wait("window.page is not None")
    nodes = draw(person)
    write_settings(person, nodes)
    wire(person, nodes)
    person.shot("3-nodes")
    file = tmp_path / "x.workflow.json"
    save(person, file)
    undo_and_redo_everything(person, nodes)
    outputs = run_and_answer(person)
    step_and_break(person, nodes)
    pause_and_stop(person)
    restore_and_fork(person, nodes)
    again = close_and_come_back(person, start, file)
    export_and_run(again, tmp_path / "project")
    assert run_exported(file, tmp_path / "project", "ok then") == outputs
