"""Declared tools become tools of agents: their code runs in the worker, within its limits."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from studio.agents.tools import Tool
from studio.assembly.code import UserCode
from studio.assembly.invocation import has_effect, running
from studio.assembly.texts import plain_value
from studio.assembly.wire import from_worker
from studio.document.model import ToolDecl, Workflow
from studio.document.tools import target_of


class DeclaredTools:
    """The tools of one document by name."""

    def __init__(self, workflow: Workflow, code: UserCode) -> None:
        self._declared = {tool.name: tool for tool in workflow.tools}
        self._code = code

    def of(self, names: Iterable[str]) -> tuple[Tool, ...]:
        """The tools with these names, in this order; names that are not declared are left out."""
        return tuple(self._tool(self._declared[name]) for name in names if name in self._declared)

    def _tool(self, declared: ToolDecl) -> Tool:
        target = target_of(declared)
        return Tool(
            declared.name,
            declared.description,
            declared.parameters,
            self._runner(declared, target) if target else None,
            declared.approval,
            declared.max_invocations,
            declared.max_invocation_exceptions,
            declared.timeout,
        )

    def _runner(self, declared: ToolDecl, target: str) -> Callable[[dict[str, Any]], Awaitable[Any]]:
        async def run(arguments: dict[str, Any]) -> Any:
            if declared.has_effects:
                has_effect(declared.name)  # also if it fails or is stopped: half of it may be done
            # A tool with a limit of its own is cancelled by that one, with a sentence that names it.
            given = await self._code.bare(target, arguments, running.get(), limited=declared.timeout is None)
            result = plain_value(from_worker(given))
            return json.dumps(result, ensure_ascii=False) if declared.result == "json" else result

        return run
