"""What holds a run: an invocation at a breakpoint or a step, or the boundary between supersteps; and why, in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from studio.debugger.breakpoints import Breakpoint

At = Literal["before", "after", "model", "tool", "tool_after", "error", "boundary"]
Cause = Literal["breakpoint", "step", "here"]


Stop = tuple[str, str, At]
"""A place where a run stood: the breakpoint, the path of the node, and where in it."""


def node_path(node: str, inside: Sequence[str]) -> str:
    """How breakpoints name a node: its id, or ``sub/inner`` inside a sub-workflow."""
    return "/".join((*inside, node))


@dataclass(eq=False, slots=True)
class HeldNode:
    """An invocation that waits. ``detail``: the tool, the state key, or what was raised."""

    node: str
    sources: tuple[str, ...]
    data: Any
    go: asyncio.Future[None]
    at: At = "before"
    cause: Cause = "breakpoint"
    breakpoint: Breakpoint | None = None
    detail: str = ""
    again: bool = False
    """An invocation that failed is to run again."""

    @property
    def stop(self) -> Stop | None:
        """The place; None for a step."""
        return (self.breakpoint.id, self.node, self.at) if self.breakpoint is not None else None

    def words(self, name_of: Callable[[str], str]) -> str:
        """Where it stands: "before the model call of Writer"."""
        name = name_of(self.node)
        kind = self.breakpoint.kind if self.breakpoint is not None else ""
        match self.at:
            case "model":
                where = f"before the model call of {name}"
            case "tool" | "tool_after":
                where = f"{'before' if self.at == 'tool' else 'after'} {name} calls {self.detail}"
            case "error":
                where = f"{name} failed: {self.detail}"
            case "after":
                said = {"state": f"{name} changed {self.detail}", "edge": f"{name} has queued a message"}
                where = said.get(kind, f"after {name}")
            case "before":
                where = {"step": f"next is {name}", "here": f"before {name}"}.get(self.cause, f"breakpoint on {name}")
        if kind in ("cost", "tokens", "supersteps", "repeats") and self.breakpoint is not None:
            return f"{budget_words(self.breakpoint)}, {where}"
        return where


@dataclass(frozen=True, slots=True)
class BoundaryHit:
    """A breakpoint that holds at the next superstep boundary, and what it saw there."""

    breakpoint: Breakpoint
    node: str = ""

    @property
    def stop(self) -> Stop:
        """The place."""
        return (self.breakpoint.id, self.node, "boundary")

    def words(self, name_of: Callable[[str], str]) -> str:
        """ "a message is queued by Writer"."""
        name = name_of(self.node) if self.node else ""
        match self.breakpoint.kind:
            case "edge":
                return f"{name} has queued a message"
            case "request":
                return f"{name} asks"
            case "state":
                return f"{name} changed {self.breakpoint.place or 'shared state'}"
        return budget_words(self.breakpoint)


def budget_words(breakpoint: Breakpoint) -> str:
    """The budget that was passed: "more than 1,000 tokens"."""
    limit = f"{breakpoint.limit:,.6f}".rstrip("0").rstrip(".")
    return {
        "cost": f"the run has cost more than {limit}",
        "tokens": f"more than {limit} tokens used",
        "supersteps": f"{limit} supersteps are done" if limit != "1" else "1 superstep is done",
        "repeats": f"the same call {limit} times in a row",
    }.get(breakpoint.kind, "breakpoint")
