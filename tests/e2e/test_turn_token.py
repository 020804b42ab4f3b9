"""A node is switched to the turn-token host, and its token is seen on the edge. Real pointer, real keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from studio.document.model import AgentNode, DirectEdge, OfflineScript, Place, Workflow
from studio.files import write_workflow

from tests.e2e.conftest import SHOTS
from tests.e2e.studio import Studio

pytestmark = pytest.mark.e2e

WORKFLOW = "window.page.workspace.document.workflow"
RUN = "window.page.workspace.run"


def drawing() -> Workflow:
    """Two agents in a row; the second already takes turns."""
    return Workflow(
        name="Turns",
        start="writer",
        nodes=(
            AgentNode(id="writer", name="Writer", instructions="You write."),
            AgentNode(id="critic", name="Critic", instructions="You judge.", host="turn_token"),
        ),
        edges=(DirectEdge(id="writer_to_critic", source="writer", target="critic"),),
        offline=OfflineScript(nodes={"writer": {"replies": ["A draft."]}, "critic": {"replies": ["Good."]}}),
        places={"writer": Place(x=0, y=0), "critic": Place(x=320, y=0)},
    )


def chip(studio: Studio) -> str:
    """The icon and the words of the chip on the edge; "" if there is none."""
    chips = "window.page.canvas.canvas_scene.line_layer.labels._specs"
    return str(studio.ask(f"[(s.icon, s.text) for k, s in {chips}.items() if k == ('writer_to_critic', True)]"))


def test_a_token_is_seen_on_its_edge(start: Callable[..., Studio], tmp_path: Path) -> None:
    file = tmp_path / "turns.workflow.json"
    write_workflow(drawing(), file)
    studio = start(str(file))
    display = studio.display
    studio.wait(f"len({WORKFLOW}.nodes) == 2")
    display.click(*studio.ask("spot('writer', 'middle')"))
    studio.wait("window.page.workspace.selection.items == ('writer',)")
    studio.click("C# turn token", "InspectorPanel")
    studio.wait(f"{WORKFLOW}.node('writer').host == 'turn_token'")
    studio.click("Input for the run")
    display.type("rain")
    for step in (1, 2, 3):
        display.key("F10")
        studio.wait(f"{RUN}.state.value == 'paused' and {RUN}.next_superstep == {step}", 40)
    studio.wait("any(q.type_name == 'turn_token' and q.edges == ('writer_to_critic',) for q in " + f"{RUN}.queued)")
    display.screenshot(SHOTS / "turn-token.png")
    assert "turn-token" in chip(studio)
    display.key("F5")
    studio.wait(f"{RUN}.state.value == 'completed'", 40)
    assert studio.ask(f"[o.text for o in {RUN}.outputs]") == ["A draft.", "Good."]
