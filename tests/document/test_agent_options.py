"""Checks of what is set around an agent, and of conversation runners."""

from __future__ import annotations

from typing import Any

import pytest
from studio.document.agent_options import (
    Compaction,
    ContextProvider,
    MiddlewareDecl,
    RunnerAgent,
    RunnerSettings,
    ToolLoop,
)
from studio.document.fingerprint import node_fingerprints
from studio.document.model import ModuleDecl, OfflineScript, RunnerNode, ToolDecl
from studio.document.runners import all_agents, transfer_tool, unreached
from studio.settings import trust

from tests.document.building import Drawing


def agent(**values: Any) -> Drawing:
    drawing = Drawing("agent")
    drawing.set("agent", **values)
    return drawing


@pytest.mark.parametrize(
    ("values", "code", "field"),
    [
        ({"tool_loop": ToolLoop(max_iterations=0)}, "tool_loop", "tool_loop.max_iterations"),
        ({"tool_loop": ToolLoop(max_duration_seconds=-1)}, "tool_loop", "tool_loop.max_duration_seconds"),
        ({"tool_loop": ToolLoop(additional_tools=("x",))}, "unknown_tool", "tool_loop.additional_tools"),
        ({"tool_choice": "x"}, "tool_choice", "tool_choice"),
        ({"compaction": Compaction(strategy="truncation", most=3, target=4)}, "compaction", "compaction.strategy"),
        ({"compaction": Compaction(strategy="context_window", output=128_000)}, "compaction", "compaction.strategy"),
        ({"providers": (ContextProvider(kind="text"),)}, "provider_empty", "providers.0"),
        ({"providers": (ContextProvider(kind="compaction"),)}, "provider_empty", "providers.0"),
        ({"providers": (ContextProvider(kind="code"),)}, "no_code", "providers.0"),
        ({"providers": (ContextProvider(kind="code", body="x ="),)}, "syntax", "providers.0"),
        ({"providers": (ContextProvider(kind="code", call="m:f"),)}, "unknown_module", "providers.0"),
        (
            {"providers": (ContextProvider(kind="history"), ContextProvider(kind="history"))},
            "history_twice",
            "providers",
        ),
        (
            {
                "providers": (
                    ContextProvider(kind="text", name="a", text="x"),
                    ContextProvider(kind="history", name="a"),
                )
            },
            "provider_twice",
            "providers",
        ),
        ({"store_per_call": True}, "no_history", "store_per_call"),
        ({"middleware": (MiddlewareDecl(body=""),)}, "no_code", "middleware.0"),
        ({"middleware": (MiddlewareDecl(body="x", call="m:f"),)}, "function_twice", "middleware.0"),
    ],
)
def test_what_is_wrong_around_an_agent(values: dict[str, Any], code: str, field: str) -> None:
    found = agent(**values).problem(code)
    assert (found.place, found.field) == ("agent", field)


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("agent", "await call_next()\ncontext.result = 'x'", True),
        ("chat", "await call_next()\nprint(context.result.text)", True),
        ("function", "await call_next()\nprint(context.result)", False),
        ("agent", "context.result = 'x'", False),
        ("agent", "await call_next()\ncontext.stream_result_hooks.append(f)\nprint(context.result)", False),
    ],
)
def test_code_that_waits_for_the_answer_is_told_about_streaming(kind: Any, body: str, told: bool) -> None:
    codes = agent(middleware=(MiddlewareDecl(kind=kind, body=body),)).codes()
    assert codes == (["middleware_streams"] if told else [])


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../b", "C:\\x", "a\\b"])
def test_a_history_stays_in_the_folder_of_the_workflow(path: str) -> None:
    history = ContextProvider(kind="history", store="file", path=path)
    assert agent(providers=(history,)).problem("history_path").field == "providers.0"
    fine = ContextProvider(kind="history", store="sqlite", path="memory/chats.db")
    assert agent(providers=(fine,)).codes() == []


@pytest.mark.parametrize("strategy", ["truncation", "sliding_window", "tool_calls", "token_budget", "context_window"])
def test_the_defaults_of_a_strategy_are_fine(strategy: Any) -> None:
    assert agent(compaction=Compaction(strategy=strategy)).codes() == []


