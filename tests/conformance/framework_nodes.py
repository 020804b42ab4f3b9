"""Values and nodes of a case on the installed Microsoft Agent Framework."""

from __future__ import annotations

import functools
import logging
import operator
from collections import Counter
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from typing import Any

import agent_framework as af
from agent_framework._workflows._workflow_executor import SubWorkflowRequestMessage, SubWorkflowResponseMessage
from studio.agents.messages import (
    AgentReply,
    AgentRequest,
    AgentResponse,
    AgentUpdate,
    Message,
    Text,
)
from studio.engine.orchestrations.magentic_manager import parsed_ledger
from studio.engine.values import PlanReview, PlanReviewRequest, ResetNode, SubRequest, SubResponse

from tests.conformance.forms import form, text
from tests.conformance.nodes import Ops, ScriptedFailure

logging.getLogger("agent_framework").setLevel(logging.CRITICAL)

Form = Mapping[str, Any]

TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "object": dict,
    "any": Any,
    "list": list,
    "list[str]": list[str],
    "list[int]": list[int],
    "list[object]": list[dict],
    "list[any]": list[Any],
    "message": af.Message,
    "list[message]": list[af.Message],
    "request": af.AgentExecutorRequest,
    "response": af.AgentExecutorResponse,
    "list[response]": list[af.AgentExecutorResponse],
    "agent_reply": af.AgentResponse,
    "sub_request": SubWorkflowRequestMessage,
    "sub_response": SubWorkflowResponseMessage,
}


# ------------------------------------------------------------------------------------------------------- values


def ours(data: Any) -> Any:
    """A value of the framework as ours."""
    if isinstance(data, af.Message):
        return Message(str(data.role), tuple(Text(c.text) for c in data.contents if c.type == "text"), data.author_name)  # type: ignore[arg-type]
    if isinstance(data, af.AgentExecutorRequest):
        return AgentRequest(tuple(ours(list(data.messages))), data.should_respond)
    if isinstance(data, af.AgentExecutorResponse):
        return AgentResponse(data.executor_id, ours(data.agent_response), tuple(ours(data.full_conversation)))
    if isinstance(data, af.AgentResponse):
        return AgentReply(tuple(ours(list(data.messages))))
    if isinstance(data, af.AgentResponseUpdate):
        parts = tuple(Text(c.text) for c in data.contents if c.type == "text")
        return AgentUpdate(parts, str(data.role or "assistant"), data.author_name)  # type: ignore[arg-type]
    if isinstance(data, SubWorkflowRequestMessage):
        event = data.source_event
        asked = SubRequest(data.executor_id, event.source_executor_id, event.request_id, ours(event.data), "")
        _asked[event.request_id] = data
        return asked
    if isinstance(data, SubWorkflowResponseMessage):
        return SubResponse(data.source_event.request_id, ours(data.data))
    if type(data).__name__ == "MagenticPlanReviewRequest":
        return PlanReviewRequest(ours(data.plan), ours(data.current_progress), data.is_stalled)
    if type(data).__name__ == "MagenticPlanReviewResponse":
        return PlanReview(tuple(ours(data.review)))
    if type(data).__name__ == "MagenticProgressLedger":
        return parsed_ledger(data.to_dict())
    if type(data).__name__ == "MagenticResetSignal":
        return ResetNode()
    if isinstance(data, list | tuple):
        return [ours(item) for item in data]
    if isinstance(data, dict):
        return {key: ours(item) for key, item in data.items()}
    return data


_asked: dict[str, SubWorkflowRequestMessage] = {}


def theirs(data: Any) -> Any:
    """A value of ours as the framework's."""
    if isinstance(data, Message):
        return af.Message(data.role, [af.Content.from_text(p.text) for p in data.parts], author_name=data.author)  # type: ignore[union-attr]
    if isinstance(data, AgentRequest):
        return af.AgentExecutorRequest(theirs(list(data.messages)), data.should_respond)
    if isinstance(data, AgentResponse):
        return af.AgentExecutorResponse(data.executor, theirs(data.reply), theirs(list(data.conversation)))
    if isinstance(data, AgentReply):
        return af.AgentResponse(messages=theirs(list(data.messages)))
    if isinstance(data, PlanReview):
        from agent_framework_orchestrations import MagenticPlanReviewResponse

        return MagenticPlanReviewResponse(theirs(list(data.review)))
    if isinstance(data, SubResponse):
        return _asked[data.request].create_response(theirs(data.data))
    if isinstance(data, list | tuple):
        return [theirs(item) for item in data]
    if isinstance(data, dict):
        return {key: theirs(item) for key, item in data.items()}
    return data


# -------------------------------------------------------------------------------------------------------- nodes


class _Effects:
    """The context of our ops; what they do is done on the framework's context after each op."""

    def __init__(self, ctx: af.WorkflowContext) -> None:
        self._ctx = ctx
        self.todo: list[Awaitable[Any]] = []

    @property
    def sources(self) -> list[str]:
        return list(self._ctx.source_executor_ids)

    def send(self, data: Any, target: str | None = None) -> None:
        self.todo.append(self._ctx.send_message(theirs(data), target_id=target))

    def yield_output(self, data: Any) -> None:
        self.todo.append(self._ctx.yield_output(theirs(data)))

    def request(self, data: Any, response: Any, id: str | None = None) -> None:
        kind = TYPES[response] if isinstance(response, str) else response
        self.todo.append(self._ctx.request_info(theirs(data), kind, request_id=id))

    def get_state(self, key: str, default: Any = None) -> Any:
        return self._ctx.get_state(key, default)

    def set_state(self, key: str, data: Any) -> None:
        self._ctx.set_state(key, data)


