"""The drawing and the exported code mean the same: both run, on the engine and on the real framework."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
from studio.agents.messages import AgentUpdate
from studio.agents.offline import Server, serve
from studio.assembly import served_model
from studio.assembly.texts import plain_value
from studio.document.agent_options import Compaction, ContextProvider, MiddlewareDecl, ToolLoop
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    GenericNode,
    HumanInputNode,
    JoinNode,
    ModuleDecl,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    Workflow,
)
from studio.engine.events import OutputYielded
from studio.export import export_project
from studio.files import loads
from studio.settings.places import resource

from tests.assembly.running import Bench, script
from tests.assembly.test_kinds import SCORE, agent, contains, direct, function, show, workflow
from tests.assembly.test_turns import SWITCH, host, joined, routed

Line = tuple[str, str]


def _text(data: Any) -> str:
    plain = plain_value(data)
    return plain if isinstance(plain, str) else json.dumps(plain, sort_keys=True)


def _by_node(lines: list[Line]) -> dict[str, list[str]]:
    """Outputs of one node come in order; nodes of one superstep run at once."""
    return {node: [text for other, text in lines if other == node] for node, _ in lines}


async def drawn(bench: Bench, flow: Workflow, data: str, answers: Mapping[str, Any]) -> list[Line]:
    """Outputs of a streaming run on the canvas, chunks joined."""
    ran = await bench.run(flow, data, answers, stream=True)
    lines: list[Line] = []
    open_chunks: dict[str, int] = {}
    for event in ran.events:
        if isinstance(event, OutputYielded) and not event.intermediate:
            if isinstance(event.data, AgentUpdate):
                at = open_chunks.setdefault(event.invocation, len(lines))
                if at == len(lines):
                    lines.append((event.node, ""))
                lines[at] = (event.node, lines[at][1] + event.data.text)
            else:
                lines.append((event.node, _text(event.data)))
    return lines


async def exported(module: ModuleType, server: Server, data: str, answers: Mapping[str, Any]) -> list[Line]:
    """The same of the exported project with the real framework."""
    from agent_framework.openai import OpenAIChatCompletionClient
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key=server.key, base_url=server.url) as connection:
        made = OpenAIChatCompletionClient(model="offline", async_client=connection)
        return await _outputs(module, module.build(client_factory=lambda: made), data, answers)


async def _outputs(module: ModuleType, built: Any, data: str, answers: Mapping[str, Any]) -> list[Line]:
    from agent_framework import AgentResponse, AgentResponseUpdate

    lines: list[Line] = []
    given: dict[str, Any] = {"message": data}
    while given:
        stream = built.run(stream=True, **given)
        open_chunks: dict[str, int] = {}
        asked: dict[str, Any] = {}
        async for event in stream:
            if event.type == "executor_invoked":
                open_chunks.pop(event.executor_id, None)
            if event.type == "request_info":
                asked[event.request_id] = _answer(event.data, answers.get(event.source_executor_id))
            if event.type == "output" and isinstance(event.data, AgentResponseUpdate):
                at = open_chunks.setdefault(event.executor_id, len(lines))
                if at == len(lines):
                    lines.append((event.executor_id, ""))
                lines[at] = (event.executor_id, lines[at][1] + event.data.text)
            elif event.type == "output":
                found = event.data.text if isinstance(event.data, AgentResponse) else module.plain_of(event.data)
                lines.append((event.executor_id, _text(found)))
        given = {"responses": asked} if asked else {}
    return lines


def _answer(data: Any, given: Any) -> Any:
    """The answer of a case; approvals are given, and calls answered."""
    if getattr(data, "type", "") == "function_approval_request":
        return data.to_function_approval_response(approved=True)
    if getattr(data, "type", "") == "function_call":
        from agent_framework import Content

        return Content.from_function_result(call_id=data.call_id, result="done")
    return given


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Writes an export and imports its workflow module."""
    before = set(sys.modules)

    def make(flow: Workflow) -> ModuleType:
        for path, text in export_project(flow, package="same_pkg").items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.chdir(tmp_path)
        return importlib.import_module("same_pkg.workflow")

    yield make
    for name in set(sys.modules) - before:
        if name.startswith("same_pkg"):
            del sys.modules[name]


