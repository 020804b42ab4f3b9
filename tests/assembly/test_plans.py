"""What refuses a plan, what belongs to it, and the services behind it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from studio.agents.errors import ProviderError
from studio.assembly import PlanError, ServiceSource, compile_plan
from studio.document import validate
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FunctionNode,
    Place,
    SubWorkflowNode,
    TemplateNode,
    UnknownNode,
    Workflow,
)
from studio.document.ready_groups import PATTERNS, add_ready_group
from studio.files import loads, write_workflow
from studio.settings import trust
from studio.settings.places import resource
from studio.settings.profiles import Profile, Profiles
from studio.settings.secrets import Secrets
from studio.workers import UserCodeError

from tests.assembly.running import Bench, script


def coded(body: str = "result = data", **fields: Any) -> Workflow:
    node = FunctionNode(id="f", name="F", body=body, sends="nothing", yields="any")
    return Workflow(start="f", nodes=(node,), **fields)


def asking(profile: str | None = None) -> Workflow:
    node = AgentNode(id="a", name="A", profile=profile)
    return Workflow(start="a", nodes=(node,), offline=script(a=["hello"]))


def problems(workflow: Workflow, source: ServiceSource, folder: Path | None = None) -> list[tuple[str, str]]:
    with pytest.raises(PlanError) as caught:
        compile_plan(workflow, source.services(workflow, folder))
    return [(p.code, p.place) for p in caught.value.problems]


async def test_code_that_nobody_accepted_gives_no_plan_until_it_is_trusted() -> None:
    bench = Bench(trusts=trust.is_trusted)
    assert problems(coded(), bench.source) == [("untrusted_code", "f")]
    trust.trust(coded())
    assert (await bench.run(coded())).outputs == [("f", "in")]
    assert problems(coded("result = 2"), bench.source) == [("untrusted_code", "f")]
    await bench.source.close()


async def test_trust_in_a_file_is_no_trust_in_the_files_it_links(tmp_path: Path) -> None:
    bench = Bench(trusts=trust.is_trusted)
    write_workflow(coded("result = 'evil'"), tmp_path / "inner.workflow.json")
    sub = SubWorkflowNode(id="sub", name="Sub", path="inner.workflow.json")
    node = FunctionNode(id="f", name="F", body="result = data", sends="nothing", yields="any")
    outer = Workflow(start="sub", nodes=(sub, node), edges=(DirectEdge(id="e", source="sub", target="f"),))
    trust.trust(outer)
    assert problems(outer, bench.source, tmp_path) == [("untrusted_code", "sub")]
    trust.trust(coded("result = 'evil'"))
    assert (await bench.run(outer, folder=tmp_path)).outputs == [("f", "evil")]
    await bench.source.close()


async def test_a_document_with_errors_gives_no_plan(bench: Bench) -> None:
    assert [code for code, _ in problems(Workflow(), bench.source)] == ["empty"]
    unknown = Workflow(start="x", nodes=(UnknownNode(id="x", name="X", kind="hologram"),))
    assert [place for _, place in problems(unknown, bench.source)] == ["x"]


async def test_a_profile_that_is_not_there_is_named_with_the_way_out(bench: Bench) -> None:
    with pytest.raises(PlanError, match="“Gone”, which is not there"):
        compile_plan(asking("Gone"), bench.source.services(asking("Gone")))


async def test_nodes_that_the_start_does_not_reach_are_left_out(bench: Bench) -> None:
    lonely = asking().model_copy(update={"nodes": (*asking().nodes, TemplateNode(id="t", name="T"))})
    ran = await bench.run(lonely)
    assert ran.order == ["a"]
    assert ran.outputs[0][1].text == "hello"


async def test_a_plan_can_be_prepared_and_tells_of_broken_modules(bench: Bench) -> None:
    plan = compile_plan(coded(), bench.source.services(coded()))
    await plan.prepare()
    missing = coded(interpreter="/nowhere/python")
    with pytest.raises(UserCodeError, match="/nowhere/python cannot be started"):
        await compile_plan(missing, bench.source.services(missing)).prepare()


async def test_two_plans_of_one_document_keep_their_own_code(bench: Bench) -> None:
    one, two = coded("result = 1"), coded("result = 2")
    two = two.model_copy(update={"id": one.id})
    plans = [compile_plan(w, bench.source.services(w)) for w in (one, two, one)]
    assert [(await p.engine.run("x")).outputs for p in plans] == [(1,), (2,), (1,)]
    assert len(bench.source._workers) == 1


async def test_stopping_a_run_in_an_endless_loop_leaves_nothing_and_the_next_run_works(bench: Bench) -> None:
    plan = compile_plan(coded("print('in')\nwhile True: pass"), bench.source.services(coded()))
    printed = asyncio.Event()

    class Sink:
        def append(self, event: Any) -> None:
            if type(event).__name__ == "LinePrinted":
                printed.set()

    task = asyncio.create_task(plan.engine.run("x", events=Sink()))
    await asyncio.wait_for(printed.wait(), 60)
    loop = asyncio.get_running_loop()
    started = loop.time()
    task.cancel()
    await asyncio.wait([task])
    assert loop.time() - started < 0.2
    assert plan.engine.state == "CANCELLED"
    assert (await bench.run(coded())).outputs == [("f", "in")]


async def test_closing_a_document_ends_its_worker(bench: Bench) -> None:
    flow = coded("import os\nresult = os.getpid()")
    pid = (await bench.run(flow)).outputs[0][1]
    await bench.source.forget(flow.id)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_missing_key_is_told_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = Profiles().with_profile(Profile("Work", "openai", "http://127.0.0.1:9/v1", "env:MY_KEY", "m"))
    source = ServiceSource(lambda: profiles, Secrets())
    plan = compile_plan(asking("Work"), source.services(asking("Work")))
    with pytest.raises(ProviderError, match="Work: variable MY_KEY is not set") as caught:
        await plan.engine.run("x")
    assert caught.value.kind == "bad_key"
    await source.close()


async def test_a_provider_of_the_call_overrules_the_nodes() -> None:
    bench = Bench(provider="Offline model")
    assert (await bench.run(asking("Gone"))).outputs[0][1].text == "hello"
    await bench.source.close()


def _templates() -> list[Path]:
    return sorted(resource("templates").glob("*.workflow.json"))


@pytest.mark.parametrize("file", _templates(), ids=lambda p: p.name.partition(".")[0])
async def test_every_template_gives_a_plan(file: Path, bench: Bench) -> None:
    workflow = loads(file.read_text(encoding="utf-8"))
    plan = compile_plan(workflow, bench.source.services(workflow))
    assert set(plan.node_fingerprints) == {n.id for n in workflow.nodes}
    assert json.loads(json.dumps(plan.engine.signature))


def test_the_templates_of_the_welcome_page() -> None:
    """Eleven, none with anything for the list of problems."""
    flows = [loads(file.read_text(encoding="utf-8")) for file in _templates()]
    assert sorted(flow.name for flow in flows) == [
        "Approval gate", "Concurrent", "Extract and file", "Fact check", "Group chat", "Handoff", "Interview",
        "Research brief", "Sequential", "Support triage", "Write and critique",
    ]  # fmt: skip
    assert [problem.message for flow in flows for problem in validate.problems(flow)] == []
    assert all(flow.sample_input and flow.description and flow.offline.nodes for flow in flows)


@pytest.mark.parametrize("kind", PATTERNS)
async def test_a_pattern_from_the_palette_runs_offline(kind: str, bench: Bench) -> None:
    ready = loads((resource("templates") / f"{kind.replace('_', '-')}.workflow.json").read_text(encoding="utf-8"))
    edit, _ = add_ready_group(Workflow(id="w"), ready, kind, Place(x=0, y=0))
    workflow = edit.apply(Workflow(id="w")).workflow
    ran = await bench.run(workflow, workflow.sample_input)
    assert ran.outputs
    assert {node for node, _ in ran.outputs} <= set(workflow.outputs or ())
