"""Seeing what a run does, with real pointer and keys: streams that are followed and searched, watches, state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from studio.document.model import (
    AgentNode,
    Condition,
    DirectEdge,
    FanOutEdge,
    FunctionNode,
    OfflineScript,
    Place,
    Workflow,
)
from studio.files import write_workflow

from tests.e2e.conftest import SHOTS
from tests.e2e.studio import Studio

pytestmark = pytest.mark.e2e

RUN = "window.page.workspace.run"
PANEL = "window.sides.run"
LANE = f"next(v for v in {PANEL}.lanes.lanes.values() if v.invocation.node == 'slow').view"
ANSWER = "## Prices\n\nFell to **118** in `spring`.\n\n| region | price |\n|---|---|\n| Italy | 121 |\n\nDone."


def drawing() -> Workflow:
    """A function that writes state, an agent that answers at once and one that goes on for minutes."""
    body = 'ctx.set_state("sources", (ctx.get_state("sources") or 0) + 7)\nresult = data\n'
    slow = "".join(f"line {number} of the price list\n" for number in range(4000))
    return Workflow(
        id="seeing",
        name="Seeing",
        start="count",
        nodes=(
            FunctionNode(id="count", name="Count", body=body, accepts="any", sends="any"),
            AgentNode(id="quick", name="Quick"),
            AgentNode(id="slow", name="Slow"),
        ),
        edges=(
            FanOutEdge(id="out", source="count", targets=("quick", "slow")),
            DirectEdge(
                id="again", source="quick", target="count",
                condition=Condition(kind="expression", name="again", expression="len(text) > 5000"),
            ),
        ),
        offline=OfflineScript.model_validate(
            {"nodes": {"quick": {"replies": [ANSWER]}, "slow": {"replies": [slow]}}, "delay_ms": 15}
        ),
        places={
            "count": Place(x=0, y=100), "out": Place(x=260, y=100),
            "quick": Place(x=360, y=0), "slow": Place(x=360, y=200),
        },
    )  # fmt: skip


def answered_already() -> Workflow:
    """A clerk passes a question on without a word, while a sibling answers it."""
    ids, asked = ("front", "sibling", "clerk", "agent"), "118 euros per kWh, as the tenders say."
    return Workflow(
        id="again",
        name="Again",
        start="front",
        nodes=tuple(AgentNode(id=n, name=n.title(), instructions=f"You are the {n}.", host="turn_token") for n in ids),
        edges=(
            FanOutEdge(id="out", source="front", targets=("sibling", "clerk")),
            DirectEdge(id="on", source="clerk", target="agent"),
        ),
        offline=OfflineScript.model_validate(
            {"nodes": {n: {"replies": [asked if n in ("sibling", "agent") else ""]} for n in ids}, "delay_ms": 0}
        ),
        sample_input="What do batteries cost?",
        places={n: Place(x=260 * at, y=100 * (at % 2)) for at, n in enumerate(ids)},
    )


def warned_before_the_call(studio: Studio) -> None:
    """W4 is said before the model is called, stands with the invocation, and can be muted for its node."""
    studio.display.key("ctrl+Tab")
    studio.wait("window.page.workspace.document.workflow.name == 'Again'")
    studio.display.key("F5")
    studio.wait(f"{RUN}.state.value == 'completed'", 60)
    told = f"[type(e).__name__ for e in {RUN}.events if getattr(e, 'node', '') == 'agent']"
    assert [kind for kind in studio.ask(told) if kind in ("RunWarned", "ModelCallStarted")] == [
        "RunWarned", "ModelCallStarted",
    ]  # fmt: skip
    studio.click("Context", "QTabBar")
    said = "window.sides.context.warnings.text.plain"
    studio.wait(f"{said}.startswith('W4 Risk of answering again. Agent sees “What do batteries cost?”')")
    studio.display.screenshot(SHOTS / "seeing-warned.png")
    studio.click("Mute for Agent", "WarningBar")
    studio.wait(f"not {said}.startswith('W4')")


def test_streams_watches_and_state(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "seeing.workflow.json"
    write_workflow(drawing(), file)
    write_workflow(answered_already(), tmp_path / "again.workflow.json")
    studio = start(str(tmp_path / "again.workflow.json"), str(file), home="seeing")
    studio.wait("window.page is not None and window.page.workspace.document.workflow.name == 'Seeing'")
    studio.click("Trust this code")
    keys, type_text = studio.display.key, studio.display.type

    # a watch is set before the run
    studio.click("Debug")
    studio.click("Watch a state key or an expression…", "WatchList")
    type_text("sources")
    keys("Return")
    studio.wait(f"{RUN}.setup.watches == ('sources',)")
    keys("ctrl+l")
    type_text("go")
    keys("F5")
    studio.wait("[v.value for v in window.sides.debug.watch.model.rows] == [7]", 60)

    # the stream is followed until the wheel goes up, and again after a click
    studio.wait(f"{PANEL}.shown_superstep == 2 and {LANE}.verticalScrollBar().maximum() > 300", 60)
    assert studio.ask(f"{LANE}.following")
    x, y, width, height = studio.ask(f"rect({LANE})")
    studio.display.move(x + width // 2, y + height // 2)
    studio.display.xdotool("click", "--repeat", 3, 4)  # the wheel, up
    studio.wait(f"not {LANE}.following")
    at = studio.ask(f"({LANE}.verticalScrollBar().value(), {LANE}.verticalScrollBar().maximum())")
    studio.wait(f"{LANE}.verticalScrollBar().maximum() > {at[1]} + 40", 60)
    assert studio.ask(f"{LANE}.verticalScrollBar().value()") == at[0]
    studio.click("Follow", "LaneView")
    studio.wait(f"{LANE}.following and {LANE}.verticalScrollBar().value() > {at[1]}")

    # what the other agent said is Markdown, as text; Ctrl+F finds in both while one grows
    quick = LANE.replace("slow", "quick")
    table = "region  price\\n──────  ─────\\nItaly   121"
    texts = f"['Prices', 'Fell to 118 in spring.', '{table}', 'Done.']"
    studio.wait(f"[b.text for b in {quick}.text.blocks] == {texts}", 60)
    studio.display.click(x + width // 2, y + height // 2)
    keys("ctrl+f")
    studio.wait(f"{PANEL}.search.isVisible()")
    type_text("price")
    studio.wait(f"{PANEL}.lanes.hit_place()[0] == 1 and {PANEL}.lanes.hit_place()[1] > 3")
    found = studio.ask(f"{PANEL}.lanes.hit_place()[1]")
    keys("Return")
    studio.wait(f"{PANEL}.lanes.hit_place()[0] == 2")
    studio.wait(f"{PANEL}.lanes.hit_place()[1] > {found}", 60)
    studio.display.screenshot(SHOTS / "seeing-streams.png")
    keys("Escape", "Escape")
    studio.wait(f"not {PANEL}.search.isVisible()")
    keys("shift+F5")
    studio.wait(f"{RUN}.state.value == 'cancelled'", 60)

    # state with its history, and what differs
    studio.click("State")
    studio.click("sources", "ValueTree")
    studio.wait("window.sides.state.shared.history.title.text == 'History of sources'")
    assert studio.ask("window.sides.state.shared.history.rows.item(0, 1).text()") == "Count"
    studio.display.screenshot(SHOTS / "seeing-state.png")
    studio.click("Difference", "StatePanel")
    studio.wait("window.sides.state.difference.one.count() > 1")
    for moment, steps in (("From this moment", ["End"]), ("To this moment", ["End", "Up"])):
        studio.click(moment, "DifferencePage")
        keys(*steps, "Return")
    studio.wait("(lambda d: (d.one.moment, d.other.moment))(window.sides.state.difference) == (0, 1)")
    studio.wait("window.sides.state.difference.count.text() == '1 value differs'")
    studio.click("Nodes", "StatePanel")
    studio.display.screenshot(SHOTS / "seeing-nodes.png")
    keys("ctrl+s")
    warned_before_the_call(studio)
