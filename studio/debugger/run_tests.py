"""Tests of workflows: a run made again with pinned replies, and what is expected of it. Files ``*.test.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.agents.messages import AgentReply, ApprovalResponse, Message, Reasoning, Text, ToolCall, ToolResult, Usage
from studio.assembly.texts import value_text
from studio.debugger.overrides import Overrides, Pin
from studio.debugger.recording import ASKED, RecordedCall, RecordedTool, Recording, asked_of
from studio.engine.values import plain

FORMAT = "superstep-test"
VERSION = 1
SUFFIX = ".test.json"
_MAY_BE_LEFT_OUT = ("replies", "tools", "answers", "pins", "muted")


class TestProblem(ValueError):
    """A file that is no test; ``str()`` is a sentence."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class RunTest:
    """``workflow`` is the path of the workflow file, from the folder of the test."""

    name: str
    workflow: str
    input: Any = ""
    replies: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By path of the node: what its model answers, call by call. One with ``asked`` is for a call whose last message
    begins so, wherever it stands; the others are given in their order."""
    tools: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By path of the node: what its tools give."""
    answers: list[list[dict[str, Any]]] = field(default_factory=list)
    """What people answer, by turn: the node that asks, the tool if it asks for one, and the value."""
    expect: list[dict[str, Any]] = field(default_factory=list)
    pins: Mapping[str, Any] = field(default_factory=dict)
    """By path of the node: what it gives instead of being called."""
    muted: list[str] = field(default_factory=list)
    """Paths of the nodes that pass their input on."""

    @property
    def overrides(self) -> Overrides:
        """What is done instead of calling nodes, as in the run that the test was made from."""
        return Overrides({path: Pin(value) for path, value in self.pins.items()}, set(self.muted))

    def recording(self) -> Recording:
        """The replies and results to give. Raises :class:`TestProblem`."""
        try:
            calls = {path: [_call(reply) for reply in replies] for path, replies in self.replies.items()}
            tools = {
                path: [RecordedTool(t["name"], _text(t.get("arguments", {})), t.get("result"), t.get("error", ""))
                       for t in tools]
                for path, tools in self.tools.items()
            }  # fmt: skip
        except (KeyError, TypeError, AttributeError) as error:
            raise TestProblem(f"The replies of this test cannot be understood: {error!r}.") from None
        return Recording(self.input, calls=calls, tools=tools)


def made_from(
    recording: Recording,
    name: str,
    workflow: str,
    given: Any,
    expect: list[dict[str, Any]],
    overrides: Overrides | None = None,
) -> RunTest:
    """A recorded run as a test. ``given`` is the input as a person gives it, ``overrides`` what was done instead."""
    overrides = overrides or Overrides()
    return RunTest(
        name,
        workflow,
        given,
        {path: [_reply(call) for call in calls] for path, calls in recording.calls.items()},
        {
            path: [
                {"name": t.name, "arguments": _json(t.arguments), "result": t.result}
                | ({"error": t.error} if t.error else {})
                for t in tools
            ]
            for path, tools in recording.tools.items()
        },
        [[_answered(node, value, recording) for node, value in batch] for batch in recording.answers],
        expect,
        {path: plain(pin.value) for path, pin in overrides.pins.items()},
        sorted(overrides.muted),
    )


