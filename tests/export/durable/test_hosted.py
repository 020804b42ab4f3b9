"""On two workers a workflow gives what the embedded engine gives, and a killed worker loses nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from studio.agents.offline import serve
from studio.assembly import served_model
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FunctionNode,
    HumanInputNode,
    StateDecl,
    SubWorkflowNode,
    ToolDecl,
    Workflow,
)
from studio.export.durable import findings
from studio.proof.expected import Sample, offline_source, outcome_of
from studio.proof.model import Outcome

from tests.assembly.running import script
from tests.assembly.test_kinds import agent, contains, direct, function, show, workflow
from tests.export.corpus import documents
from tests.export.durable.hosts import HostedRun, Hosts, wait_for

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.asyncio(loop_scope="module"),
]


def _several_approvals() -> Workflow:
    """An agent that asks for two approvals and a result in one turn; answered one by one they would undo each other."""
    calls = [{"id": f"c{n}", "tool": tool, "arguments": {}} for n, tool in enumerate(("buy", "buy", "measure"))]
    tools = (
        ToolDecl(name="buy", source="def buy() -> str:\n    return 'bought'", approval="always"),
        ToolDecl(name="measure", approval="caller"),
    )
    replies = script(a=[{"calls": calls}, {"echo": "> "}])
    return workflow([agent("a", tools=("buy", "measure")), show()], tools=tools, offline=replies)


def _asks_inside() -> Workflow:
    ask = HumanInputNode(id="ask", name="Ask", question="{input}?", answer_type="number")
    inner = workflow([ask, function("end", "result = data * 2", accepts="number", sends="nothing", yields="number")])
    return workflow([SubWorkflowNode(id="sub", name="Sub", embedded=inner, propagate_requests=True), show()])


def _drops() -> Workflow:
    """A node sends one of two types; only one of its targets takes both."""
    give = function("give", "result = {'n': 1} if len(data) > 3 else data", sends="text | object")
    takes = FunctionNode(id="takes", name="Takes", body="result = data", accepts="text", sends="nothing", yields="text")
    edges = [direct("give", "takes"), direct("give", "show", contains("n"))]
    return workflow([give, takes, show()], edges)


EXTRA = {
    "several_approvals": _several_approvals(),
    "asks_inside": _asks_inside(),
    "drops_long": _drops().model_copy(update={"sample_input": "long enough"}),
    "drops_short": _drops().model_copy(update={"sample_input": "no"}),
}


QUICK = (
    "case_both case_text_or_record case_join_messages case_approved_tool case_switch_state case_selection case_loop "
    "case_agents_inside case_asks_number case_layers template_approval_gate template_concurrent template_handoff "
    "template_interview template_research_brief"
)
"""Documents that are run each time, beside those made for this; the others with ``--long``."""


def _all() -> dict[str, Workflow]:
    """Every document that this target takes, with a name of its own."""
    found = {f"hosted_{name}": flow for name, flow in {**documents(), **EXTRA}.items()}
    taken = {name: flow for name, flow in found.items() if not any(f.refused for f in findings(flow))}
    script = {name: flow.offline.model_copy(update={"delay_ms": 0}) for name, flow in taken.items()}
    return {name: flow.model_copy(update={"name": name, "offline": script[name]}) for name, flow in taken.items()}


def _chosen(long: bool) -> dict[str, Workflow]:
    quick = {f"hosted_{name}" for name in (*QUICK.split(), *EXTRA)}
    return {name: flow for name, flow in ALL.items() if long or name in quick}


ALL = _all()
OTHER_STEPS = {
    "hosted_asks_inside": [["sub"], ["show"]],  # the superstep of the node around it lasts until the answer
    "hosted_several_approvals": [["a"], ["a"], ["show"]],  # all answers of one turn come together
}


def _story(marker: Path) -> Workflow:
    """An agent, a function that fails while a file is missing, a question, and a count in shared state."""
    fails = f"open({str(marker)!r}).close()\nctx.set_state('n', ctx.get_state('n') + 1)\nresult = data"
    shout = "ctx.set_state('n', ctx.get_state('n') + 1)\nresult = data.upper()"
    return Workflow(
        name="Story",
        start="write",
        outputs=("end",),
        nodes=(
            AgentNode(id="write", name="Write", instructions="Write the story."),
            FunctionNode(id="shout", name="Shout", body=shout),
            FunctionNode(id="check", name="Check", body=fails),
            HumanInputNode(id="ask", name="Ask", question="{input}?"),
            FunctionNode(
                id="end", name="End", body="result = f\"{data} {ctx.get_state('n')}\"", sends="nothing", yields="text"
            ),
        ),
        edges=tuple(
            DirectEdge(id=f"e{i}", source=a, target=b)
            for i, (a, b) in enumerate([("write", "shout"), ("shout", "check"), ("check", "ask"), ("ask", "end")])
        ),
        state=(StateDecl(key="n", type="integer", initial=0),),
        offline=script(write=[{"echo": "story of "}]).model_copy(update={"delay_ms": 0}),
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hosts(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> AsyncIterator[Hosts]:
    """Workers that host all chosen documents, and a story for crashes."""
    found = Hosts(tmp_path_factory.mktemp("hosts"))
    servers = []
    story = _story(found.folder / "marker")
    for name, flow in {**_chosen(request.config.getoption("--long")), "story": story}.items():
        servers.append(await serve(served_model(flow)))
        found.export(name, flow, servers[-1])
    found.open()
    yield found
    await asyncio.to_thread(found.close)
    for server in servers:
        await server.close()


async def test_every_document_gives_what_the_engine_gives(hosts: Hosts) -> None:
    """Outputs, and the nodes of every superstep."""
    flows = {name: flow for name, flow in ALL.items() if name in hosts.jobs}
    source = offline_source()
    expected: dict[str, tuple[Outcome, dict[str, Any]]] = {}
    for name, flow in flows.items():
        _, outcome, answers = await outcome_of(flow, Sample(flow.sample_input or "t"), source=source)
        expected[name] = outcome, answers
    await source.close()
    await asyncio.to_thread(hosts.at_least, 2)
    started = {name: hosts.run(name, flow.sample_input or "t", expected[name][1]) for name, flow in flows.items()}
    different = {}
    for name, run in started.items():
        wanted = _wanted(expected[name][0])
        found = await asyncio.to_thread(_given, run)
        wanted = (wanted[0], OTHER_STEPS.get(name, wanted[1]))
        if wanted != found:
            different[name] = (wanted, found)
    assert different == {}
    assert len(flows) >= 19


def _sorted(outputs: list[Any]) -> list[str]:
    return sorted(json.dumps(output, sort_keys=True) for output in outputs)


def _wanted(outcome: Outcome) -> tuple[list[str], list[list[str]]]:
    steps = [sorted(node for kind, node in step if kind == "invoked") for step in outcome.supersteps]
    outputs = [value for _, value in outcome.outputs if value != ""]  # a stream may begin with an empty chunk
    return _sorted(outputs), [step for step in steps if step]


def _given(run: HostedRun) -> tuple[list[str], list[list[str]]]:
    return _sorted(run.outputs()), run.supersteps()


# ------------------------------------------------------------------------------------------- crashes of workers


async def _killed_in(hosts: Hosts, node: str) -> None:
    """A run whose worker is killed in the middle of a node ends on the other one as if nothing had been."""
    (hosts.folder / "marker").touch()
    await asyncio.to_thread(hosts.at_least, 2)
    hosts.hold(activity := f"dafx-{hosts.run_name('story')}-{node}")
    before = len(hosts.began(activity))
    run = hosts.run("story", "cats", {"ask": ["1234"]})
    process = await asyncio.to_thread(hosts.held)
    hosts.kill(process)
    assert await asyncio.to_thread(run.outputs) == ["1234 2"]
    began = hosts.began(activity)[before:]
    assert began[0] == process
    assert len(began) == 2
    assert began[1] != process, "another worker took the node"
    assert run.supersteps() == [["write"], ["shout"], ["check"], ["ask"], ["ask"], ["end"]]


async def test_a_worker_killed_in_a_function(hosts: Hosts) -> None:
    await _killed_in(hosts, "shout")


async def test_a_worker_killed_in_an_agent(hosts: Hosts) -> None:
    await _killed_in(hosts, "write")


async def test_a_question_waits_without_any_worker(hosts: Hosts) -> None:
    """Asked on one worker, answered while none lives, finished by a new one."""
    (hosts.folder / "marker").touch()
    await asyncio.to_thread(hosts.at_least, 1)
    run = hosts.run("story", "dogs", {"ask": ["a plain text"]})
    await asyncio.to_thread(wait_for, lambda: bool(run.asked()))
    (question,) = run.asked()
    assert run.project.question_text(question) == "STORY OF DOGS?"
    hosts.kill()
    run.answer()
    assert run.status() == "RUNNING"
    await asyncio.to_thread(hosts.at_least, 1)
    assert await asyncio.to_thread(run.outputs) == ["a plain text 2"]


async def test_a_failed_run_goes_on_from_the_node_that_failed(hosts: Hosts) -> None:
    (hosts.folder / "marker").unlink(missing_ok=True)
    await asyncio.to_thread(hosts.at_least, 1)
    run = hosts.run("story", "birds", {"ask": ["yes"]})
    await asyncio.to_thread(wait_for, run.has_ended)
    assert run.status().startswith("FAILED")
    assert "No such file" in run.status()
    nodes = {node.node: node for node in run.project.read_run(run.client, run.id)[0]}
    assert (nodes["shout"].state, nodes["check"].state) == ("done", "failed")
    assert "No such file" in nodes["check"].error
    before = {node: len(hosts.began(run.activity(node))) for node in ("write", "shout", "check")}
    (hosts.folder / "marker").touch()
    run.client.rewind_orchestration(run.id)
    assert await asyncio.to_thread(run.outputs) == ["yes 2"]
    after = {node: len(hosts.began(run.activity(node))) for node in before}
    assert after == {**before, "check": before["check"] + 1}, "only the failed node ran again"


async def test_a_wrong_answer_is_refused_before_it_is_sent(hosts: Hosts) -> None:
    """The workers would drop it without a word, and the question would be gone."""
    await asyncio.to_thread(hosts.at_least, 1)
    run = hosts.run("hosted_case_asks_number", "t")
    await asyncio.to_thread(wait_for, lambda: bool(run.asked()))
    (question,) = run.asked()
    for wrong in ("true", '"two"', "two", "[1]"):
        with pytest.raises(ValueError, match=r"float is wanted|Expecting value"):
            run.project.send_answer(run.client, question, wrong)
    run.project.send_answer(run.client, question, "2")
    run._answered.add(question.id)
    assert await asyncio.to_thread(run.outputs) == [2.0]
