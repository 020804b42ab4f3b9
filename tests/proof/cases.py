"""Conformance cases as documents: what a case's graph does, drawn and written as a person would."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from studio.document.conditions import Condition
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    Node,
    OfflineScript,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    ToolDecl,
    Workflow,
)
from studio.document.validate import problems
from studio.proof import Sample

CASES = Path(__file__).parents[1] / "conformance"
Form = Mapping[str, Any]

_TYPES = {
    "str": "text",
    "int": "integer",
    "object": "object",
    "request": "request",
    "response": "response",
    "list[str]": "list[text]",
    "list[response]": "list[response]",
}
_CLASSES = {"str": "str", "int": "int", "object": "dict"}


class NotDrawn(Exception):
    """A document cannot express the case; the message says why."""


def cases() -> Iterator[Form]:
    """All recorded cases."""
    for folder in ("cases", "own_cases"):
        for file in sorted((CASES / folder).glob("*.json")):
            yield json.loads(file.read_text(encoding="utf-8"))


def drawn(case: Form) -> tuple[Workflow, list[Sample]]:
    """The document, and what each run of the case gives to it. Raises :class:`NotDrawn`."""
    graph = case["graph"]
    if "orchestration" in graph:
        raise NotDrawn("an orchestration is drawn as nodes")
    samples = [Sample(_plain(a["input"]), answers=_answers(case, graph)) for a in case["actions"] if a["do"] == "run"]
    if not samples:
        raise NotDrawn("the graph is refused, so nothing runs")
    flow = _workflow(case["name"], graph)
    error = next((p for p in problems(flow) if p.severity == "error"), None)
    if error is not None:
        raise NotDrawn(error.message)
    return flow, samples


def _plain(value: Any) -> Any:
    """An input as a document gets it: no message."""
    if "$" in str(value) and not isinstance(value, str):
        raise NotDrawn("a run of a document is given no messages")
    return value


def _answers(case: Form, graph: Form) -> dict[str, list[Any]]:
    """Decisions on tools, all of the first agent."""
    given = [v for a in case["actions"] if a["do"] == "respond" for v in a["responses"].values()]
    approvals = [v["approved"] for v in given if isinstance(v, dict) and v.get("$") == "approve"]
    return {graph["start"]: approvals} if approvals else {}


def _workflow(name: str, graph: Form) -> Workflow:
    agents = [node for node in graph["nodes"] if node["kind"] == "agent"]
    tools = {tool["name"]: tool for node in agents for tool in node.get("tools", ())}
    return Workflow(
        name=name,
        start=graph["start"],
        nodes=tuple(_node(node) for node in graph["nodes"]),
        edges=tuple(_edges(graph["edges"])),
        outputs=_designated(graph.get("outputs")),
        intermediate=_designated(graph.get("intermediate")),
        max_supersteps=graph.get("max_iterations", 100),
        tools=tuple(map(_tool, tools.values())),
        offline=OfflineScript(nodes={node["id"]: _script(node["replies"]) for node in agents}),
    )


def _script(replies: Sequence[Form]) -> dict[str, Any]:
    """The last one again and again: the built-in model takes a text without a speaker for one of its own."""
    return {"replies": [_reply(reply) for reply in replies], "then": "repeat_last"}


def _designated(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _reply(form: Form) -> dict[str, Any]:
    """A scripted reply; waits are the order of another clock, so none is kept."""
    return {name: value for name, value in form.items() if name in ("text", "chunks", "calls", "error")}


def _tool(form: Form) -> ToolDecl:
    if form.get("approval") == "caller_executes":
        raise NotDrawn("the caller of a run answers calls with values of its own")
    source = f"def {form['name']}(q: str) -> str:\n    return {form.get('returns', '')!r}.replace('{{q}}', q)\n"
    parameters = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    approval = form.get("approval", "never")
    return ToolDecl(name=form["name"], description="A tool.", source=source, parameters=parameters, approval=approval)


# ---------------------------------------------------------------------------------------------------------- nodes


def _node(form: Form) -> Node:
    match form["kind"]:
        case "agent":
            return _agent(form)
        case "workflow":
            return SubWorkflowNode(
                id=form["id"],
                name=form["id"],
                embedded=_workflow(form["id"], form["graph"]),
                direct_output=form.get("direct_output", False),
                propagate_requests=form.get("propagate_requests", False),
            )
    return _function(form)


def _agent(form: Form) -> AgentNode:
    id, context = form["id"], form.get("context", "full")
    fields: dict[str, Any] = {"context": context}
    if isinstance(context, dict):
        roles = context.get("keep_roles")
        kept = f"[m for m in messages if m.role in {roles!r}]" if roles else f"messages[-{context['keep_last']}:]"
        fields = {"context": "custom", "context_filter": f"result = {kept}"}
    tools = tuple(tool["name"] for tool in form.get("tools", ()))
    return AgentNode(id=id, name=id, instructions=f"You are {id}.", tools=tools, **fields)


def _function(form: Form) -> FunctionNode:
    if form.get("responses"):
        raise NotDrawn("a function does not get an answer: asking is a node of its own")
    handlers = form["handlers"]
    ops = {op["op"] for handler in handlers for op in handler["do"]}
    if ops >= {"wait", "get_state"}:
        raise NotDrawn("when a node reads what another one writes meanwhile is a matter of the clock")
    body = _body(handlers[0]["do"]) if len(handlers) == 1 else _chosen(handlers)
    return FunctionNode(
        id=form["id"],
        name=form["id"],
        body="\n".join(
            [*(_TEXT_CODE.split("\n") if any(_TEXT in line for line in body) else ()), "value = data", *body]
        ),
        accepts=" | ".join(_type(h["accepts"]) for h in handlers),
        sends=_types(handlers, "sends") or "nothing",
        yields=_types(handlers, "yields") or None,
    )


def _type(name: str) -> str:
    if name not in _TYPES:
        raise NotDrawn(f"{name} is no type of a document")
    return _TYPES[name]


def _types(handlers: Sequence[Form], key: str) -> str:
    return " | ".join(dict.fromkeys(_type(name) for handler in handlers for name in handler.get(key, ())))


def _chosen(handlers: Sequence[Form]) -> list[str]:
    """One after the other, by the type of what came."""
    lines: list[str] = []
    for handler in handlers:
        lines.append(f"if isinstance(data, {_CLASSES[handler['accepts']]}):")
        lines += [f"    {line}" for line in _body(handler["do"])]
    return lines


def _body(ops: Sequence[Form]) -> list[str]:
    return [line for op in ops for line in _lines(op)]


def _lines(op: Form) -> list[str]:
    """Statements on ``value``."""
    name = op["op"]
    if name == "if":
        found = [f"if {_test(op['when'])}:", *(f"    {line}" for line in _body(op["then"]))]
        return [*found, "else:", *(f"    {line}" for line in _body(op["else"]))] if op.get("else") else found
    given = _given(op)
    known = {
        "send": f"await ctx.send_message({given})",
        "yield": f"await ctx.yield_output({given})",
        "upper": f"value = {_TEXT}.upper()",
        "append": f"value = {_TEXT} + {op.get('text')!r}",
        "prepend": f"value = {op.get('text')!r} + {_TEXT}",
        "join": f"value = {op.get('sep')!r}.join({_TEXT} for value in value)",
        "add": f"value = value + {op.get('n')!r}",
        "field": f"value = value.get({op.get('name')!r})",
        "bump_field": f"value = {{**value, {op.get('name')!r}: value.get({op.get('name')!r}, 0) + 1}}",
        "with_text": f"value = value.with_text({_TEXT})",
        "set_state": f"ctx.set_state({op.get('key')!r}, {given})",
        "append_state": f"ctx.set_state({op.get('key')!r}, [*(ctx.get_state({op.get('key')!r}) or []), {given}])",
        "get_state": f"value = ctx.get_state({op.get('key')!r})",
        "fail": f"raise ValueError({op.get('message')!r})",
    }
    if name == "wait":  # the cases have a clock of their own; what comes late is the same
        return []
    if name not in known or "times" in op:
        raise NotDrawn(f"code of a document has no {name}")
    return [known[name]]


_TEXT = "_text(value)"
_TEXT_CODE = """\
def _text(value):
    if isinstance(value, str):
        return value
    return value.agent_response.text if hasattr(value, "agent_response") else str(value)

