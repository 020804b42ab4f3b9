"""Templates, drawn documents and random ones give on the real framework what they give on the embedded engine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from studio.document.model import AgentNode, OfflineScript, SubWorkflowNode, Workflow
from studio.document.validate import problems
from studio.export import export_project
from studio.proof.model import Outcome

from tests.agents.test_mcp_http import serving
from tests.assembly.test_kinds import function, workflow
from tests.export import around
from tests.export.corpus import documents, templates
from tests.importers.test_round_trip import _document
from tests.proof.batch import differences


async def test_every_template(tmp_path: Path) -> None:
    """And some of them, and of what is around agents, speaking Responses to the model."""
    flows, others = templates(), around.documents()
    tools = ("text_json", "runner tool", "runner hands over", "compaction tool_calls", "history session")
    assert set(tools) <= set(others)
    spoken = {name: others[name] for name in tools} | {name: flows[name] for name in sorted(flows)[::4]}
    responses = {f"{name} (responses)": flow for name, flow in spoken.items()}

    def export(name: str, flow: Workflow, package: str) -> dict[str, str]:
        return export_project(flow, package, client="responses" if name in responses else "chat_completions")

    found = await differences(flows | responses, tmp_path, export=export, restored=flows.__contains__)
    assert found == {}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_everything_around_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools and their limits, providers, histories, middleware, compaction, conversation runners, MCP servers that are
    programs, and one over HTTP."""
    monkeypatch.setenv("STUDIO_TEST_DESK", "seven")
    flows = around.documents()
    restored = [name for number, name in enumerate(flows) if name.startswith("history") or number % 5 == 0]
    async with serving() as (served, url, _):
        flows |= around.web_servers(url)
        restored.append("server over HTTP")
        runs: dict[str, Outcome] = {}
        assert await differences(flows, tmp_path, restored=restored.__contains__, outcomes=runs) == {}
    assert runs["server over HTTP"].outputs[-1] == ("a", 'sum {"result": 5}')
    assert {(headers.get("x-team"), headers.get("x-desk")) for headers in served.headers} == {("blue", "seven")}


@pytest.mark.long
async def test_every_kind_of_node_and_edge(tmp_path: Path) -> None:
    """Graphs and events too; the outputs of these documents are compared in ``test_same_as_exported``."""
    assert await differences(documents(), tmp_path) == {}


async def test_a_difference_is_found(tmp_path: Path) -> None:
    flow = templates()["template_sequential"]
    other = flow.model_copy(update={"max_supersteps": 2})
    kept = _keeping("1", "")
    exported = {"one": other, "kept": kept, "not kept": _keeping("lambda: 1", "()")}
    flows = {"one": flow, "kept": kept, "not kept": kept}
    found = await differences(flows, tmp_path, export=lambda name, _, package: export_project(exported[name], package))
    assert "failed only in the code" in found["one"]
    assert found["not kept"].startswith("restores: No checkpoint could be saved after superstep 1. Failed to create")
    assert len(found) == 2


def _keeping(what: str, call: str) -> Workflow:
    """Two functions, of which the first puts something into the state that the other takes."""
    keeps = function("keep", f"ctx.set_state('kept', {what})\nresult = data")
    shows = function("show", f"result = str(ctx.get_state('kept'){call})", sends="", yields="text")
    return workflow([keeps, shows], sample_input="x")


def _script(chance: random.Random, flow: Workflow) -> Workflow:
    """Replies for every agent, so that conditions are true and false; agents have instructions of their own, by which
    the server knows them."""
    replies = ["yes", "no", "a longer answer", '{"score": 8}', "ü yes"]
    nodes, script = [], {}
    for node in flow.nodes:
        if isinstance(node, AgentNode):
            script[node.id] = {"replies": [chance.choice(replies)], "then": "repeat_last"}
            node = node.model_copy(update={"instructions": f"{node.instructions} ({node.id} {chance.random()})"})
        elif isinstance(node, SubWorkflowNode) and node.embedded is not None:
            node = node.model_copy(update={"embedded": _script(chance, node.embedded)})
        nodes.append(node)
    return flow.model_copy(
        update={"nodes": tuple(nodes), "offline": OfflineScript(nodes=script), "sample_input": chance.choice(replies)}
    )


FUNCTION_BESIDE_AGENTS = 50_034
"""Number of a random document with a function beside agents in a sub-workflow: the framework has its output first."""


def random_document(seed: int) -> Workflow:
    """A drawing with a script for its agents, the same for the same number."""
    chance = random.Random(seed)
    return _script(chance, _document(chance))


def _random(wanted: int, seed: int) -> dict[str, Workflow]:
    found: dict[str, Workflow] = {}
    while len(found) < wanted:
        seed += 1
        flow = random_document(seed)
        if not any(p.severity == "error" for p in problems(flow)):
            found[f"seed {seed}"] = flow
    return found


async def test_random_documents(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    long = request.config.getoption("--long")
    wanted = 2_000 if long else 200
    flows = _random(wanted, 40_000) | {"function beside agents": random_document(FUNCTION_BESIDE_AGENTS)}
    assert await differences(flows, tmp_path, restored=lambda name: long or name.endswith("0")) == {}
