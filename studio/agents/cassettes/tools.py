"""Tool results on a cassette, as function middleware: put it innermost."""

from __future__ import annotations

from typing import Any

from studio.agents.cassettes.cassette import Cassette, ToolEntry
from studio.agents.middleware import FunctionMiddleware, MiddlewareFailure, Next, ToolRun
from studio.agents.tools import EndTurn, ToolFailure, result_text


class NotRecorded(MiddlewareFailure):
    """A tool call that the cassette does not have; it fails the run instead of being told to the model."""


def recording_tools(cassette: Cassette, node: str) -> FunctionMiddleware:
    """Keeps what the tools of a node give, or raise."""

    async def record(run: ToolRun, call_next: Next) -> None:
        arguments = dict(run.arguments)
        try:
            await call_next()
        except EndTurn as end:
            cassette.tools.append(ToolEntry(node, run.tool.name, arguments, result_text(end.result), "EndTurn"))
            raise
        except Exception as error:
            cassette.tools.append(ToolEntry(node, run.tool.name, arguments, str(error), type(error).__name__))
            raise
        cassette.tools.append(ToolEntry(node, run.tool.name, arguments, result_text(run.result)))

    return record


def replaying_tools(cassette: Cassette, node: str) -> FunctionMiddleware:
    """Gives what was recorded, and runs nothing. Each result is used once, in order."""
    used: set[int] = set()

    async def replay(run: ToolRun, call_next: Next) -> None:
        for number, entry in enumerate(cassette.tools):
            same = (entry.node, entry.name, dict(entry.arguments)) == (node, run.tool.name, run.arguments)
            if same and number not in used:
                used.add(number)
                run.result = _given(entry)
                return
        raise NotRecorded(f"The call of {run.tool.name} in {node} with these arguments was never recorded")

    return replay


def _given(entry: ToolEntry) -> Any:
    if not entry.error:
        return entry.result
    if entry.error == "EndTurn":
        raise EndTurn(entry.result)
    if entry.error == "ToolFailure":
        raise ToolFailure(entry.result)
    raise type(entry.error, (Exception,), {})(entry.result)
