"""Warns before a model call: W4 and W12, also where a breakpoint holds the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studio.agents.messages import Message
from studio.debugger.context.inspection import Inspection
from studio.document.model import Workflow
from studio.engine import events as ev


class BeforeCalls:
    """``warn`` takes the node and the sentence, once per invocation and finding."""

    def __init__(self, document: Workflow, warn: Callable[[str, str], None]) -> None:
        self._inspection = Inspection(document)
        self._warn = warn

    def fold(self, event: ev.Event) -> None:
        """Takes the next event of the run."""
        self._inspection.fold(event)

    def look(self, path: str, messages: Sequence[Message]) -> None:
        """Looks at messages that a node is about to send."""
        for found in self._inspection.before_call(path, messages):
            self._warn(found.node, f"{found.rule} {found.title}. {found.text} {found.fix}")