@pytest.fixture
async def served() -> AsyncIterator[Any]:
    servers: list[Server] = []

    async def start(flow: Workflow) -> Server:
        servers.append(await serve(served_model(flow), 0))
        return servers[-1]

    yield start
    for server in servers:
        await server.close()


# ----------------------------------------------------------------------------------------------------- documents


_STATE = (StateDecl(key="tone", initial="dry"), StateDecl(key="n", type="integer", initial=2))


def _joined(merge: str, body: str = "") -> Workflow:
    join = JoinNode(id="join", name="Join", merge=merge, separator=" + ", body=body)  # type: ignore[arg-type]
    last = agent("end") if merge == "messages" else show()
    edges = [
        FanOutEdge(id="out", source="start", targets=("a", "b")),
        FanInEdge(id="in", sources=("a", "b"), target="join"),
        direct("join", last.id),
    ]
    nodes = [function("start", "result = data"), agent("a"), agent("b"), join, last]
    replies = script(a=["A"], b=["B"], end=[{"echo": "last "}])
    return workflow(nodes, edges, outputs=(last.id,), offline=replies)


def _tools(approval: str) -> Workflow:
    call = {"calls": [{"id": "c1", "tool": "add", "arguments": {"a": 2, "b": 3}}]}
    number = {"type": "integer"}
    schema: Any = {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}
    return workflow(
        [agent("calc", tools=("add",))],
        modules=(ModuleDecl(name="tools", source="def add(a: int, b: int) -> int:\n    return a + b"),),
        tools=(ToolDecl(name="add", call="tools:add", parameters=schema, approval=approval),),  # type: ignore[arg-type]
        offline=script(calc=[call, {"echo": "result "}]),
    )


def _switch(condition: Condition) -> Workflow:
    nodes = [GenericNode(id="s", name="S", kind="pass"), show("one"), show("rest")]
    case = SwitchCase(id="c1", condition=condition, target="one")
    return workflow(nodes, [SwitchEdge(id="sw", source="s", cases=(case,), default="rest")])


def _state_switch(kind: Any, written: str) -> Workflow:
    nodes = [function("s", 'ctx.set_state("n", ctx.get_state("n") + 1)\nresult = data'), show("one"), show("rest")]
    case = SwitchCase(id="c1", condition=Condition(kind=kind, expression=written, body=written), target="one")
    return workflow(nodes, [SwitchEdge(id="sw", source="s", cases=(case,), default="rest")], state=_STATE)


def _selection() -> Workflow:
    nodes = [GenericNode(id="s", name="S", kind="pass"), function("a", 'result = "a"'), function("b", 'result = "b"')]
    edges = [
        FanOutEdge(
            id="f", source="s", targets=("a", "b", "show"), selection={"a": contains("1"), "show": contains("2")}
        ),
        DirectEdge(id="e", source="a", target="end"),
    ]
    return workflow([*nodes, show(), show("end")], edges)


def _loop() -> Workflow:
    nodes = [agent("writer"), agent("critic"), show("end")]
    done = Condition(kind="expression", expression="value.score >= 8")
    case = SwitchCase(id="c1", condition=done, target="end")
    replies = script(writer=["draft 1", "draft 2"], critic=['{"score": 5}', '{"score": 9}'])
    edges = [direct("writer", "critic"), SwitchEdge(id="sw", source="critic", cases=(case,), default="writer")]
    return workflow(nodes, edges, outputs=("writer", "critic"), offline=replies)


_OBJECT = 'result = {"text": "T", "a": [1, {"b": None}], "ok": True}'
_TEMPLATE = "{text}|{value.a.0}|{state.tone}|{value.gone}|{value.ok}|{value.a}|{other}|{}"
_CHANGE = "result = data.with_text(data.agent_response.text.upper())"
_BOTH = 'await ctx.yield_output("own")\nctx.set_state("n", ctx.get_state("n", 0) + 1)\nresult = ctx.get_state("n")'


def _embedded(**fields: Any) -> Workflow:
    inner = workflow([function("twice", "result = data * 2", sends="nothing", yields="text")])
    return workflow([SubWorkflowNode(id="sub", name="Sub", embedded=inner, **fields), show()])


def _asks(answer_type: str, **fields: Any) -> Workflow:
    ask = HumanInputNode(id="ask", name="Ask", question="{input}?", answer_type=answer_type, **fields)
    return workflow([agent("a"), ask, show()], offline=script(a=["draft"]), types=(SCORE,), outputs=("show",))


