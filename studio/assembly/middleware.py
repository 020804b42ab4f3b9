"""Middleware of a drawing: user code in the worker, around runs, model calls and tool calls of the pipeline here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

from studio.agents.client import ChatOptions
from studio.agents.messages import AgentReply, AgentUpdate, Message, assistant
from studio.agents.middleware import AgentRun, Middleware, MiddlewareFailure, ModelCall, Next, Termination, ToolRun
from studio.assembly.code import BareHost, UserCode
from studio.assembly.invocation import running
from studio.assembly.wire import from_worker, read_messages, to_worker
from studio.document.agent_options import MiddlewareDecl
from studio.document.model import AgentNode
from studio.engine.context import Context
from studio.workers import UserCodeError

_Around = AgentRun | ModelCall | ToolRun
_OPTIONS = tuple(f.name for f in fields(ChatOptions) if f.name not in ("response_schema", "response_name", "extra"))
_CALL_FAILED = "CallFailed"
"""What the worker says when the code let an error of ``call_next`` pass."""


def middleware(node: AgentNode, code: UserCode) -> Middleware:
    """The middleware of an agent by kind, each in the order of the list."""
    made: dict[str, list[WorkerMiddleware]] = {"agent": [], "chat": [], "function": []}
    for number, given in enumerate(node.middleware, 1):
        made[given.kind].append(WorkerMiddleware(given, _target(node, given, number, code), code))
    return Middleware(tuple(made["agent"]), tuple(made["chat"]), tuple(made["function"]))


def _target(node: AgentNode, given: MiddlewareDecl, number: int, code: UserCode) -> str:
    return given.call or code.add(f"{node.id} middleware {number}", given.body, "middleware")


class _Host(BareHost):
    """Hands the code's ``call_next`` over to whoever runs the chain."""

    def __init__(self, ctx: Context | None) -> None:
        super().__init__(ctx)
        self.asked: asyncio.Queue[tuple[Any, asyncio.Future[dict[str, Any]]]] = asyncio.Queue()

    def call_next(self, fields: Any) -> asyncio.Future[dict[str, Any]]:
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.asked.put_nowait((fields, answer))
        return answer


