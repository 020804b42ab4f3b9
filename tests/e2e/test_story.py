"""The story that the program was designed along: a research brief, run twice, stopped, changed, branched, compared.

Run 12 of the story goes through; run 13 stops before the join, a finding is edited (a fork), the writer asks for
more, two requests wait for one node, one call is changed. The offline model plays all roles.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.after_a_run import (
    ask_what_a_node_knew,
    copy_a_call,
    follow_a_message,
    look_along_the_time,
    make_a_test,
)
from tests.e2e.conftest import SHOTS
from tests.e2e.studio import ROOT, Studio
from tests.e2e.test_whole_loop import RUN, Person

pytestmark = pytest.mark.e2e

TEMPLATE = ROOT / "resources" / "templates" / "research-brief.workflow.json"
QUESTION = "Should the brief cover storage above eight hours, even if it grows?"
EDITED = "Lithium iron phosphate is the default [T1]."
CONTEXT = "window.sides.context"
PATH = [
    ["planner"], ["planner"], ["market_research", "tech_research", "policy_research"], ["join"], ["writer"],
    ["planner"], ["planner", "planner"], ["market_research", "tech_research", "policy_research"], ["join"], ["writer"],
    ["publisher"],
]  # fmt: skip
WALKED = f"[[{RUN}.invocations[i].node for i in s.invocations] for s in {RUN}.supersteps]"
PLANS = f"[e.call.arguments for e in {RUN}.events if type(e).__name__ == 'ToolStarted' and e.node == 'planner']"


def story() -> dict[str, Any]:
    """The template, whose planner also asks the editor when it plans anew."""
    document: dict[str, Any] = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    parameters = {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}
    document["tools"].append(
        {"name": "ask_editor", "description": "Ask the editor.", "parameters": parameters, "approval": "caller"}
    )
    document["nodes"][0]["tools"].append("ask_editor")
    replies = document["offline"]["nodes"]["planner"]["replies"]
    planned = "Four topics: market, technology, policy, cost above eight hours. Give the cost per kWh."
    replies.insert(0, {"when": "Cover it", "text": planned})
    again = next(r for r in replies if "plan_2" in json.dumps(r))
    again["calls"].append({"id": "ask_1", "tool": "ask_editor", "arguments": {"question": QUESTION}})
    return document


class Editor(Person):
    """Somebody who wants a brief."""

    def shot(self, name: str) -> None:
        self.display.screenshot(SHOTS / f"story-{name}.png")

    def waits(self, requests: int) -> None:
        self.studio.wait(f"{RUN}.state.value == 'waiting' and len({RUN}.requests) == {requests}", 60)
        self.studio.wait("find('Send answers', 'RequestsPanel') is not None")

    def approve(self) -> None:
        self.studio.click("Approve", "RequestsPanel")
        self.studio.wait("find('Send answers', 'RequestsPanel') and window.sides.requests.send.isEnabled()")
        self.display.key("ctrl+Return")

    def type_result(self, text: str) -> None:
        x, y, width, height = self.studio.ask("find('Result', 'RequestsPanel')")
        for below in (height // 2, height + 24):  # the box, or below its label
            self.display.click(x + width // 2, y + below)
            if self.studio.ask("hasattr(app.focusWidget(), 'toPlainText')"):
                break
        self.display.type(text)

    def select(self, item: str) -> None:
        self.click_item(item)
        self.studio.wait(f"window.page.workspace.selection.items == ({item!r},)")


def go_through(person: Editor) -> None:
    """Run 12: two plans are approved, the editor is asked, the brief is published in eleven supersteps."""
    person.display.key("F5")
    person.waits(1)
    person.approve()
    person.waits(2)
    person.type_result("Cover it.")
    person.approve()
    person.wait_state("completed", 60)
    assert person.studio.ask(WALKED) == PATH
    assert "iron-air" in person.studio.ask(f"[o.text for o in {RUN}.outputs if o.final][0]")
    person.shot("run-12")


def stop_before_the_join(person: Editor) -> None:
    """Run 13 as in the mock-up of debugging: breakpoints, three findings on their way, one of them looked at."""
    studio, keys = person.studio, person.display.key
    for node in ("join", "writer", "publisher"):
        person.select(node)
        keys("F9")
        studio.wait(f"{node!r} in {RUN}.breakpoints")
    keys("F5")
    person.waits(1)
    person.approve()
    studio.wait(f"{RUN}.sentence == 'Paused before superstep 4 — breakpoint on Join'", 60)
    assert studio.ask(f"sorted(q.source for q in {RUN}.queued)") == sorted(PATH[2])
    studio.click("Debug")
    panel = "window.sides.debug"
    studio.wait(f"{panel}.queued.isVisible() and {panel}.queued_model.rowCount() == 3")
    row = f"rect({panel}.queued.viewport(), {panel}.queued.visualRect({panel}.queued_model.index(1, 0)))"
    x, y, width, height = studio.ask(row)
    person.display.click(x + width // 2, y + height // 2)
    studio.wait("window.page.workspace.selection.message is not None")
    studio.wait("find('Keep edit', 'InspectorPanel') is not None")
    person.shot("b-debug-dark")


def edit_a_finding(person: Editor) -> None:
    """The text of a finding is changed: the run goes on as a fork, and stops before the writer."""
    studio, keys = person.studio, person.display.key
    message = studio.ask("window.page.workspace.selection.message")
    studio.click("Text", "InspectorPanel")
    keys("ctrl+a")
    person.display.type(EDITED)
    studio.click("Keep edit", "InspectorPanel")
    studio.wait(f"any(q.text == {EDITED!r} for q in {RUN}.queued if q.message == {message!r})")
    keys("F5")
    studio.wait(f"{RUN}.sentence == 'Paused before superstep 5 — breakpoint on Writer'", 60)
    assert studio.ask(f"[b.name for b in {RUN}.branches if b.number == max(c.number for c in {RUN}.branches)]") == [
        "main", "Fork A",
    ]  # fmt: skip


def answer_with_a_changed_call(person: Editor) -> None:
    """The writer wants more: two requests wait for the planner; one call is changed, the other is answered."""
    studio, keys = person.studio, person.display.key
    keys("F5")
    person.waits(2)
    assert studio.ask(f"{RUN}.sentence") == "Waiting for 2 answers to Planner"
    studio.wait("window.status.state.text() == '2 open requests'")
    studio.wait("window.status.run.text() == 'Run 2 · Fork A · superstep 6'")
    studio.click("Why is this asked?", "RequestsPanel")
    studio.wait(f"{CONTEXT}.isVisible() and {CONTEXT}.box.currentText() == 'Planner · superstep 6'")
    studio.wait(f"'History written' in [g.title for g in {CONTEXT}.parts[2].column.groups]")
    person.shot("d-approval-context")
    assert "score 6 is not ≥ 8" in studio.ask(f"[why for m in {RUN}.messages for _, _, _, why in m.routes]")
    studio.click("Cancel both…", "RequestsPanel")
    studio.click("Keep waiting")
    assert studio.ask(f"{RUN}.state.value") == "waiting"
    studio.click("Change the arguments…", "RequestsPanel")
    studio.wait("find('value_dialog') is not None")
    keys("ctrl+a")
    person.display.type('{"topics": ["Market", "Cost above eight hours"], "depth": "one page"}')
    studio.click("Call with these", "ValueDialog")
    studio.wait("find('Call with these', 'RequestsPanel') is not None")
    person.type_result("Cover it.")
    studio.wait("len(window.sides.requests.answers()) == 2")
    person.shot("d-changed-call")
    keys("ctrl+Return")
    studio.wait(f"{RUN}.sentence.endswith('breakpoint on Join')", 60)
    plans = [json.loads(text)["topics"] for text in studio.ask(PLANS)]
    assert plans[-1] == ["Market", "Cost above eight hours"]
    assert ["Market", "Technology", "Policy", "Cost above eight hours"] not in plans, "what was asked for is refused"


def run_to_the_end(person: Editor) -> None:
    person.display.key("ctrl+shift+F9")  # all breakpoints off
    person.display.key("F5")
    person.wait_state("completed", 60)
    assert person.studio.ask(f"{WALKED}[-1]") == ["publisher"]
    person.shot("run-13")


def test_the_story_of_the_research_brief(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "brief.workflow.json"
    file.write_text(json.dumps(story()), encoding="utf-8")
    studio = start(str(file), home="story")
    studio.wait("window.page is not None")
    studio.click("Trust this code")
    person = Editor(studio)
    go_through(person)
    studio.ask("window.actions_['theme.dark'].trigger()")
    stop_before_the_join(person)
    edit_a_finding(person)
    studio.ask("window.actions_['theme.light'].trigger()")
    answer_with_a_changed_call(person)
    run_to_the_end(person)
    ask_what_a_node_knew(person, "writer", "Writer", "iron-air")
    copy_a_call(person)
    follow_a_message(person)
    look_along_the_time(person)
    make_a_test(person, tmp_path / "brief.test.json")
    studio.display.key("ctrl+s")
    studio.wait("not window.page.workspace.document.dirty")
    studio.display.key("ctrl+q")
    assert studio.wait_closed(60) == 0
