"""Documents with everything that can be set around an agent: each is run on the canvas and on the real framework."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from studio.document.agent_options import (
    Compaction,
    ContextProvider,
    MiddlewareDecl,
    RunnerAgent,
    RunnerSettings,
    ToolLoop,
)
from studio.document.model import (
    McpServerDecl,
    ModuleDecl,
    Node,
    OfflineScript,
    RunnerNode,
    ToolDecl,
    TypeDecl,
    Workflow,
)

from tests.assembly.running import script
from tests.assembly.test_kinds import agent, function, show, workflow

SERVER = Path(__file__).parents[1] / "fakes" / "mcp_server.py"
_WHAT: Any = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
LIB = ModuleDecl(
    name="lib",
    source="""\
import asyncio


def look(what: str) -> dict[str, str]:
    return {"seen": what}


async def wait(what: str) -> str:
    await asyncio.sleep(3600)
    return what


def fail(what: str) -> str:
    raise ValueError(what)


def note(what: str) -> Note:
    return Note(what)


def context(messages, session_id):
    return f"There are {len(messages)} messages."


async def stamp(context, call_next):
    await call_next()
    context.result = context.result.text + " (stamped)" if not context.stream else context.result
""",
)
_ECHO = "def text_json(what: str) -> str:\n    return what\n"
TOOLS = (
    ToolDecl(name="look", call="lib:look", parameters=_WHAT),
    ToolDecl(name="look_json", call="lib:look", parameters=_WHAT, result="json"),
    ToolDecl(name="text_json", source=_ECHO, parameters=_WHAT, result="json"),
    ToolDecl(name="wait", call="lib:wait", parameters=_WHAT, timeout=0.05),
    ToolDecl(name="quick", call="lib:look", parameters=_WHAT, timeout=50),
    ToolDecl(name="fail", call="lib:fail", parameters=_WHAT),
    ToolDecl(name="note", call="lib:note", parameters=_WHAT, max_invocations=1),
    ToolDecl(name="ask", approval="caller", parameters=_WHAT),
)  # fmt: skip
_NOTE = TypeDecl(
    name="Note", schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
)


def call(tool: str, id: str = "c1", **arguments: Any) -> dict[str, Any]:
    """A reply that calls a tool."""
    return {"calls": [{"id": id, "tool": tool, "arguments": arguments or {"what": "it"}}]}


def _flow(node: Any, *replies: Any, more: tuple[Node, ...] = (), **fields: Any) -> Workflow:
    given = {"a": list(replies), "b": [{"echo": "b heard "}]}
    base: dict[str, Any] = {"modules": (LIB,), "tools": TOOLS, "types": (_NOTE,), "offline": script(**given)}
    return workflow([node, *more], **{**base, **fields})


def _around(kind: Any, body: str, *replies: Any, **fields: Any) -> Workflow:
    node = agent("a", middleware=(MiddlewareDecl(kind=kind, body=body, name="Guard"),), tools=("look",), **fields)
    return _flow(node, *replies)


def _provided(given: ContextProvider, seen: str) -> Workflow:
    """The agent's reply says whether it was shown ``seen``."""
    return _flow(agent("a", providers=(given,)), {"when_seen": seen, "text": "shown"}, "not shown")


def tools() -> dict[str, Workflow]:
    """What is set at a tool, and at the tool loop."""
    ends = {"echo": "told "}
    found = {
        name: _flow(agent("a", tools=(name,), **fields), call(name), ends)
        for name, fields in {
            "look": {},
            "look_json": {},
            "text_json": {},
            "quick": {},
            "note": {},
        }.items()
    }
    detailed = ToolLoop(include_detailed_errors=True)
    found["fail"] = _flow(agent("a", tools=("fail",)), call("fail"), ends)
    found["fail detailed"] = _flow(agent("a", tools=("fail",), tool_loop=detailed), call("fail"), "went on")
    found["wait"] = _flow(agent("a", tools=("wait",)), call("wait"), "gave up")
    found["limit"] = _flow(agent("a", tools=("note",)), call("note"), call("note", "c2"), ends)
    hidden = ToolLoop(additional_tools=("ask",))
    found["hidden"] = _flow(agent("a", tools=("look",), tool_loop=hidden), call("ask"), ends)
    found["function"] = _flow(
        agent("a"), "x", more=(function("f", "result = Note(data)", sends="Note"), show()), outputs=("show",)
    )
    return found


