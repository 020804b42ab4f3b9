"""Runs documents as a program does: offline model, trusted code, events kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.agents.messages import ApprovalRequest, ApprovalResponse, ToolCall, ToolResult
from studio.assembly import ServiceSource, compile_plan
from studio.document.model import OfflineScript, Workflow
from studio.engine.events import LinePrinted, NodeStarted, OutputYielded
from studio.engine.workflow import RunResult
from studio.settings.profiles import Profiles
from studio.settings.secrets import Secrets


def script(**replies: list[Any]) -> OfflineScript:
    """An offline script: node id -> replies."""
    return OfflineScript(nodes={node: {"replies": list(given)} for node, given in replies.items()})


@dataclass
class Ran:
    """What one run told."""

    result: RunResult
    events: deque[Any] = field(default_factory=deque)

    @property
    def outputs(self) -> list[tuple[str, Any]]:
        return [(e.node, e.data) for e in self.events if isinstance(e, OutputYielded)]

    @property
    def order(self) -> list[str]:
        """Nodes in the order in which they started."""
        return [e.node for e in self.events if isinstance(e, NodeStarted)]

    @property
    def printed(self) -> list[tuple[str, str]]:
        return [(e.node, e.text) for e in self.events if isinstance(e, LinePrinted)]


class Bench:
    """One program's services for a test."""

    def __init__(self, **options: Any) -> None:
        self.source = ServiceSource(Profiles, Secrets(), **{"trusts": lambda *_: True, **options})

    async def run(
        self, workflow: Workflow, data: Any = "in", *given: Mapping[str, Any], stream: bool = False,
        folder: Path | None = None,
    ) -> Ran:  # fmt: skip
        """A run from an input; with ``given`` (node id -> answer) it is continued as long as it asks. Approvals are
        given."""
        plan = compile_plan(workflow, self.source.services(workflow, folder))
        ran = Ran(await plan.engine.run(data, stream=stream, events=(events := deque())), events)
        while given and ran.result.requests:
            answers = {r.id: _answer(r.data, given[0].get(r.node)) for r in ran.result.requests}
            ran.result = await plan.engine.run(answers=answers, stream=stream, events=events)
        return ran


def _answer(data: Any, answer: Any) -> Any:
    if isinstance(data, ToolCall):
        return ToolResult(data.call_id, "done" if answer is None else answer)
    return ApprovalResponse(data.id, True, data.call) if isinstance(data, ApprovalRequest) else answer