"""


def _given(op: Form) -> str:
    value = op.get("value")
    if isinstance(value, dict) and value.get("$") == "request":
        messages = ", ".join(f"Message({m['role']!r}, [{m['text']!r}])" for m in value["messages"])
        return f"AgentExecutorRequest([{messages}], {value['should_respond']})"
    return repr(value) if "value" in op else "value"


def _test(when: Form) -> str:
    """A condition as an expression."""
    ((kind, given),) = when.items()
    match kind:
        case "always":
            return "True"
        case "text_contains":
            return f"{given!r} in text"
        case "text_longer_than":
            return f"len(text) > {given}"
        case "field_at_least":
            return f"value.get({given['field']!r}, 0) >= {given['value']}"
        case "number_at_least":
            return f"value >= {given}"
        case "not":
            return f"not ({_test(given)})"
    raise NotDrawn(f"no condition is {kind}")


# ---------------------------------------------------------------------------------------------------------- edges


def _edges(forms: Sequence[Form]) -> Iterator[Edge]:
    for number, form in enumerate(forms):
        id = f"e{number}"
        match form["kind"]:
            case "direct":
                when = _condition(form["when"]) if "when" in form else None
                yield DirectEdge(id=id, source=form["from"], target=form["to"], condition=when)
            case "chain":
                for at, (source, target) in enumerate(zip(form["nodes"], form["nodes"][1:], strict=False)):
                    yield DirectEdge(id=f"{id}_{at}", source=source, target=target)
            case "fan_in":
                yield FanInEdge(id=id, sources=tuple(form["from"]), target=form["to"])
            case "fan_out":
                selection = _selection(form["select"], form["to"]) if "select" in form else None
                yield FanOutEdge(id=id, source=form["from"], targets=tuple(form["to"]), selection=selection)
            case "switch":
                cases = [c for c in form["cases"] if "when" in c]
                chosen = [
                    SwitchCase(id=f"{id}_{at}", condition=_condition(c["when"]), target=c["to"])
                    for at, c in enumerate(cases)
                ]
                default = next((c["to"] for c in form["cases"] if "when" not in c), None)
                yield SwitchEdge(id=id, source=form["from"], cases=tuple(chosen), default=default)


def _condition(when: Form) -> Condition:
    return Condition(kind="python", body=f"result = {_test(when)}")


def _selection(form: Form, targets: Sequence[str]) -> dict[str, Condition]:
    if "field" not in form:
        raise NotDrawn("a selection is a condition for each line")
    name = form["field"]
    return {t: Condition(kind="python", body=f"result = {t!r} in value[{name!r}]") for t in targets}