def write_test(test: RunTest, path: Path) -> None:
    """Writes a test file. Raises ``OSError``."""
    body = {
        "format": FORMAT,
        "version": VERSION,
        "name": test.name,
        "workflow": test.workflow,
        "input": test.input,
        "replies": test.replies,
        "tools": test.tools,
        "answers": test.answers,
        "pins": test.pins,
        "muted": test.muted,
        "expect": test.expect,
    }
    kept = {key: value for key, value in body.items() if value or key not in _MAY_BE_LEFT_OUT}
    path.write_text(json.dumps(kept, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def read_test(path: Path) -> RunTest:
    """The test of a file. Raises :class:`TestProblem`, ``OSError``."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TestProblem(f"{path} is no JSON: {error}.") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise TestProblem(f"{path} is no test of a workflow.")
    if not isinstance(body.get("version"), int) or body["version"] > VERSION:
        raise TestProblem(f"{path} was written by a later version of the studio.")
    if not isinstance(body.get("workflow"), str):
        raise TestProblem(f"{path} does not say which workflow it is for.")
    kinds = {"replies": dict, "tools": dict, "answers": list, "expect": list, "pins": dict, "muted": list}
    for key, kind in kinds.items():
        if not isinstance(body.get(key, kind()), kind):
            raise TestProblem(f"{path}: “{key}” is not what it must be.")
    name = str(body.get("name") or path.name.removesuffix(SUFFIX))
    parts = {key: body.get(key, kind()) for key, kind in kinds.items()}
    return RunTest(name, body["workflow"], body.get("input", ""), **parts)


# ----------------------------------------------------------------------------------------------- replies as JSON


def _reply(call: RecordedCall) -> dict[str, Any]:
    reply = call.reply
    parts = [part for message in reply.messages for part in message.parts]
    asked = asked_of(call.messages) if call.messages else call.asked
    found: dict[str, Any] = {"asked": asked} if asked else {}
    texts = [p.text for p in parts if isinstance(p, Text)]
    reasoning = [p.text for p in parts if isinstance(p, Reasoning)]
    calls = [p for p in parts if isinstance(p, ToolCall)]
    if texts or not calls:
        found["text"] = "".join(texts)
    if reasoning:
        found["reasoning"] = "".join(reasoning)
    if calls:
        found["calls"] = [{"id": c.call_id, "name": c.name, "arguments": _json(c.arguments)} for c in calls]
    if reply.usage is not None:
        found["usage"] = {"input": reply.usage.input, "output": reply.usage.output}
    return found


def _call(reply: Mapping[str, Any] | str) -> RecordedCall:
    if isinstance(reply, str):
        reply = {"text": reply}
    parts: list[Any] = [Reasoning(reply["reasoning"])] if reply.get("reasoning") else []
    if reply.get("text"):
        parts.append(Text(reply["text"]))
    calls = reply.get("calls", ())
    parts += [ToolCall(c.get("id") or f"c{i}", c["name"], _text(c.get("arguments", {}))) for i, c in enumerate(calls)]
    usage = reply.get("usage")
    counted = Usage(usage.get("input"), usage.get("output")) if usage is not None else None
    message = Message("assistant", tuple(parts))
    made = AgentReply((message,), counted, "tool_calls" if calls else "stop")
    return RecordedCall(None, made, asked=str(reply.get("asked", ""))[:ASKED])


def _answered(node: str, value: Any, recording: Recording) -> dict[str, Any]:
    """An answer of a person; one to an approval or a call names the tool, for a node may ask for several at once."""
    name = value.call.name if isinstance(value, ApprovalResponse) else ""
    if isinstance(value, ToolResult):
        name = _name_of_call(node, value.call_id, recording)
    return {"node": node, **({"tool": name} if name else {}), "value": _answer(value)}


def _name_of_call(node: str, call: str, recording: Recording) -> str:
    """The tool of a call that a model of the node, or inside of it, made; "" if the recording has none."""
    made = [c for path, calls in recording.calls.items() if path.split("/")[0] == node for c in calls]
    parts = [part for one in made for message in one.reply.messages for part in message.parts]
    return next((p.name for p in reversed(parts) if isinstance(p, ToolCall) and p.call_id == call), "")


def _answer(value: Any) -> Any:
    if isinstance(value, ApprovalResponse):
        return value.approved if value.instead is None else {"arguments": _json(value.instead.arguments)}
    if isinstance(value, ToolResult):
        return value.result
    return value_text(value) if hasattr(value, "text") else plain(value)


def _json(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