class WorkerMiddleware:
    """One middleware; its code runs in the worker, the rest of the chain in the task that called it."""

    def __init__(self, given: MiddlewareDecl, target: str, code: UserCode) -> None:
        self._kind = given.kind
        self._target = target
        self._code = code

    async def __call__(self, context: Any, call_next: Next) -> None:
        around = _Shared(context)
        host = _Host(running.get())
        call = asyncio.ensure_future(
            self._code.around(self._target, {"kind": self._kind, "fields": around.first()}, host)
        )
        failed: list[BaseException] = []
        try:
            while (asked := await self._asked(call, host)) is not None:
                await self._go_on(around, asked, call_next, failed)
            try:
                ended = await call
            except UserCodeError as error:
                if error.type == _CALL_FAILED and failed:
                    raise failed[-1] from None
                raise
        finally:
            if not call.done():
                call.cancel()
                await asyncio.wait([call])
        around.take(ended["fields"])
        self._end(ended, context)

    async def _asked(self, call: asyncio.Future[Any], host: _Host) -> tuple[Any, asyncio.Future[dict[str, Any]]] | None:
        """The next ``call_next`` of the code, or None when it has returned. Raises ``UserCodeError`` if neither comes
        in time: the time of the rest of the chain does not count."""
        waiting = asyncio.ensure_future(host.asked.get())
        try:
            await asyncio.wait({call, waiting}, timeout=self._code.seconds, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
            if call.done():
                return None
        finally:
            waiting.cancel()
        raise UserCodeError("TimeLimit", f"The middleware did not go on within {self._code.seconds:g} seconds")

    @staticmethod
    async def _go_on(
        around: _Shared, asked: tuple[Any, asyncio.Future[dict[str, Any]]], call_next: Next, failed: list[BaseException]
    ) -> None:
        """Lets the rest of the chain happen and tells the code what came of it."""
        given, answer = asked
        around.take(given)
        try:
            await call_next()
        except Exception as error:
            failed.append(error)
            if not answer.done():
                answer.set_result({"error": str(error), "type": type(error).__name__})
            return
        if not answer.done():
            answer.set_result({"value": around.given()})

    def _end(self, ended: Mapping[str, Any], context: _Around) -> None:
        if ended["ended"] == "terminated":
            raise Termination(context.result)
        if ended["ended"] == "failed":
            raise MiddlewareFailure(ended["message"])
        number = ended.get("hooks")
        if number is None or isinstance(context, ToolRun):
            return

        async def on_result(reply: AgentReply) -> AgentReply | None:
            data = {"kind": "result", "hooks": number, "value": to_worker(reply)}
            found = await self._code.around(self._target, data, BareHost(running.get()), limited=True)
            return None if found == data["value"] else _reply(found, reply)

        async def on_close() -> None:
            data = {"kind": "close", "hooks": number}
            await self._code.around(self._target, data, BareHost(running.get()), limited=True)

        if ended["transforms"]:
            context.on_updates(partial(self._transformed, number))
        context.on_result(on_result)
        context.on_close(on_close)

    async def _transformed(self, number: int, updates: Sequence[AgentUpdate]) -> list[AgentUpdate]:
        """Updates as the code's hooks want them, all that came meanwhile in one call."""
        data = {"kind": "updates", "hooks": number, "values": to_worker(list(updates))}
        found = await self._code.around(self._target, data, BareHost(running.get()), limited=True)
        pairs = zip(updates, data["values"], found, strict=True)
        return [update if new == old else _update(new, update) for update, old, new in pairs]


class _Shared:
    """What a middleware here and its code in the worker both see; only what the code changed comes back, so that a
    message that it left alone stays the very same."""

    def __init__(self, context: _Around) -> None:
        self._context = context
        self._known: dict[str, Any] = {}

    def first(self) -> dict[str, Any]:
        """Everything, for the start."""
        context = self._context
        session = context.session.id if context.session is not None else None
        if isinstance(context, ToolRun):
            function = {"name": context.tool.name, "description": context.tool.description}
            return {**self.given(), "session": session, "function": function, "approved": context.approved}
        return {**self.given(), "session": session, "agent": context.agent, "stream": context.streaming}

    def given(self) -> dict[str, Any]:
        """What may change on either side, as it is here."""
        context = self._context
        if isinstance(context, ToolRun):
            found: dict[str, Any] = {
                "arguments": context.arguments,
                "metadata": context.metadata,
                "result": context.result,
            }
        else:
            options = {n: v for n in _OPTIONS if (v := getattr(context.options, n)) not in (None, ())}
            if isinstance(context, ModelCall):
                options["instructions"] = context.instructions
            found = {"messages": context.messages, "options": options, "metadata": context.metadata}
            found["result"] = context.result
        self._known = {name: to_worker(value) for name, value in found.items()}
        return self._known

    def take(self, fields: Mapping[str, Any]) -> None:
        """Takes over what the code changed."""
        changed = {name: value for name, value in fields.items() if value != self._known.get(name)}
        context = self._context
        if "metadata" in changed:
            context.metadata = from_worker(changed["metadata"])
        if isinstance(context, ToolRun):
            if "arguments" in changed:
                context.arguments = from_worker(changed["arguments"])
            if "result" in changed:
                context.result = from_worker(changed["result"])
            return
        if "messages" in changed:
            context.messages = self._messages(changed["messages"], context.messages)
        if "options" in changed:
            self._take_options(context, changed["options"])
        if "result" in changed:
            context.result = _reply(changed["result"], context.result)

    def _messages(self, new: Any, here: list[Message]) -> list[Message]:
        if not isinstance(new, list) or not all(isinstance(m, Mapping) and m.get("$") == "message" for m in new):
            raise TypeError("context.messages has to be a list of messages")
        waiting = list(zip(self._known["messages"], here, strict=True))
        found: list[Message] = []
        for item in new:
            at = next((n for n, (known, _) in enumerate(waiting) if known == item), None)
            found.append(read_messages([item])[0] if at is None else waiting.pop(at)[1])
        return found

    @staticmethod
    def _take_options(context: AgentRun | ModelCall, new: Mapping[str, Any]) -> None:
        if isinstance(context, ModelCall):
            context.instructions = str(new.get("instructions") or "")
        given: dict[str, Any] = {name: new.get(name) for name in _OPTIONS}
        given["stop"] = tuple(given["stop"] or ())
        context.options = replace(context.options, **given)


def _update(value: Any, before: AgentUpdate) -> AgentUpdate:
    """What a hook gave for an update; usage and reason of the end stay what they were."""
    found = read_messages([value])[0]
    return replace(before, parts=found.parts, role=found.role, author=found.author, message_id=found.id)


def _reply(value: Any, before: AgentReply | None) -> AgentReply | None:
    """What the code set as the answer: a text, a message, messages or a response. Usage stays what it was."""
    found = from_worker(value)
    messages: tuple[Message, ...]
    match found:
        case None:
            return None
        case str():
            messages = (assistant(found),)
        case Message():
            messages = (found,)
        case AgentReply():
            messages = found.messages
        case list() if all(isinstance(item, Message) for item in found):
            messages = tuple(found)
        case _:
            raise TypeError("context.result has to be a text, a message, messages or a response")
    usage = before.usage if before is not None else None
    value = found.value if isinstance(found, AgentReply) else None
    return AgentReply(messages, usage, "stop", value)