def _record(accepts: str) -> Workflow:
    use = function("use", "result = repr(data) if isinstance(data, str) else data.note", accepts=accepts)
    return workflow([function("rate", "result = Score(7)", sends="Score"), use, show()], types=(SCORE,))


_LAYERS: dict[str, Any] = {
    "providers": (ContextProvider(kind="text", text="Be kind.", adds="user"), ContextProvider(kind="history")),
    "compaction": Compaction(strategy="sliding_window", keep_last=2),
    "tool_loop": ToolLoop(max_iterations=3),
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "store_per_call": True,
}


def _middleware() -> Workflow:
    body = "seen = len(context.messages)\nawait call_next()\nprint(seen)"
    return workflow([agent("a", middleware=(MiddlewareDecl(body=body, name="Count"),))], offline=script(a=["x"]))


def _updates(kind: Literal["agent", "chat"], update: str) -> Workflow:
    """Hooks on updates change what is streamed; the node behind shows what is sent on."""
    hook = f"def loud(update: {update}) -> {update} | None:\n"
    hook += "    said = [Content.from_text(update.text.upper())]\n"
    hook += f'    return {update}(contents=said, role="assistant") if update.text else None\n\n'
    hook += "context.stream_transform_hooks.append(loud)\nawait call_next()"
    given = (MiddlewareDecl(kind=kind, body=hook, name="Loud"),)
    return workflow([agent("a", middleware=given), show()], offline=script(a=["quiet words"]))


def _turns() -> dict[str, tuple[Workflow, str, Mapping[str, Any]]]:
    """Agents that work in turns, with all that a run adds around them."""
    state = Condition(rule=Rule(op="equals", path="state.mode", value="strict"))
    stateful = SWITCH.model_copy(update={"cases": (SwitchCase(id="c", condition=state, target="yes"),)})
    selection = FanOutEdge(id="fo", source="a", targets=("yes", "no"), selection={"no": contains("fine")})
    quiet = host("b", emit_agent_update_events=False, emit_agent_response_events=True)
    inner = workflow(
        [host("inner", emit_agent_response_events=True, first_token="off")], offline=script(inner=["inside"]), id="in"
    )
    template = TemplateNode(id="t", name="T", text="<{text}>")
    found: dict[str, Workflow] = {
        "turn chain": workflow([host("a"), host("b")], offline=script(a=["draft"], b=[{"echo": "seen: "}])),
        "turn options": workflow(
            [host("a", forward_incoming_messages=False, reassign_other_agents_as_users=False), quiet],
            offline=script(a=["draft"], b=[{"echo": "seen: "}]),
        ),
        "turn switch": routed([SWITCH], "good work"),
        "turn switch default": routed([SWITCH], "bad"),
        "turn state": routed([stateful], "x", state=(StateDecl(key="mode", initial="strict"),)),
        "turn edges": routed([direct("a", "yes", contains("good")), direct("a", "no", contains("fine"))], "good, fine"),
        "turn selection": routed([selection], "fine"),
        "turn join": joined("messages", host("c")),
        "turn join texts": joined("texts", show(), separator=" + "),
        "turn join request": joined("messages", agent("c")),
        "turn inside": workflow([SubWorkflowNode(id="sub", name="Sub", embedded=inner), show()]),
        "turn template": workflow([host("a"), template, show()], offline=script(a=["x"])),
    }
    return {name: (flow, "topic", {}) for name, flow in found.items()}