def providers() -> dict[str, Workflow]:
    """Context providers of all kinds."""
    code = (
        'said = Message("user", [f"{len(messages)} so far"])\n'
        'result = {"instructions": "Be brief.", "messages": [said]}'
    )
    waits = 'import asyncio\n\nawait asyncio.sleep(0)\nreturn "from code"'
    return {
        "provider text": _provided(ContextProvider(kind="text", text="Be kind.", adds="system"), "Be kind."),
        "provider code": _provided(ContextProvider(kind="code", body='result = "from code"', adds="user"), "from code"),
        "provider object": _provided(ContextProvider(kind="code", body=code), "1 so far"),
        "provider waits": _provided(ContextProvider(kind="code", body=waits, adds="user"), "from code"),
        "provider call": _provided(ContextProvider(kind="code", call="lib:context", adds="user"), "There are 1"),
        "provider nothing": _provided(ContextProvider(kind="code", body="pass"), "None"),
        **{
            f"history {store}": _flow(
                agent("a", providers=(ContextProvider(kind="history", store=store),)),  # type: ignore[arg-type]
                "first",
                {"echo": "again "},
                more=(function("go", 'result = "more"'), agent("b")),
            )
            for store in ("session", "file", "sqlite")
        },
    }


def middleware() -> dict[str, Workflow]:
    """Middleware of each kind: before, after, instead of, terminated."""
    seen = 'context.messages.append(Message("user", ["and be kind"]))\nawait call_next()'
    options = 'context.options["temperature"] = 0.5\nawait call_next()'
    arguments = 'context.arguments["what"] = "other"\nawait call_next()'
    after = 'await call_next()\ncontext.result = "instead"'
    ends = 'raise MiddlewareTermination(result="ended")'
    kind = {"when_seen": "and be kind", "text": "kind"}
    ready = 'context.result = "ready"'
    message = 'context.result = Message("assistant", ["ready"])'
    found = {
        "agent before": _around("agent", seen, kind, "rude"),
        "chat before": _around("chat", seen, kind, "rude"),
        "chat options": _around("chat", options, "x"),
        "function before": _around("function", arguments, call("look"), {"echo": "told "}),
        "function after": _around("function", after, call("look"), {"echo": "told "}),
        "agent instead": _around("agent", ready, "x"),
        "chat instead": _around("chat", message, "x"),
        "agent ends": _around("agent", ends, "x"),
        "chat ends": _around("chat", ends, "x"),
    }
    for around, update in (("agent", "AgentResponseUpdate"), ("chat", "ChatResponseUpdate")):
        hook = f"def loud(update: {update}) -> {update} | None:\n"
        hook += "    said = [Content.from_text(update.text.upper())]\n"
        hook += f'    return {update}(contents=said, role="assistant") if update.text else None\n\n'
        hook += "context.stream_transform_hooks.append(loud)\nawait call_next()"
        found[f"{around} updates"] = _around(around, hook, "quiet words")
    plain = MiddlewareDecl(kind="agent", call="lib:stamp")
    return {f"middleware {name}": flow for name, flow in found.items()} | {
        "middleware call": _flow(agent("a", middleware=(plain,)), "x")
    }


_WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
_TALK = """\
words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
roles = ["user", "assistant"]
result = [Message(roles[n % 2], [(word + " ") * 9]) for n, word in enumerate(words)]
result.append(Message("user", ["and now?"]))"""


def compactions() -> dict[str, Workflow]:
    """Every strategy, around the model calls of an agent whose tools make its conversation longer."""
    strategies: dict[str, dict[str, Any]] = {
        "truncation": {"most": 3, "target": 2},
        "truncation tokens": {"strategy": "truncation", "unit": "tokens", "most": 60, "target": 30},
        "sliding_window": {"keep_last": 1},
        "tool_calls": {"keep_tools": 0},
        "tool_results": {"keep_tools": 1},
        "summarizing": {"target": 1, "slack": 1},
        "token_budget": {"budget": 60, "steps": ("tool_results", "sliding_window"), "keep_last": 2},
        "context_window": {"window": 120, "output": 20, "tools_at": 0.2, "truncate_at": 0.5},
    }
    found = {}
    for name, given in strategies.items():
        compaction = Compaction(**{"strategy": name, **given})
        node = agent("a", tools=("look",), compaction=compaction)
        if name.startswith("tool"):
            calls = [call("look", f"c{n}", what=f"thing {n} " * 4) for n in range(3)]
            found[f"compaction {name}"] = _flow(node, *calls, {"echo": "end "}, more=(agent("b"),))
            continue
        talk = function("talk", _TALK, sends="messages")
        oldest = [{"when_seen": word, "text": f"from {word[:3]}"} for word in _WORDS] + ["from nothing"]
        found[f"compaction {name}"] = workflow(
            [talk, node], modules=(LIB,), tools=TOOLS, types=(_NOTE,), offline=script(a=oldest)
        )
    for when in ("before", "after"):
        window = Compaction(strategy="sliding_window", keep_last=1)
        given_around = (
            ContextProvider(kind="history"),
            ContextProvider(kind="compaction", when=when, compaction=window),
        )
        found[f"compaction provider {when}"] = _flow(agent("a", providers=given_around), "x")
    return found


