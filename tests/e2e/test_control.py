"""Every way to hold, change and go on with a run, with real pointer and keys: breakpoints of each kind, requests
through a crash, edits while paused, a mended error, steps, pins and mocks, runs to and from a node, replays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    OfflineScript,
    Place,
    SubWorkflowNode,
    ToolDecl,
    Workflow,
)
from studio.files import write_workflow
from studio.ui.debug.places import line_name

from tests.e2e.conftest import SHOTS
from tests.e2e.studio import Studio
from tests.e2e.test_debugging import quit_quickly
from tests.e2e.test_whole_loop import RUN, WORKFLOW, Person

pytestmark = pytest.mark.e2e

POINTS = f"{RUN}.setup.breakpoints"
READY = "len(window.sides.requests.answers())"
NOTE = f"next((b.note for b in {RUN}.branches if b.branch == {RUN}.branch), '')"
FOCUSED = "getattr(app.focusWidget(), 'accessibleName', str)()"
QUERY: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
VERDICT: dict[str, Any] = {
    "type": "object",
    "properties": {"verdict": {"enum": ["go", "stop"]}, "pages": {"type": "integer"}},
    "required": ["verdict", "pages"],
}
SET = "ctx.set_state('rounds', (ctx.get_state('rounds') or 0) + 1)\nresult = data.upper()"


def drawing() -> Workflow:
    """Two agents side by side, one that calls tools; a join; code that fails; a sub-workflow that asks; an end."""
    look = {"calls": [{"tool": "lookup", "arguments": {"q": "x"}}]}
    ask, mail = ({"calls": [{"tool": tool, "arguments": {"q": "go on?"}}]} for tool in ("boss", "mail"))
    replies = {"writer": [look, look, look, mail, "A draft."], "critic": [ask, "Fine."]}
    inner = Workflow(
        name="Grading",
        start="grade",
        nodes=(
            FunctionNode(id="grade", name="Grade", body="result = data + ' [graded]'"),
            HumanInputNode(id="ask", name="Ask", question="Good? {text}", choices=("yes", "no")),
            FunctionNode(id="told", name="Told", body="result = data", sends="", yields="text"),
        ),
        edges=(DirectEdge(id="ga", source="grade", target="ask"), DirectEdge(id="at", source="ask", target="told")),
        places={"grade": Place(x=0, y=0), "ask": Place(x=260, y=0), "told": Place(x=520, y=0)},
    )
    return Workflow(
        id="e2e-control",
        name="Control",
        start="prepare",
        nodes=(
            FunctionNode(id="prepare", name="Prepare", body=SET),
            AgentNode(id="writer", name="Writer", instructions="Write.", tools=("lookup", "mail")),
            AgentNode(id="critic", name="Critic", instructions="Criticise.", tools=("boss",)),
            JoinNode(id="join", name="Join"),
            FunctionNode(id="score", name="Score", body="result = data + missing"),
            SubWorkflowNode(id="check", name="Check", embedded=inner),
            FunctionNode(id="finish", name="Finish", body='result = "Done: " + data', sends="", yields="text"),
        ),
        edges=(
            FanOutEdge(id="out", source="prepare", targets=("writer", "critic")),
            FanInEdge(id="in", sources=("writer", "critic"), target="join"),
            DirectEdge(id="js", source="join", target="score"),
            DirectEdge(id="sc", source="score", target="check"),
            DirectEdge(id="cf", source="check", target="finish"),
        ),
        tools=(
            ToolDecl(name="lookup", source="def lookup(q: str) -> str:\n    return 'found ' + q\n", parameters=QUERY),
            ToolDecl(name="mail", source="def mail(q: str) -> str:\n    return 'sent'\n", parameters=QUERY,
                     approval="always"),
            ToolDecl(name="boss", parameters=QUERY, approval="caller", result_schema=VERDICT),
        ),
        offline=OfflineScript.model_validate({"nodes": {n: {"replies": r} for n, r in replies.items()}}),
        places={
            "prepare": Place(x=0, y=100), "out": Place(x=220, y=100), "writer": Place(x=300, y=0),
            "critic": Place(x=300, y=220), "join": Place(x=540, y=100), "score": Place(x=620, y=100),
            "check": Place(x=860, y=100), "finish": Place(x=1100, y=100),
        },
        sample_input="Grid storage",
    )  # fmt: skip


def failing(needed: Path) -> Workflow:
    """A condition that is false; code that fails until there is a file; a number and a list that are asked for."""
    never = Condition(rule=Rule(value="never"))
    return Workflow(
        id="e2e-mending",
        name="Mending",
        start="writer",
        nodes=(
            AgentNode(id="writer", name="Author", instructions="Write."),
            FunctionNode(id="read", name="Reader", body=f"result = data + open({str(needed)!r}).read()"),
            HumanInputNode(id="count", name="Pages", question="How many?", answer_type="number"),
            HumanInputNode(id="list", name="Topics", question="Which ones?", answer_type="list[text]"),
            FunctionNode(id="end", name="End", accepts="any", body="result = repr(data)", sends="", yields="text"),
        ),
        edges=(
            DirectEdge(id="wr", source="writer", target="read", condition=never),
            FanOutEdge(id="out", source="read", targets=("count", "list")),
            DirectEdge(id="ce", source="count", target="end"),
            DirectEdge(id="le", source="list", target="end"),
        ),
        offline=OfflineScript.model_validate({"nodes": {"writer": {"replies": ["Some words."]}}}),
        places={
            "writer": Place(x=0, y=100), "read": Place(x=320, y=100), "out": Place(x=560, y=100),
            "count": Place(x=640, y=0), "list": Place(x=640, y=220), "end": Place(x=900, y=100),
        },
        sample_input="Batteries",
    )  # fmt: skip


class Debugging(Person):
    """Somebody who holds a run."""

    def shot(self, name: str) -> None:
        self.display.screenshot(SHOTS / f"control-{name}.png")

    def select(self, item: str) -> None:
        self.click_item(item)
        self.studio.wait(f"window.page.workspace.selection.items == ({item!r},)")

    def breakpoint(self, kind: str, place: str = "", press: str = "", **fields: str) -> None:
        """A breakpoint made in the dialog; ``fields``: what is typed where."""
        studio = self.studio
        count = studio.ask(f"len({POINTS})")
        studio.click("Add a breakpoint…")
        self.choose("Stop at", kind)
        if place:
            self.display.key("Tab")
            self.choose("Where", place)
        if press:
            studio.click(press, "BreakpointDialog")
        for field, text in fields.items():
            studio.click(field, "BreakpointDialog")
            studio.wait(f"{FOCUSED} == {field!r}")
            self.display.key("ctrl+a")
            self.display.type(text)
        self.display.key("Return")
        studio.wait(f"len({POINTS}) == {count + 1} and find('breakpoint_dialog') is None and window.isActiveWindow()")

    def choose(self, field: str, entry: str) -> None:
        """In the box that gets the focus now, with the arrow keys; a name that is not listed is typed."""
        studio, box = self.studio, "app.focusWidget()"
        studio.wait(f"{FOCUSED} == {field!r}")
        if studio.ask(f"{box}.isEditable()"):
            self.display.type(entry)  # all of it is selected
        else:
            way = studio.ask(f"{box}.findText({entry!r}) - {box}.currentIndex()")
            if way:
                self.display.key(*["Down" if way > 0 else "Up"] * abs(way))
        studio.wait(f"{box}.currentText() == {entry!r}")

    def says(self, sentence: str) -> None:
        self.studio.wait(f"{RUN}.sentence == {sentence!r} and {RUN}.can('run')[0]")

    def go_to(self, sentence: str, key: str = "F5") -> None:
        self.display.key(key)
        self.says(sentence)

    def give(self, text: str) -> None:
        """What is typed into the dialog that is open."""
        self.studio.wait("find('value_dialog') is not None and hasattr(app.focusWidget(), 'toPlainText')")
        self.display.key("ctrl+a")
        self.display.type(text)
        self.display.key("ctrl+Return")
        self.studio.wait("find('value_dialog') is None and window.isActiveWindow()")

    def answer(self, choice: str) -> None:
        """Chooses in the one form that waits, and sends it."""
        self.studio.wait(f"{RUN}.state.value == 'waiting' and find({choice!r}, 'RequestsPanel') is not None")
        self.studio.click(choice, "RequestsPanel")
        self.studio.wait("window.sides.requests.send.isEnabled()")
        self.display.key("ctrl+Return")
        self.studio.wait(f"find({choice!r}, 'RequestsPanel') is None")

    def outputs(self) -> list[str]:
        return list(self.studio.ask(f"[o.text for o in {RUN}.outputs if o.final]"))

    def menu(self, item: str, *entries: str) -> None:
        self.display.click(*self.studio.ask(f"spot({item!r}, 'middle')"), button=3)
        for entry in entries:
            self.studio.click(entry, "QMenu")


def set_breakpoints(person: Debugging) -> None:
    """One of each kind, in the dialog."""
    person.studio.click("Debug")
    person.breakpoint("State key changes", "rounds")
    person.breakpoint("Model call", "Writer", **{"From the n-th time on": "3"})
    person.breakpoint("Tool call", "lookup", "After", **{"Log instead of stopping": "{text} {state.rounds}"})
    person.breakpoint("Repeated tool call", **{"Times in a row": "3"})
    person.breakpoint("Budget: tokens", Tokens="350")
    person.breakpoint("Budget: cost", Money="0.5")
    person.breakpoint("Budget: supersteps", Supersteps="3")
    person.breakpoint("Edge", "Check › Grade → Ask", "Message is queued")
    person.breakpoint("Error")
    person.breakpoint("Request", "Critic", **{"Log instead of stopping": "asked"})
    person.shot("breakpoints")
    assert person.studio.ask(f"[(b.kind, b.place, b.moment, b.limit, b.from_hit) for b in {POINTS}]") == [
        ["state", "rounds", None, 0, 1],
        ["model", "writer", "before", 0, 3],
        ["tool", "lookup", "after", 0, 1],
        ["repeats", "", None, 3, 1],
        ["tokens", "", None, 350, 1],
        ["cost", "", None, 0.5, 1],
        ["supersteps", "", None, 3, 1],
        ["edge", "check/ga", "queued", 0, 1],
        ["error", "", None, 0, 1],
        ["request", "critic", None, 0, 1],
    ]


def hold_and_change(person: Debugging) -> None:
    """The run stops at each; shared state is changed at the first, and a held tool is given its result."""
    studio = person.studio
    person.display.key("ctrl+l")
    person.go_to("Paused in superstep 1 — Prepare changed rounds")
    studio.click("Change shared state…")
    person.give('{"rounds": 7}')
    person.go_to("Paused in superstep 2 — before the model call of Writer")
    person.go_to("Paused in superstep 2 — the same call 3 times in a row, before Writer calls lookup")
    assert studio.ask(f"sorted({POINTS}.logged.values())") == ["asked", "found x 8"]
    studio.click("Give a result…", "DebugPanel")
    person.give("nothing new")
    person.says("Paused in superstep 2 — before the model call of Writer")
    results = f"[e.result for e in {RUN}.events if type(e).__name__ == 'ToolFinished']"
    assert studio.ask(results) == ["found x", "found x", "nothing new"]
    assert studio.ask(f"[b.note for b in {RUN}.branches]") == ["", "state changed at 0", "result of lookup given at 1"]
    person.display.key("F5")
    person.wait_state("waiting")


def answer_after_a_crash(person: Debugging, start: Callable[..., Studio], file: Path) -> Debugging:
    """A form of a schema and a refusal are begun; after ``kill -9`` a key leads to them, and they are sent."""
    studio = person.studio
    studio.click("go", "RequestsPanel")
    studio.click("Pages", "RequestsPanel")
    person.display.type("2")
    studio.click("Refuse", "RequestsPanel")
    studio.wait(f"{READY} == 2 and not {RUN}._changed_drafts and not {RUN}._unwritten")
    studio.kill()
    again = Debugging(start(str(file), home="control"))
    again.studio.wait("window.actions_['run.request'].isEnabled() and window.isActiveWindow()")
    again.display.key("ctrl+shift+a")
    again.studio.wait(f"{RUN}.state.value == 'waiting' and {READY} == 2")
    assert again.studio.ask(f"len({POINTS})") == 10
    again.shot("begun-answers")
    again.display.key("ctrl+Return")
    again.says("Paused before superstep 4 — 3 supersteps are done")
    given = f"[e.value for e in {RUN}.events if type(e).__name__ == 'RequestAnswered']"
    assert again.studio.ask(f"[getattr(v, 'result', None) or v.approved for v in {given}]") == [
        {"verdict": "go", "pages": 2}, False,
    ]  # fmt: skip
    return again


def mend_and_go_on(person: Debugging) -> None:
    """What an agent remembers is changed; code that fails is held, mended and run again; a node, an edge and a question
    inside the sub-workflow."""
    studio = person.studio
    person.menu("critic", "Change its conversation…")
    person.give('[{"role": "user", "text": "Be short."}]')
    person.go_to("Paused in superstep 5 — Score failed: NameError: name 'missing' is not defined (score, line 1)")
    assert studio.ask(NOTE) == "conversation changed at 3"
    person.select("score")
    studio.click("Body", "InspectorPanel")
    person.display.key("ctrl+a")
    person.display.type("result = data + '!'")
    studio.wait(f"{RUN}.drawing_differs == ('Score',)")
    studio.click("Apply to this run", "DebugPanel")
    person.says("Restored before superstep 5")
    person.click_item("check", times=2)
    studio.wait("window.page.workspace.document.workflow.name == 'Grading'")
    assert studio.ask(f"[(b.kind, b.place) for b in {POINTS}]") == [["edge", "ga"]], "one list inside and around"
    person.select("grade")
    person.display.key("F9")
    studio.wait(f"'grade' in {RUN}.breakpoints")
    person.display.key("alt+Up")
    studio.wait("window.page.workspace.document.workflow.name == 'Control'")
    person.go_to("Paused in superstep 6 — breakpoint on Check › Grade")
    person.go_to("Paused in superstep 6 — Check › Grade has queued a message")
    person.shot("inner-edge")
    person.display.key("F5")
    person.answer("yes")
    person.wait_state("completed")
    assert person.outputs()[-1] == "Done: yes"


def step_with_other_replies(person: Debugging) -> None:
    """A reply is pinned, a tool mocked, a node muted; the run is stepped node by node, then goes to a node."""
    studio = person.studio
    person.display.key("ctrl+shift+F9")
    studio.wait(f"not any(b.enabled for b in {POINTS})")
    person.menu("critic", "Pin a reply…")
    person.give("Pinned words.")
    person.menu("writer", "Mock a tool", "lookup")
    person.give("made up")
    person.select("score")
    person.display.key("m")
    studio.wait(f"{RUN}.setup.overrides.note() == '1 pinned, 1 muted, 1 tool mocked'")
    for sentence in ("before superstep 1", "before superstep 2", "in superstep 2 — next is Critic"):
        person.go_to(f"Paused {sentence}", "F11")
    person.select("finish")
    person.display.key("ctrl+F9")
    person.answer("Approve")
    person.answer("no")
    person.says("Paused before superstep 9 — before Finish")
    told = studio.ask(f"[(q.source, q.text) for q in {RUN}.messages if q.source in ('join', 'score')]")
    assert told == [["join", "A draft.\n\nPinned words."], ["score", "A draft.\n\nPinned words."]]
    person.shot("not-as-drawn")


def change_the_queue(person: Debugging) -> None:
    """What waits is duplicated, something is injected and dropped again: the run ends twice, as a fork."""
    studio, rows = person.studio, "window.sides.debug.queued_model.rowCount()"
    studio.click("Debug")
    studio.wait(f"{rows} == 1")
    studio.click("Check → Finish: no", "DebugPanel")
    person.display.key("ctrl+d")
    studio.wait(f"{rows} == 2")
    studio.wait("type(app.focusWidget()).__name__ == 'QListView'")
    person.display.key("ctrl+shift+j")
    person.give("Injected.")
    studio.wait(f"{rows} == 3")
    studio.click("Check → Finish: no", "DebugPanel")
    person.display.key("End")
    studio.wait("'Injected' in window.sides.debug.queued.currentIndex().data()")
    person.display.key("Delete")
    studio.wait(f"{rows} == 2")
    person.display.key("F5")
    person.wait_state("completed")
    assert person.outputs()[-2:] == ["Done: no", "Done: no"]
    assert studio.ask(NOTE) == "message added at 8"


def replay_and_run_from(person: Debugging) -> None:
    """With another prompt: replayed, where the model is asked from there on; and from a node, whose inputs are said to
    be older. Then the same input once more from the beginning."""
    studio = person.studio
    person.select("writer")
    person.node_text("writer", "instructions", "Instructions", "Write briefly.")
    person.display.key("alt+r")
    studio.click("Replay", "QMenu")
    studio.click("Four times as fast", "QMenu")
    studio.wait(f"{NOTE} == 'replay of Fork A of run 2'")
    person.wait_state("completed")
    assert studio.ask(f"[e.message for e in {RUN}.events if type(e).__name__ == 'RunWarned'][0]") == (
        "Writer leaves the recording: its prompt has changed. From here on the model is called."
    )
    person.shot("replay")
    person.select("critic")
    person.node_text("critic", "instructions", "Instructions", "Be kind.")
    person.select("finish")
    person.display.key("ctrl+F5")
    studio.wait(f"{NOTE} == 'from Finish, with inputs from before Critic changed, at 8'")
    person.wait_state("completed")
    person.display.key("ctrl+shift+F5")
    studio.wait(f"{RUN}.state.value == 'waiting' and {RUN}.branches[-1].number == 4")


def change_hot_and_retry(person: Debugging, file: Path) -> None:
    """In a second tab: condition and model of a paused run are changed, and a held failure is run again in place."""
    studio, needed = person.studio, file.with_name("needed.txt")
    write_workflow(failing(needed), file)
    person.display.key("ctrl+o")
    person.name_the_file(file)
    studio.wait("window.page.workspace.document.workflow.name == 'Mending' and window.isActiveWindow()")
    studio.click("Trust this code")
    studio.click("Debug")
    person.breakpoint("Error")
    person.breakpoint("Node", "Author", "After")
    person.breakpoint("Edge", line_name(failing(needed), "wr"), "Message is delivered")
    person.go_to("Paused before superstep 1", "F10")
    person.display.click(*studio.ask("line_spot('wr')"))
    studio.wait("window.page.workspace.selection.items == ('wr',)")
    person.fill("Value", "words")
    person.select("writer")
    person.fill("Model", "turbo-9")
    person.display.key("Tab")
    studio.wait(f"{WORKFLOW}.node('writer').model == 'turbo-9'")
    studio.wait(f"{WORKFLOW}.edge('wr').condition.rule.value == 'words'")
    studio.wait(f"{RUN}.can('apply')[0]")
    studio.click("Apply to this run", "DebugPanel")
    person.says("Restored before superstep 1")
    person.go_to("Paused in superstep 1 — after Author")
    person.go_to("Paused before superstep 2 — breakpoint on Reader")
    person.display.key("F5")
    studio.wait(f"{RUN}.held_failures == ('read',)")
    (settings,) = studio.ask(f"[e.settings for e in {RUN}.events if type(e).__name__ == 'ModelCallStarted']")
    assert '"model": "turbo-9"' in settings
    person.shot("held-failure")
    branches = studio.ask(f"len({RUN}.branches)")
    needed.write_text(" And more.", encoding="utf-8")
    studio.click("Retry", "FailureBar")
    person.wait_state("waiting")
    assert studio.ask(f"len({RUN}.branches)") == branches, "the same run goes on"


def answer_with_number_and_list(person: Debugging) -> None:
    """Both forms are filled and sent together; then the tab is closed."""
    studio = person.studio
    studio.wait("len(window.sides.requests.cards) == 2")
    person.focus("Answer", "NumberValue")
    person.display.type("2,5")
    person.focus("Answer", "ListValue")
    person.display.type("sun")
    person.display.key("Return")
    person.display.type("wind")
    studio.wait(f"{READY} == 2 and window.sides.requests.send.isEnabled()")
    person.shot("number-and-list")
    person.display.key("ctrl+Return")
    person.wait_state("completed")
    assert sorted(person.outputs()[-2:]) == ["2.5", "['sun', 'wind']"]
    person.display.key("ctrl+s")
    studio.wait("not window.page.workspace.document.dirty")
    person.display.key("ctrl+w")
    studio.wait("window.page.workspace.document.workflow.name == 'Control'")


def test_control(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "control.workflow.json"
    write_workflow(drawing(), file)
    person = Debugging(start(str(file), home="control"))
    person.studio.wait("window.page is not None")
    person.studio.click("Trust this code")
    set_breakpoints(person)
    hold_and_change(person)
    person = answer_after_a_crash(person, start, file)
    mend_and_go_on(person)
    step_with_other_replies(person)
    change_the_queue(person)
    replay_and_run_from(person)
    change_hot_and_retry(person, tmp_path / "mending.workflow.json")
    answer_with_number_and_list(person)
    person.display.key("ctrl+s")
    person.studio.wait("not window.page.workspace.document.dirty")
    quit_quickly(person.studio)  # while it waits for an answer
    assert "Traceback" not in person.studio.errors.read_text(encoding="utf-8")