NOTHING: Mapping[str, Any] = {}
# fmt: off
DRAWN: dict[str, tuple[Workflow, str, Mapping[str, Any]]] = {
    "two agents": (workflow([agent("a"), agent("b")], offline=script(a=["x y"], b=[{"echo": "> "}])), "t", NOTHING),
    "last context": (
        workflow([agent("a"), agent("b", context="last_agent")], offline=script(a=["x"], b=[{"echo": "> "}])),
        "t", NOTHING,
    ),
    "custom context": (
        workflow(
            [agent("a"), agent("b", context="custom", context_filter="result = messages[:1]")],
            offline=script(a=["x"], b=[{"echo": "> "}]),
        ),
        "t",
        NOTHING,
    ),
    "text function": (
        workflow([agent("a"), function("up", "result = data.upper()"), show()], offline=script(a=["x"])), "t", NOTHING
    ),
    "response function": (
        workflow(
            [agent("a"), function("c", _CHANGE, accepts="response", sends="response"), agent("b")],
            offline=script(a=["x"], b=[{"echo": "> "}] * 2),
        ),
        "t",
        NOTHING,
    ),
    "nothing": (workflow([function("a", "pass"), show()]), "t", NOTHING),
    "both": (workflow([function("a", _BOTH, sends="integer", yields="integer"), show()], state=_STATE), "t", NOTHING),
    "record": (_record("Score"), "t", NOTHING),
    "text or record": (_record("text | Score"), "t", NOTHING),
    "template": (
        workflow(
            [function("m", _OBJECT, sends="object"), TemplateNode(id="t", name="T", text=_TEMPLATE), show()],
            state=_STATE,
        ),
        "t",
        NOTHING,
    ),
    "join texts": (_joined("texts"), "t", NOTHING),
    "join messages": (_joined("messages"), "t", NOTHING),
    "join code": (_joined("code", 'result = {"n": len(data), "first": data[0].agent_response.text}'), "t", NOTHING),
    "join nothing": (_joined("code", "pass"), "t", NOTHING),
    "tool": (_tools("never"), "t", NOTHING),
    "approved tool": (_tools("always"), "t", NOTHING),
    "switch rule": (_switch(contains("l")), "long", NOTHING),
    "switch default": (_switch(Condition(rule=Rule(op="equals", value="L", ignore_case=True))), "long", NOTHING),
    "switch python": (_switch(Condition(kind="python", body="result = len(data) > 2")), "long", NOTHING),
    "switch expression": (_switch(Condition(kind="expression", expression="len(text) > 3")), "long", NOTHING),
    "switch state": (_state_switch("expression", "state.n >= 3"), "t", NOTHING),
    "switch state python": (_state_switch("python", 'state["n"] >= 3'), "t", NOTHING),
    "switch state default": (_state_switch("expression", "state.n > 3"), "t", NOTHING),
    "selection": (_selection(), "1", NOTHING),
    "loop": (_loop(), "t", NOTHING),
    "embedded": (_embedded(), "ab", NOTHING),
    "embedded direct": (_embedded(direct_output=True), "ab", NOTHING),
    "asks text": (_asks("text", choices=("yes", "no")), "t", {"ask": "yes"}),
    "asks number": (_asks("number"), "t", {"ask": 2.5}),
    "asks boolean": (_asks("boolean"), "t", {"ask": True}),
    "asks pair": (_asks("text", send="input_and_answer"), "t", {"ask": "yes"}),
    "agents inside": (
        workflow(
            [
                SubWorkflowNode(id="sub", name="Sub", embedded=workflow([agent("a")], offline=script(a=["inner"]))),
                function("up", "result = data.upper()"),
                show(),
            ],
        ),
        "t",
        NOTHING,
    ),
}
# fmt: on


DRAWN |= _turns()
DRAWN["layers"] = (workflow([agent("a", **_LAYERS)], offline=script(a=["x y"])), "t", NOTHING)
DRAWN["middleware"] = (_middleware(), "t", NOTHING)
DRAWN["agent updates"] = (_updates("agent", "AgentResponseUpdate"), "t", NOTHING)
DRAWN["chat updates"] = (_updates("chat", "ChatResponseUpdate"), "t", NOTHING)
CASES = dict(DRAWN)


def _choices(flow: Workflow) -> dict[str, str]:
    return {n.id: (n.choices or ("fine",))[0] for n in flow.nodes if isinstance(n, HumanInputNode)}


for _file in sorted(resource("templates").glob("*.workflow.json")):
    _flow = loads(_file.read_text(encoding="utf-8"))
    _flow = _flow.model_copy(update={"offline": _flow.offline.model_copy(update={"delay_ms": 0})})
    CASES[_file.name.partition(".")[0]] = (_flow, _flow.sample_input or "t", _choices(_flow))


@pytest.mark.parametrize("name", CASES)
async def test_both_give_the_same_outputs(name: str, bench: Bench, project: Any, served: Any) -> None:
    flow, data, answers = CASES[name]
    here = await drawn(bench, flow, data, answers)
    there = await exported(project(flow), await served(flow), data, answers)
    assert _by_node(here) == _by_node(there)