def _transfer(to: str, id: str = "t1") -> dict[str, Any]:
    return call(f"transfer_to_{to}", id, reason="asked for")


def runners() -> dict[str, Workflow]:
    """Conversation runners: hand-offs, tools, limits, in and out of other nodes."""
    front = RunnerAgent(
        id="front", name="Front Desk", instructions="You greet.", handoffs=("billing",), temperature=0.2
    )
    billing = RunnerAgent(
        id="billing", name="Billing", instructions="You bill.\nAlways.", specialty="Money", handoffs=("front",),
        tools=("look",),
    )  # fmt: skip

    def flow(front_says: list[Any], billing_says: list[Any], *more: Any, **settings: Any) -> Workflow:
        node = RunnerNode(id="desk", name="Desk", agents=(front, billing), settings=RunnerSettings(**settings))
        nodes = {"desk/front": {"replies": front_says}, "desk/billing": {"replies": billing_says}}
        nodes |= {n.id: {"replies": [{"echo": "heard "}]} for n in more}
        return workflow(
            [node, *more], offline=OfflineScript(nodes=nodes), modules=(LIB,), types=(_NOTE,), tools=TOOLS
        )  # fmt: skip

    twice = {"calls": [*_transfer("billing")["calls"], *call("look", "c9")["calls"]]}
    return {
        "runner": flow(["Hello."], ["never"]),
        "runner hands over": flow([_transfer("billing")], ["You owe 5."], agent("next")),
        "runner tool": flow([_transfer("billing")], [call("look"), {"echo": "saw "}], show()),
        "runner unknown tool": flow([twice], [{"echo": "saw "}]),
        "runner too many": flow(
            [_transfer("billing"), {"echo": "front "}],
            [_transfer("front", "t2"), {"echo": "kept: "}],
            max_handoffs_per_turn=1,
        ),
        "runner used up": flow(
            [_transfer("billing")], [call("look"), call("look", "c2")], show(), max_tool_iterations=2
        ),
    }


def servers() -> dict[str, Workflow]:
    """Tools of an MCP server that is a program."""
    server = McpServerDecl(
        name="tiny", command=sys.executable, arguments=(str(SERVER),), tools=("add",), approval="never", timeout=60
    )
    replies = [call("tiny_add", a=2, b=3), {"echo": "sum "}]
    asked = server.model_copy(update={"approval": "always"})
    node = RunnerNode(
        id="desk", name="Desk",
        agents=(RunnerAgent(id="front", name="Front", instructions="You add.", mcp_servers=("tiny",)),),
    )  # fmt: skip
    offline = OfflineScript(nodes={"desk/front": {"replies": replies}})
    return {
        "server": workflow([agent("a", mcp_servers=("tiny",))], mcp_servers=(server,), offline=script(a=replies)),
        "server asks": workflow([agent("a", mcp_servers=("tiny",))], mcp_servers=(asked,), offline=script(a=replies)),
        "server of a runner": workflow([node], mcp_servers=(server,), offline=offline),
    }


def web_servers(url: str) -> dict[str, Workflow]:
    """Tools of an MCP server over HTTP at an address, with headers, and asked for."""
    web = McpServerDecl(
        name="web",
        transport="http",
        url=url,
        headers={"X-Team": "blue", "X-Desk": "env:STUDIO_TEST_DESK"},
        tools=("add",),
        approval="always",
    )
    replies = [call("web_add", a=2, b=3), {"echo": "sum "}]
    flow = workflow([agent("a", mcp_servers=("web",))], mcp_servers=(web,), offline=script(a=replies))
    return {"server over HTTP": flow}


def documents() -> dict[str, Workflow]:
    """All of them, by name."""
    return {**tools(), **providers(), **middleware(), **compactions(), **runners(), **servers()}