def test_code_around_an_agent_asks_for_trust_and_counts_for_the_fingerprint() -> None:
    before = agent()
    drawing = agent(
        middleware=(MiddlewareDecl(body="await call_next()"), MiddlewareDecl(kind="chat", call="m:f")),
        providers=(ContextProvider(kind="text", text="no code"), ContextProvider(kind="code", body="result = 'x'")),
    )
    found = [(p.kind, p.place) for p in trust.parts(drawing.workflow)]
    assert found == [
        ("body", "agent.middleware.1"),
        ("call", "agent.middleware.2"),
        ("body", "agent.providers.2"),
    ]
    first = node_fingerprints(drawing.workflow)["agent"]
    assert first != node_fingerprints(before.workflow)["agent"]
    drawing.set_workflow(modules=(ModuleDecl(name="m", source="async def f(context, call_next): ..."),))
    assert node_fingerprints(drawing.workflow)["agent"] != first


# ----------------------------------------------------------------------------------------------------- runners


def runner(*agents: RunnerAgent, **values: Any) -> Drawing:
    drawing = Drawing("runner")
    drawing.set("conversation_runner", agents=agents, **values)
    return drawing


def one(id: str, *handoffs: str, **values: Any) -> RunnerAgent:
    return RunnerAgent(
        **{"id": id, "name": id.title(), "instructions": f"You are {id}.", "handoffs": handoffs, **values}
    )


def test_a_runner_without_problems() -> None:
    drawing = runner(one("front", "billing"), one("billing", "front"))
    assert drawing.codes() == []
    node = drawing.node("conversation_runner")
    assert isinstance(node, RunnerNode)
    assert [a.id for a in all_agents(drawing.workflow)] == ["conversation_runner/front", "conversation_runner/billing"]
    assert unreached(node) == ()


@pytest.mark.parametrize(
    ("agents", "code"),
    [
        ((), "runner_empty"),
        ((one("a"), one("a", name="Other")), "runner_agent_twice"),
        ((one("a", "b"), one("b", name="A")), "runner_agent_twice"),
        ((one("a", "a"),), "runner_handoff"),
        ((one("a", "gone"),), "runner_handoff"),
        ((one("a", "b", "c"), one("b", name="Bill ing"), one("c", name="bill-ing")), "runner_tool_twice"),
        ((one("a"), one("b")), "runner_unreached"),
        ((one("a", tools=("x",)),), "unknown_tool"),
        ((one("a", name=" "),), "no_name"),
    ],
)
def test_what_is_wrong_with_a_runner(agents: tuple[RunnerAgent, ...], code: str) -> None:
    assert runner(*agents).problem(code).place == "conversation_runner"


def test_tools_of_a_runner_ask_nobody() -> None:
    drawing = runner(one("a", tools=("pay",)))
    drawing.set_workflow(tools=(ToolDecl(name="pay", approval="caller"),))
    assert drawing.problem("runner_tool_asks").message.startswith("A in “Conversation runner” uses the tool pay")


def test_limits_of_a_runner() -> None:
    drawing = runner(one("a"), settings=RunnerSettings(max_tool_iterations=0))
    assert drawing.problem("runner_limit").field == "settings.max_tool_iterations"


def test_scripts_of_agents_in_a_runner_go_where_the_runner_goes() -> None:
    from studio.document import commands

    drawing = runner(one("a"))
    script = {"replies": ["hi"]}
    drawing.set_workflow(offline=OfflineScript(nodes={"conversation_runner/a": script}))
    assert drawing.codes() == []
    drawing.do(commands.change_id(drawing.workflow, "conversation_runner", "desk"))
    assert drawing.workflow.offline.nodes == {"desk/a": script}
    copied = commands.duplicate(drawing.workflow, ("desk",))
    drawing.do(copied)
    assert [key.partition("/")[2] for key in drawing.workflow.offline.nodes] == ["a", "a"]
    drawing.do(commands.delete_items(drawing.workflow, ("desk",)))
    assert "desk/a" not in drawing.workflow.offline.nodes
    assert len(drawing.workflow.offline.nodes) == 1


def test_the_tool_that_hands_over_has_the_name_of_the_library() -> None:
    from studio.agents.runner import handoff_tool_name

    for name in ("Billing", "Über-Agent 2", "a  b", "_x_"):
        assert transfer_tool(name) == handoff_tool_name(name)
