"""Going back, branching, comparing, pruning: real pointer and keys, a kill in the middle, screenshots of each step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from studio.document.model import (
    AgentNode,
    DirectEdge,
    HumanInputNode,
    OfflineScript,
    Place,
    Workflow,
)
from studio.files import write_workflow

from tests.e2e.conftest import SHOTS
from tests.e2e.display import wait_until
from tests.e2e.studio import Studio
from tests.e2e.test_whole_loop import RUN, WORKFLOW, Person

pytestmark = pytest.mark.e2e


def brief() -> Workflow:
    """A plan that a person approves, research, a writer, a review that may send it back, a publisher."""
    told = {
        "planner": "Plan the brief.",
        "research": "Name the storage technologies in use today.",
        "writer": "Write one paragraph.",
        "publisher": "Publish it.",
    }
    places = {"planner": 0, "approve": 1, "research": 2, "writer": 3, "publisher": 4}
    replies = {
        "planner": ["Storage technologies, prices, permits."],
        "research": ["Above eight hours, iron-air cells and pumped heat are the two options."],
        "writer": [
            {
                "when_seen": "longer",
                "text": "Europe covers peaks with lithium. Longer storage: two iron-air plants run.",
            },
            "Europe can cover four-hour peaks with lithium. Longer storage is not ready.",
        ],
        "publisher": ["Published."],
    }
    return Workflow(
        id="e2e-timeline",
        name="Research brief",
        start="planner",
        nodes=(
            *(AgentNode(id=n, name=n.title(), instructions=text) for n, text in told.items()),
            HumanInputNode(id="approve", name="Approve", question="Is the plan good? {text}"),
        ),
        edges=(
            DirectEdge(id="e1", source="planner", target="approve"),
            DirectEdge(id="e2", source="approve", target="research"),
            DirectEdge(id="e3", source="research", target="writer"),
            DirectEdge(id="e4", source="writer", target="publisher"),
        ),
        offline=OfflineScript.model_validate({"nodes": {n: {"replies": r} for n, r in replies.items()}, "delay_ms": 2}),
        sample_input="Grid storage in the EU",
        places={n: Place(x=60 + 300 * x, y=200) for n, x in places.items()},
    )


class Historian(Person):
    """Somebody who goes back and forth in the runs."""

    def shot(self, name: str) -> None:
        self.display.screenshot(SHOTS / f"timeline-{name}.png")

    def answer(self, text: str) -> None:
        self.studio.wait("find('Send answers') is not None")
        x, y, width, height = self.studio.ask("find('Answer', 'RequestsPanel')")
        for below in (height // 2, height + 24):
            self.display.click(x + width // 2, y + below)
            if self.studio.ask("hasattr(app.focusWidget(), 'toPlainText')"):
                break
        self.display.type(text)
        self.display.key("ctrl+Return")

    def checkpoints(self, branch: str) -> list[str]:
        names = f"{{b.branch: b.name for b in {RUN}.branches}}"
        return list(self.studio.ask(f"(lambda names: [c.checkpoint for c in {RUN}.checkpoints "
                                    f"if names[c.branch] == {branch!r}])({names})"))  # fmt: skip

    def scroll_to(self, checkpoint: str) -> None:
        """Turns the wheel over the tree until the row of a checkpoint is in view."""
        self.studio.wait(f"checkpoint_spot({checkpoint!r}) is not None")

        def in_view() -> bool:
            x, y, width, height = self.studio.ask("rect(window.sides.timeline.view.viewport())")
            below = self.studio.ask(f"checkpoint_spot({checkpoint!r})")[1] - y
            if 30 < below < height - 20:
                return True
            self.display.click(x + width // 2, y + height // 2, button=4 if below <= 30 else 5)
            return False

        wait_until(in_view, f"{checkpoint} is in view")

    def click_checkpoint(self, checkpoint: str, button: int = 1) -> None:
        self.scroll_to(checkpoint)
        self.display.click(*self.studio.ask(f"checkpoint_spot({checkpoint!r})"), button=button)
        self.studio.wait(f"window.page.workspace.selection.checkpoint == {checkpoint!r}")

    def open_tree(self) -> None:
        shown = "window.sides.timeline.view.isVisible() and window.sides.timeline.view.is_tree"
        if not self.studio.ask(shown):
            self.studio.click("checkpoints_header", times=2)
            self.studio.wait(shown)

    def fork_with_answer(self, waiting: str, text: str, branches: int) -> None:
        self.click_checkpoint(waiting)
        self.studio.click("Restore…", "TimelinePanel")
        self.studio.wait(f"{RUN}.here == {waiting!r} and {RUN}.state.value == 'waiting'")
        self.answer(text)
        self.studio.wait(f"len({RUN}.branches) == {branches} and {RUN}.state.value == 'completed'", 60)


def run_to_the_question_and_be_killed(person: Historian) -> None:
    person.studio.wait("window.page is not None")
    person.display.key("ctrl+l")
    person.display.key("F5")
    person.wait_state("waiting")
    person.studio.wait(f"len({RUN}.checkpoints) == 3")
    person.shot("1-question")
    person.studio.kill()


def fork_twice(person: Historian) -> str:
    studio = person.studio
    studio.wait(f"len({RUN}.checkpoints) == 3")
    assert studio.ask(f"[(b.name, b.state, b.elsewhere) for b in {RUN}.branches]") == [["main", "waiting", ""]]
    person.open_tree()
    waiting = person.checkpoints("main")[-1]
    studio.click("Answer…", "TimelinePanel")
    person.wait_state("waiting")
    person.answer("yes")
    person.wait_state("completed", 60)
    person.open_tree()  # a run makes it a strip
    person.fork_with_answer(waiting, "make it longer", 2)
    person.fork_with_answer(waiting, "shorter", 3)
    assert studio.ask(f"[b.name for b in {RUN}.branches]") == ["main", "Fork A", "Fork B"]
    person.shot("2-forked-twice")
    return waiting


def change_prompt_and_name(person: Historian) -> None:
    studio = person.studio
    person.click_item("research")
    studio.wait("window.page.workspace.selection.items == ('research',)")
    person.fill("Name", "Tech research")
    person.fill("Instructions", "Name the technologies, with operating plants and cost.")
    studio.wait(f"{WORKFLOW}.node('research').instructions.endswith('cost.')")
    studio.wait(f"{WORKFLOW}.node('research').name == 'Tech research'")


def restore_with_the_sheet(person: Historian) -> None:
    """The old checkpoint after the question was answered: the sheet says what differs, and goes on."""
    studio = person.studio
    answered = person.checkpoints("main")[3]
    person.click_checkpoint(answered)
    studio.wait("find('What differs…', 'InspectorPanel') is not None")
    person.shot("3-checkpoint-of-an-older-drawing")
    studio.click("What differs…", "InspectorPanel")
    studio.wait("find('mapping_sheet') is not None")
    person.shot("4-mapping-sheet")
    studio.click("Continue with the new drawing", "MappingSheet")
    studio.wait(f"len({RUN}.branches) == 4 and {RUN}.state.value == 'completed'", 60)
    note = studio.ask(f"{RUN}.branches[-1].note")
    assert "prompt" in note
    assert "Tech research" in note


def look_at_the_old_drawing(person: Historian) -> None:
    """The drawing of the first run in a tab of its own: it takes no edit, and compares with the drawing as it is."""
    studio = person.studio
    before = studio.ask("[n.name for n in window.page.workspace.document.workflow.nodes]")
    old = person.checkpoints("main")[1]
    person.click_checkpoint(old)
    studio.wait(f"{RUN}.details({old!r}) is not None and {RUN}.effects({old!r}) is not None")
    studio.click("Open the old drawing", "InspectorPanel")
    studio.wait("type(window.page).__name__ == 'KeptPage' and window.page.workspace.document.read_only")
    studio.wait("window.page.workspace.selection.checkpoint is not None")
    person.shot("4b-old-drawing")
    person.click_item("research")
    studio.wait("window.page.workspace.selection.items == ('research',)")
    person.display.key("Delete")
    x, y = studio.ask("spot('research', 'middle')")
    person.display.drag((x, y), (x + 120, y + 80))
    studio.click("Instructions", "InspectorPanel")
    person.display.type("nothing")
    person.shot("4c-old-drawing-node")
    names = "[n.name for n in window.page.workspace.document.workflow.nodes]"
    assert studio.ask(names) == ["Planner", "Research", "Writer", "Publisher", "Approve"]
    assert studio.ask(f"{WORKFLOW}.node('research').instructions") == "Name the storage technologies in use today."
    assert studio.ask("window.page.workspace.document.undo_stack.count()") == 0
    studio.click("Compare with now", "KeptBar")
    studio.wait("type(window.page).__name__ == 'WorkflowPage' and window.page.workspace.compared.found is not None")
    assert studio.ask(names) == before
    person.shot("4d-compared-with-now")
    studio.click("Close", "CompareBar")
    studio.wait("window.page.workspace.compared.found is None")


def fork_is_asked_about(person: Historian) -> None:
    """A fork of a checkpoint of the older drawing says what it would use."""
    studio = person.studio
    branches = studio.ask(f"len({RUN}.branches)")
    person.click_checkpoint(person.checkpoints("main")[1])
    studio.click("Fork", "TimelinePanel")
    studio.wait("find('Open the old drawing', '_Message') is not None")
    person.shot("4e-fork-asks")
    person.display.key("Escape")
    studio.wait("find('Open the old drawing', '_Message') is None")
    assert studio.ask(f"len({RUN}.branches)") == branches


def compare(person: Historian, folder: Path) -> None:
    studio = person.studio
    main, fork = person.checkpoints("main")[-1], person.checkpoints("Fork C")[-1]
    person.click_checkpoint(main)
    person.display.key("space")
    person.click_checkpoint(fork)
    person.shot("5-marked-for-compare")
    person.display.key("space")
    studio.wait("type(window.tabs.current).__name__ == 'ComparePage' and window.tabs.current.comparison is not None")
    kinds = studio.ask("[row.kind for row in window.tabs.current.comparison.path]")
    assert kinds[0] == "shared"
    assert "different" in kinds
    person.shot("6-compared")
    studio.click("Only differences", "ComparePage")
    studio.wait("window.tabs.current.view.only_different")
    studio.click("Next", "ComparePage")
    studio.wait("window.tabs.current.view.current >= 0")
    person.shot("7-only-differences")
    studio.click("Prompts", "ComparePage")
    studio.wait("window.tabs.current.tabs.value == 'prompts'")
    person.shot("8-prompts")
    for name in ("both.html", "both.json"):
        studio.click("Export…", "ComparePage")
        person.name_the_file(folder / name)
    page, data = ((folder / name).read_text(encoding="utf-8") for name in ("both.html", "both.json"))
    assert "Prompts <small>1 of 5 differ" in page
    assert "operating plants" in page
    found = json.loads(data)
    assert [row["a"]["node"] for row in found["prompts"] if row["differs"]] == ["research"]
    assert (found["a"]["cost"], found["path"][0]["kind"]) == (0.0, "shared")


def find(person: Historian) -> None:
    studio = person.studio
    studio.click("Find checkpoints", "CheckpointDock")
    studio.wait("type(app.focusWidget()).__name__ == 'SearchField'")
    person.display.type("text:shorter")
    timeline = "window.sides.timeline.view"
    studio.wait(f"{timeline}.found is not None and 0 < len({timeline}.found) < len({RUN}.checkpoints)")
    person.display.key("Return")
    studio.wait(f"window.page.workspace.selection.checkpoint in {timeline}.found")
    person.shot("9-found")
    person.display.key("Escape")
    studio.wait(f"{timeline}.found is None")


def prune_and_compact(person: Historian) -> None:
    studio = person.studio
    studio.click("More", "CheckpointDock")
    studio.click("Which checkpoints are kept…", "QMenu")
    studio.wait("find('keeping_dialog') is not None")
    field = studio.place("All but the last of each branch:", "LineField")
    person.display.click(*field, times=3)
    person.display.type("2")
    studio.wait(f"{RUN}.rules.last == 2")
    dialog = "[w for w in app.allWidgets() if type(w).__name__ == 'KeepingDialog'][0]"
    studio.wait(f"{dialog}.prune_button.isEnabled()")
    person.shot("10-rules")
    before = studio.ask(f"len({RUN}.checkpoints)")
    x, y, width, height = studio.ask(f"rect({dialog}.prune_button)")
    person.display.click(x + width // 2, y + height // 2)
    studio.wait(f"len({RUN}.checkpoints) < {before} and len({RUN}.discarded) == 1")
    person.shot("11-pruned")
    studio.wait("find('Compact the file', 'KeepingDialog') is not None")
    size = studio.ask(f"{RUN}.sizes.file")
    studio.click("Compact the file", "KeepingDialog")
    studio.wait(f"not {RUN}.discarded and not {RUN}.compacting and {RUN}.sizes.file < {size}")
    person.shot("12-compacted")
    studio.click("Close", "KeepingDialog")
    studio.wait("find('keeping_dialog') is None")


def test_timeline(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "brief.workflow.json"
    write_workflow(brief(), file)
    run_to_the_question_and_be_killed(Historian(start(str(file))))
    person = Historian(start(str(file)))
    person.studio.wait("window.page is not None")
    fork_twice(person)
    change_prompt_and_name(person)
    restore_with_the_sheet(person)
    look_at_the_old_drawing(person)
    fork_is_asked_about(person)
    compare(person, tmp_path)
    find(person)
    prune_and_compact(person)
    kept = person.studio.ask(f"[(c.checkpoint, c.parent, c.branch) for c in {RUN}.checkpoints]")
    person.display.key("ctrl+s")
    person.studio.wait("not window.page.workspace.document.dirty")
    person.display.key("ctrl+q")
    assert person.studio.wait_closed() == 0
    again = Historian(start(str(file)))
    again.studio.wait("window.page is not None")
    again.studio.wait(f"len({RUN}.checkpoints) == {len(kept)}")
    assert again.studio.ask(f"[(c.checkpoint, c.parent, c.branch) for c in {RUN}.checkpoints]") == kept
    errors = (person.studio.errors.read_text(encoding="utf-8")).splitlines()
    assert not [line for line in errors if "Traceback" in line], "\n".join(errors)