class _Ops(Ops):
    async def run(self, ops: Sequence[Form]) -> None:
        for op in ops:
            await super().run([op])
            todo, self._ctx.todo = self._ctx.todo, []  # type: ignore[attr-defined]
            for effect in todo:
                await effect


def _one_of(names: Sequence[str]) -> Any:
    return functools.reduce(operator.or_, [TYPES[name] for name in names]) if names else None


class OpsExecutor(af.Executor):
    """A function node; handlers are given to a subclass, since the framework looks for them on the class."""

    def __init__(self, node: Form, failures: Counter[str]) -> None:
        self._memory: list[Any] = []
        self.calls = 0
        self._checkpointed = bool(node.get("checkpointed"))
        self._failures = failures
        super().__init__(id=node["id"])

    async def on_checkpoint_save(self) -> dict[str, Any]:
        return {"memory": list(self._memory), "calls": self.calls} if self._checkpointed else {}

    async def on_checkpoint_restore(self, state: dict[str, Any]) -> None:
        if self._checkpointed and state:
            self._memory, self.calls = list(state["memory"]), state["calls"]

    def remember(self, item: Any) -> None:
        self._memory.append(item)

    def recall(self) -> list[Any]:
        return list(self._memory)

    def fail(self, op: Form) -> None:
        key = f"{self.id}:{op['message']}"
        self._failures[key] += 1
        if "times" not in op or self._failures[key] <= op["times"]:
            raise ScriptedFailure(op["message"])


def function_node(node: Form, failures: Counter[str]) -> OpsExecutor:
    """The executor of a function node."""
    members: dict[str, Any] = {}
    for at, h in enumerate(node.get("handlers", ())):
        members[f"h{at:02}"] = _handler(h)
    for at, r in enumerate(node.get("responses", ())):
        members[f"r{at:02}"] = _response(r)
    return type("Ops", (OpsExecutor,), members)(node, failures)  # type: ignore[no-any-return]


def _handler(h: Form) -> Any:
    async def run(self: OpsExecutor, message, ctx):  # type: ignore[no-untyped-def]
        self.calls += 1
        await _Ops(self, _Effects(ctx), ours(message)).run(h["do"])  # type: ignore[arg-type]

    declared = {"output": _one_of(h.get("sends", ())), "workflow_output": _one_of(h.get("yields", ()))}
    return af.handler(input=TYPES[h["accepts"]], **declared)(run)


def _response(r: Form) -> Any:
    async def run(self: OpsExecutor, original_request, response, ctx):  # type: ignore[no-untyped-def]
        await _Ops(self, _Effects(ctx), ours(response), ours(original_request)).run(r["do"])  # type: ignore[arg-type]

    declared = {"output": _one_of(r.get("sends", ())), "workflow_output": _one_of(r.get("yields", ()))}
    kinds = {"request": TYPES[r["request"]], "response": TYPES[r["response"]]}
    return af.response_handler(**kinds, **declared)(run)


class Client(af.BaseChatClient):  # type: ignore[type-arg]
    """Answers from the script of a node; the number of the call counts over the whole case."""

    def __init__(self, node: Form, name: str, log: Callable[[str, Any], None], counts: Counter[str]) -> None:
        super().__init__()
        self._node, self._name, self._log, self._counts = node, name, log, counts

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        if stream:
            return self._build_response_stream(self._chunks(messages))
        return self._whole(messages)

    def _next(self, messages: Any) -> tuple[Form, list[str]]:
        number = self._counts[self._node["id"]]
        self._counts[self._node["id"]] += 1
        self._log(self._name, form(ours(list(messages))))
        replies = self._node["replies"]
        if number >= len(replies):
            if self._node.get("then") != "repeat_last":
                raise ScriptedFailure("script exhausted")
            number = len(replies) - 1
        reply = replies[number]
        if "error" in reply:
            raise ScriptedFailure(reply["error"])
        if "echo" in reply:
            return reply, [reply["echo"] + (text(ours(messages[-1])) if messages else "")]
        return reply, list(reply["chunks"]) if "chunks" in reply else [reply["text"]]

    async def _whole(self, messages: Any) -> af.ChatResponse:
        _, texts = self._next(messages)
        return af.ChatResponse(messages=[af.Message("assistant", ["".join(texts)])])

    async def _chunks(self, messages: Any) -> AsyncIterable[af.ChatResponseUpdate]:
        _, texts = self._next(messages)
        for part in texts:
            yield af.ChatResponseUpdate(contents=[af.Content.from_text(part)], role="assistant")


class Handed(af.Agent):  # type: ignore[type-arg]
    """An agent that notes what its node hands to it."""

    def __init__(self, *args: Any, handed: Callable[[Any, bool], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._handed = handed

    def run(self, messages: Any = None, *, stream: bool = False, **kwargs: Any) -> Any:
        given = messages if isinstance(messages, list) else [messages]
        self._handed(form(ours(given)), stream)
        return super().run(messages, stream=stream, **kwargs)


# ---------------------------------------------------------------------------------------------------------- run
