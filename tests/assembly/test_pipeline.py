"""What is set around an agent in a drawing is what happens when it runs: loop, history, providers, compaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from studio.agents.context_providers import attribution
from studio.agents.messages import Message
from studio.assembly import PlanError, compile_plan
from studio.document.agent_options import Compaction, ContextProvider, ToolLoop
from studio.document.model import AgentNode, ModuleDecl, ToolDecl, Workflow
from studio.engine import events as ev

from tests.assembly.running import Bench, Ran, script
from tests.assembly.test_kinds import agent, function, workflow


def calls(ran: Ran, node: str = "a") -> list[list[Message]]:
    """What the model saw, call by call."""
    return [list(e.messages) for e in ran.events if isinstance(e, ev.ModelCallStarted) and e.node == node]


def texts(messages: list[Message]) -> list[str]:
    return [m.text for m in messages]


# ---------------------------------------------------------------------------------------------------- tool loop

TOOLS = (
    ToolDecl(name="look", call="lib:look", parameters={"type": "object", "properties": {}}),
    ToolDecl(name="fail", call="lib:fail", parameters={"type": "object", "properties": {}}),
)
LIB = ModuleDecl(name="lib", source="def look():\n    return 'seen'\n\ndef fail():\n    raise ValueError('the reason')")


def call(tool: str, id: str) -> dict[str, Any]:
    return {"calls": [{"id": id, "tool": tool, "arguments": {}}]}


def looping(loop: ToolLoop, *replies: Any, **fields: Any) -> Workflow:
    node = agent("a", tools=("look", "fail"), tool_loop=loop, **fields)
    return workflow([node], tools=TOOLS, modules=(LIB,), offline=script(a=list(replies)))


async def test_the_limit_of_model_calls(bench: Bench) -> None:
    ran = await bench.run(looping(ToolLoop(max_iterations=2), call("look", "1"), call("look", "2"), "last", "never"))
    assert len(calls(ran)) == 3
    assert ran.outputs[-1][1].text.endswith("last")


async def test_what_the_model_is_told_of_a_failing_tool(bench: Bench) -> None:
    short = await bench.run(looping(ToolLoop(), call("fail", "1"), {"echo": "got "}))
    assert short.outputs[-1][1].text == "got Error: Function failed."
    long = await bench.run(looping(ToolLoop(include_detailed_errors=True), call("fail", "1"), {"echo": "got "}))
    assert "the reason" in long.outputs[-1][1].text


async def test_a_loop_that_is_off_runs_no_tool(bench: Bench) -> None:
    ran = await bench.run(looping(ToolLoop(enabled=False), call("look", "1")))
    assert not [e for e in ran.events if isinstance(e, ev.ToolStarted)]


async def test_an_unknown_tool_may_fail_the_run(bench: Bench) -> None:
    told = await bench.run(looping(ToolLoop(), call("nothing", "1"), "went on"))
    assert told.outputs[-1][1].text.endswith("went on")
    with pytest.raises(KeyError, match="nothing"):
        await bench.run(looping(ToolLoop(terminate_on_unknown_calls=True), call("nothing", "1"), "x"))


async def test_a_hidden_tool_waits_for_the_caller(bench: Bench) -> None:
    node = agent("a", tools=("look",), tool_loop=ToolLoop(additional_tools=("fail",)))
    flow = workflow([node], tools=TOOLS, modules=(LIB,), offline=script(a=[call("fail", "1"), "x"]))
    ran = await bench.run(flow)
    assert [r.data.name for r in ran.result.requests] == ["fail"]


async def test_the_choice_of_a_tool_reaches_the_model(bench: Bench) -> None:
    seen: list[Any] = []
    flow = workflow([agent("a", tools=("look",), tool_choice="required", parallel_tool_calls=False)], tools=TOOLS,
                    modules=(LIB,), offline=script(a=["x"]))  # fmt: skip
    services = bench.source.services(flow)
    inner = services.client_for(flow.nodes[0])  # type: ignore[arg-type]

    class Watched:
        model = "offline"

        async def complete(self, request: Any, **more: Any) -> Any:
            seen.append((request.options.tool_choice, request.options.parallel_tool_calls))
            return await inner.complete(request, **more)

    from dataclasses import replace

    plan = compile_plan(flow, replace(services, client_for=lambda _: Watched()))  # type: ignore[arg-type,return-value]
    await plan.engine.run("in")
    assert seen == [("required", False)]


# ---------------------------------------------------------------------------------------------------- providers


async def test_providers_add_in_their_order(bench: Bench) -> None:
    providers = (
        ContextProvider(kind="text", text="One.", adds="user"),
        ContextProvider(
            kind="code", body="result = f'Asked {messages[-1].text} in {len(session_id) > 0}'", adds="system"
        ),
        ContextProvider(kind="text", name="rules", text="Be short."),
    )
    ran = await bench.run(workflow([agent("a", providers=providers)], offline=script(a=["ok"])), "hi")
    seen = calls(ran)[0]
    assert [(m.role, m.text) for m in seen] == [("user", "One."), ("system", "Asked hi in True"), ("user", "hi")]
    sources = [a["source_id"] for m in seen if (a := attribution(m)) is not None]
    assert sources == ["text_1", "code_2"]


async def test_a_provider_in_a_module_gives_instructions_and_messages(bench: Bench) -> None:
    source = (
        "from agent_framework import Message\n"
        "def add(messages, session_id):\n"
        "    return {'instructions': 'Extra.', 'messages': [Message('user', ['from code'])]}"
    )
    node = agent("a", providers=(ContextProvider(kind="code", call="lib:add"),))
    ran = await bench.run(
        workflow([node], modules=(ModuleDecl(name="lib", source=source),), offline=script(a=["ok"])), "hi"
    )
    assert texts(calls(ran)[0]) == ["from code", "hi"]


async def test_a_provider_that_gives_something_else_fails_with_a_sentence(bench: Bench) -> None:
    node = agent("a", providers=(ContextProvider(kind="code", body="result = 7"),))
    with pytest.raises(TypeError, match="must leave a text, messages"):
        await bench.run(workflow([node], offline=script(a=["ok"])))


def remembering(store: str, path: str = "", **fields: Any) -> Workflow:
    node = agent("a", providers=(ContextProvider(kind="history", store=store, path=path),), **fields)  # type: ignore[arg-type]
    return workflow([node], offline=script(a=["one", "two"]), id="memo")


@pytest.mark.parametrize(("store", "path"), [("file", "memory"), ("sqlite", "memory/chats.db")])
async def test_a_history_outside_lives_on_in_the_next_plan(bench: Bench, tmp_path: Path, store: str, path: str) -> None:
    flow = remembering(store, path)
    assert texts(calls(await bench.run(flow, "first", folder=tmp_path))[0]) == ["first"]
    again = await bench.run(flow, "second", folder=tmp_path)
    assert texts(calls(again)[0]) == ["first", "one", "second"]
    assert (tmp_path / path).exists()


async def test_a_history_in_the_session_ends_with_the_plan(bench: Bench) -> None:
    flow = remembering("session")
    await bench.run(flow, "first")
    assert texts(calls(await bench.run(flow, "second"))[0]) == ["second"]


async def test_a_history_without_a_path_is_among_the_users_data(bench: Bench) -> None:
    from studio.settings import places

    await bench.run(remembering("sqlite"), "first")
    assert (places.data_dir() / "histories" / "memo.db").exists()


async def test_a_history_next_to_an_unsaved_workflow_is_refused(bench: Bench) -> None:
    flow = remembering("file", "memory")
    with pytest.raises(PlanError, match="save the workflow first"):
        compile_plan(flow, bench.source.services(flow))


async def test_a_history_that_only_writes_is_not_shown_to_the_model(bench: Bench, tmp_path: Path) -> None:
    log = ContextProvider(kind="history", store="file", path="log", load=False, store_inputs=False)
    flow = workflow([agent("a", providers=(log,))], offline=script(a=["one", "two"]), id="memo")
    await bench.run(flow, "first", folder=tmp_path)
    assert texts(calls(await bench.run(flow, "second", folder=tmp_path))[0]) == ["second"]
    lines = (tmp_path / "log" / "memo-a.jsonl").read_text(encoding="utf-8")
    assert "one" in lines
    assert "first" not in lines


async def test_history_per_model_call_keeps_what_a_failing_run_got_so_far(bench: Bench, tmp_path: Path) -> None:
    history = ContextProvider(kind="history", store="file", path="h")
    flow = looping(
        ToolLoop(), call("look", "1"), {"error": "down", "status": 400}, providers=(history,), store_per_call=True
    )
    flow = flow.model_copy(update={"id": "memo"})
    with pytest.raises(Exception, match="down"):
        await bench.run(flow, "first", folder=tmp_path)
    kept = (tmp_path / "h" / "memo-a.jsonl").read_text(encoding="utf-8")
    assert "first" in kept
    assert "look" in kept


# --------------------------------------------------------------------------------------------------- compaction


def talkative(compaction: Compaction, **fields: Any) -> Workflow:
    """Two agents that share one session, the second after two turns of the first."""
    nodes = [
        agent("a", session="s"),
        function("next", "result = 'more'"),
        agent("b", session="s", compaction=compaction, **fields),
    ]
    return workflow(nodes, offline=script(a=["one"], b=["two"]))


@pytest.mark.parametrize(
    ("compaction", "seen"),
    [
        (Compaction(), ["in", "one", "more"]),
        (Compaction(strategy="truncation", most=2, target=1), ["more"]),
        (Compaction(strategy="truncation", most=2, target=2, keep_first_user=True), ["in", "more"]),
        (Compaction(strategy="truncation", unit="tokens", most=100, target=50), ["in", "one", "more"]),
        (Compaction(strategy="sliding_window", keep_last=2), ["one", "more"]),
        (Compaction(strategy="token_budget", budget=2, steps=()), ["more"]),
        (Compaction(strategy="context_window", window=200, output=1), ["in", "one", "more"]),
    ],
)
async def test_a_strategy_shortens_what_the_model_sees(bench: Bench, compaction: Compaction, seen: list[str]) -> None:
    ran = await bench.run(talkative(compaction))
    shown = texts(calls(ran, "b")[0])
    if compaction.strategy == "token_budget":
        assert shown[-1] == seen[-1]
        assert len(shown) < 3
    else:
        assert shown == seen


async def test_a_summary_stands_for_what_was_said(bench: Bench) -> None:
    flow = talkative(Compaction(strategy="summarizing", target=1, slack=0))
    # The summary has no author, so the built-in model takes it for an answer of this agent.
    flow = flow.model_copy(update={"offline": script(a=["one"], b=["unused", "two"])})
    ran = await bench.run(flow)
    shown = calls(ran, "b")[0]
    assert len(shown) == 2
    assert shown[0].role == "assistant"
    assert shown[-1].text == "more"


async def test_a_compaction_provider_shortens_what_the_session_remembers(bench: Bench) -> None:
    after = ContextProvider(
        kind="compaction", when="after", compaction=Compaction(strategy="sliding_window", keep_last=1)
    )
    nodes = [
        agent("a", session="s", providers=(ContextProvider(kind="history"), after)),
        function("next", "result = 'more'"),
        agent("b", session="s"),
    ]
    ran = await bench.run(workflow(nodes, offline=script(a=["one"], b=["two"])))
    assert texts(calls(ran, "b")[0]) == ["in", "one", "more"]


def test_the_layers_of_a_turn_token_agent_are_the_same() -> None:
    node = AgentNode(id="a", name="A", host="turn_token", tool_loop=ToolLoop(max_iterations=3))
    from studio.assembly.pipeline import loop_settings

    found = loop_settings(node, ())
    assert found is not None
    assert found.max_iterations == 3
    assert loop_settings(AgentNode(id="b", name="B"), ()) is None
