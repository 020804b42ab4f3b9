"""Middleware inside the worker process: what happens outside is a context here, and ``call_next`` goes back there.

Standard library only; see ``child.py``. User code sees the attribute names of ``agent_framework``. Hooks for a streamed
answer stay here after the middleware returned, under a number, until the answer is complete.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from studio.workers import child_values as values
else:
    values = sys.modules["child_values"]


class MiddlewareTermination(Exception):
    """Ends a chain at once; what outer middleware would do afterwards is skipped."""

    def __init__(self, message: str = "", *, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class MiddlewareFailure(Exception):
    """Fails the run from around a tool call."""


class CallFailed(Exception):
    """What ``call_next`` raises here when the rest of the chain failed outside; ``type`` is its class name."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


class AgentResponseUpdate(values.Message):
    """A piece of a streamed answer; the framework calls it ``ChatResponseUpdate`` around a model call."""

    def __init__(self, contents: Any = None, *, role: Any = "assistant", **fields: Any) -> None:
        known = {name: fields.get(name) for name in ("author_name", "message_id", "additional_properties")}
        super().__init__(role or "assistant", contents, **known)

    @property
    def text(self) -> str:
        return "".join(c.text for c in self.contents if c.type == "text")


class _Named:
    """An agent, a session or a function: its plain fields as attributes."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class _Context:
    """What a middleware may look at and change."""

    SHARED: tuple[str, ...] = ()
    """Fields that go to the other side and back."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.kwargs: dict[str, Any] = {}
        session = fields.pop("session", None)
        self.session = None if session is None else _Named(session_id=session)
        self.metadata: dict[str, Any] = {}
        self.result: Any = None
        self.take(fields)

    def take(self, fields: dict[str, Any]) -> None:
        """Takes over what the other side says."""
        self.__dict__.update(fields)

    def given(self) -> dict[str, Any]:
        """What the other side is told."""
        return {name: getattr(self, name) for name in self.SHARED}


class _Streamed(_Context):
    def __init__(self, fields: dict[str, Any]) -> None:
        self.stream = bool(fields.pop("stream", False))
        self.agent = _Named(name=fields.pop("agent", ""))
        self.stream_transform_hooks: list[Any] = []
        self.stream_result_hooks: list[Any] = []
        self.stream_cleanup_hooks: list[Any] = []
        super().__init__(fields)


class AgentContext(_Streamed):
    """One run of an agent."""

    SHARED = ("messages", "options", "metadata", "result")


class ChatContext(_Streamed):
    """One model call."""

    SHARED = ("messages", "options", "metadata", "result")


class FunctionInvocationContext(_Context):
    """One tool call."""

    SHARED = ("arguments", "metadata", "result")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.function = _Named(**fields.pop("function"))
        self.arguments: dict[str, Any] = {}
        super().__init__(fields)


def _same(function: Any) -> Any:
    """A decorator of the framework that only marks what a function is."""
    return function


_CONTEXTS: dict[str, type[_Context]] = {
    "agent": AgentContext,
    "chat": ChatContext,
    "function": FunctionInvocationContext,
}
PUBLIC: dict[str, Any] = {
    **{c.__name__: c for c in (*_CONTEXTS.values(), MiddlewareTermination, MiddlewareFailure)},
    "AgentResponseUpdate": AgentResponseUpdate,
    "ChatResponseUpdate": AgentResponseUpdate,
    **dict.fromkeys(("agent_middleware", "chat_middleware", "function_middleware"), _same),
}


class Hooks:
    """Hooks of streamed answers that are not complete yet, by number."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[list[Any], list[Any], list[Any]]] = {}
        self._next = 0

    def keep(self, context: _Context) -> int | None:
        """Keeps what a middleware hung on a streamed answer; None if that is nothing."""
        if not isinstance(context, _Streamed) or not context.stream:
            return None
        hooks = (context.stream_transform_hooks, context.stream_result_hooks, context.stream_cleanup_hooks)
        if not any(hooks):
            return None
        self._next += 1
        self._kept[self._next] = hooks
        return self._next

    def transforms(self, number: int | None) -> bool:
        """Whether updates have to come here."""
        return number is not None and bool(self._kept[number][0])

    async def updates(self, number: int, updates: list[Any]) -> list[Any]:
        """Updates through the transform hooks; what a hook gives replaces one, None keeps it."""
        found = []
        for message in updates:
            update = AgentResponseUpdate(**vars(message))
            for hook in self._kept[number][0]:
                changed = hook(update)
                changed = await changed if inspect.isawaitable(changed) else changed
                update = update if changed is None else changed
            if not isinstance(update, AgentResponseUpdate):
                raise TypeError("a hook on updates has to give an AgentResponseUpdate or a ChatResponseUpdate, or None")
            found.append(update)
        return found

    async def result(self, number: int, result: Any) -> Any:
        """The answer through the result hooks; what a hook gives replaces it, None keeps it."""
        for hook in self._kept[number][1]:
            changed = hook(result)
            changed = await changed if inspect.isawaitable(changed) else changed
            result = result if changed is None else changed
        return result

    async def close(self, number: int) -> None:
        """Runs the cleanup hooks; the number counts no more."""
        for hook in self._kept.pop(number, ([], [], []))[2]:
            waiting = hook()
            if inspect.isawaitable(waiting):
                await waiting


async def run(
    function: Any,
    data: dict[str, Any],
    types: dict[str, type],
    hooks: Hooks,
    ask: Callable[[Any], Awaitable[dict[str, Any]]],
) -> dict[str, Any]:
    """Runs a middleware; ``ask`` lets the rest of the chain happen outside and gives what came of it. Gives the fields
    as they are at the end, and how it ended."""
    if not inspect.iscoroutinefunction(function):
        raise TypeError("a middleware has to be an async function with the parameters context and call_next")
    context = _CONTEXTS[data["kind"]](values.decode(data["fields"], types))

    async def call_next() -> None:
        answer = await ask(values.encode(context.given()))
        if "error" in answer:
            raise CallFailed(answer["type"], answer["error"])
        context.take(values.decode(answer["value"], types))

    try:
        await function(context, call_next)
    except MiddlewareTermination as end:
        if end.result is not None:
            context.result = end.result
        return {"fields": context.given(), "ended": "terminated"}
    except MiddlewareFailure as failure:
        return {"fields": context.given(), "ended": "failed", "message": str(failure)}
    number = hooks.keep(context)
    return {"fields": context.given(), "ended": "", "hooks": number, "transforms": hooks.transforms(number)}
