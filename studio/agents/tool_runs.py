"""Running the tool calls of a batch: limits of tools, function middleware, errors as results."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from studio.agents.client import RunHooks
from studio.agents.loop_settings import LoopSettings
from studio.agents.messages import ToolCall, ToolResult
from studio.agents.middleware import FunctionMiddleware, MiddlewareFailure, Termination, ToolRun, chained
from studio.agents.session import Session
from studio.agents.tools import (
    BAD_ARGUMENTS,
    FAILED,
    ArgumentsError,
    EndTurn,
    Tool,
    ToolFailure,
    check_arguments,
    parse_arguments,
    result_text,
)

COUNTS_KEY = "tool_counts"
"""In a session's state: calls and errors so far, by tool with a limit."""


class ToolLimit(Exception):
    """A tool was called, or has failed, as often as it may."""


@dataclass(frozen=True, slots=True)
class AskAgain:
    """An approved call whose arguments middleware changed: it must be approved as it is now."""

    call: ToolCall


class _Changed(Exception):
    """Carries the changed call out of the chain."""

    def __init__(self, call: ToolCall) -> None:
        self.call = call


_T = TypeVar("_T")


async def all_or_none(coroutines: Sequence[Coroutine[Any, Any, _T]], *, at_once: bool = True) -> list[_T]:
    """The results in order; an error, or cancelling, ends and awaits the others before it is raised."""
    if not at_once:
        done: list[_T] = []
        try:
            for coroutine in coroutines:
                done.append(await coroutine)
        finally:
            for coroutine in coroutines:
                coroutine.close()
        return done
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


@dataclass(slots=True)
class ToolRunner:
    """The tools of one run. ``counts`` are a copy of what the session remembers; :attr:`ended` asks to end the turn."""

    tools: Mapping[str, Tool]
    settings: LoopSettings
    middleware: tuple[FunctionMiddleware, ...]
    hooks: RunHooks
    session: Session | None = None
    counts: dict[str, list[int]] = field(default_factory=dict)
    ended: bool = False
    ran: int = 0
    """Calls run so far."""
    _raised: dict[str, str] = field(default_factory=dict, init=False)
    """What tools raised, in words, by call."""

    async def run(self, calls: Sequence[ToolCall], *, approved: frozenset[str] = frozenset()) -> list[Any]:
        """A :class:`ToolResult` or :class:`AskAgain` per call, in the calls' order. ``approved``: ids of calls."""
        self.ran += len(calls)
        return await all_or_none(
            [self._run(call, call.call_id in approved) for call in calls],
            at_once=self.settings.allow_concurrent_invocation,
        )

    async def _run(self, call: ToolCall, approved: bool) -> ToolResult | AskAgain:
        self.hooks.tool_started(call)
        try:
            taken = await self.hooks.result_of_tool(call)
            result = await self._result(call, approved) if taken is None else replace(taken, call_id=call.call_id)
        except _Changed as changed:
            self.hooks.tool_finished(call.call_id, None, "ArgumentsChanged")
            return AskAgain(changed.call)
        except BaseException as error:
            self.hooks.tool_finished(call.call_id, None, type(error).__name__, _words_of(error))
            raise
        self.hooks.tool_finished(call.call_id, result.result, result.error or "", self._raised.pop(call.call_id, ""))
        return result

    async def _result(self, call: ToolCall, approved: bool) -> ToolResult:
        tool = self.tools.get(call.name)
        if tool is None or tool.run is None:
            return ToolResult(call.call_id, f'Error: Requested function "{call.name}" not found.', "KeyError")
        try:
            arguments = parse_arguments(call)
        except ArgumentsError as problem:
            return ToolResult(call.call_id, f"{BAD_ARGUMENTS} Reason: {problem}.", "ArgumentsError")
        run = ToolRun(tool, call, arguments, self.session, approved)
        as_approved = dict(arguments)
        started = False

        async def final() -> None:
            nonlocal started
            started = True
            self._check_unchanged(run, as_approved)
            run.result = await self._invoke(tool, run.arguments)

        try:
            await chained(self.middleware, run, final)
            if not started:
                self._check_unchanged(run, as_approved)
        except (Termination, EndTurn) as end:
            self.ended = True
            run.result = run.result if end.result is None else end.result
        except (MiddlewareFailure, _Changed):
            raise
        except Exception as error:
            return self._failed(call, error)
        return ToolResult(call.call_id, result_text(run.result))

    def _failed(self, call: ToolCall, error: Exception) -> ToolResult:
        self._raised[call.call_id] = _words_of(error)
        text = BAD_ARGUMENTS if isinstance(error, ArgumentsError) else FAILED
        if isinstance(error, ToolFailure):
            text = f"Error: {error}"
        elif self.settings.include_detailed_errors:
            text = f"{text} Exception: {error}"
        return ToolResult(call.call_id, text, type(error).__name__)

    @staticmethod
    def _check_unchanged(run: ToolRun, as_approved: Mapping[str, Any]) -> None:
        if run.approved and run.arguments != as_approved:
            raise _Changed(replace(run.call, arguments=result_text(run.arguments)))

    async def _invoke(self, tool: Tool, arguments: dict[str, Any]) -> Any:
        """The tool itself, within its limits. Arguments are checked here: middleware may have repaired them."""
        assert tool.run is not None
        check_arguments(arguments, tool.schema)
        count = self._count(tool)
        try:
            if tool.timeout is None:
                return await tool.run(arguments)
            return await _within(tool.timeout, tool.run(arguments), tool.name)
        except EndTurn:
            raise
        except Exception:
            if count is not None:
                count[1] += 1
            raise

    def _count(self, tool: Tool) -> list[int] | None:
        if tool.max_invocations is None and tool.max_invocation_exceptions is None:
            return None
        count = self.counts.setdefault(tool.name, [0, 0])
        if tool.max_invocations is not None and count[0] >= tool.max_invocations:
            raise ToolLimit(f"Function '{tool.name}' has reached its maximum invocation limit.")
        if tool.max_invocation_exceptions is not None and count[1] >= tool.max_invocation_exceptions:
            raise ToolLimit(f"Function '{tool.name}' has reached its maximum exception limit.")
        count[0] += 1
        return count


def _words_of(error: BaseException) -> str:
    """The text of an error; its own code for that may fail, too."""
    try:
        return str(error)
    except Exception:
        return ""


async def _within(seconds: float, running: Any, name: str) -> Any:
    """Raises a failure that says so; a ``TimeoutError`` that the tool raises itself passes as it is."""
    try:
        async with asyncio.timeout(seconds) as limit:
            return await running
    except TimeoutError:
        if limit.expired():
            raise ToolFailure(f"Function '{name}' took longer than {seconds:g} s.") from None
        raise
