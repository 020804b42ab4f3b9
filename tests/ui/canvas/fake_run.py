"""A run model that a test fills by hand."""

from __future__ import annotations

from studio.bridge.run_model import RunModel
from studio.bridge.run_views import RunUpdate
from studio.debugger.states import RunState


class FakeRun(RunModel):
    """The attributes of a run model without a run; breakpoints work."""

    def __init__(self) -> None:
        super().__init__()
        self.state = RunState.IDLE
        self.sentence = ""
        self.paused_at = None
        self.next_superstep = 0
        self.branch = None
        self.nodes = {}
        self.invocations = {}
        self.supersteps = []
        self.messages = []
        self.outputs = []
        self.requests = []
        self.shared_state = {}
        self.queued = []
        self.events = []
        self.checkpoints = []
        self.branches = []
        self.here = None
        self.breakpoints = frozenset()

    def can(self, command: str) -> tuple[bool, str]:
        return False, "This is a fake."

    def toggle_breakpoint(self, node: str) -> None:
        self.breakpoints = self.breakpoints ^ {node}
        self.breakpoints_changed.emit()

    def show(self) -> None:
        """Says that everything changed."""
        self.updated.emit(RunUpdate(everything=True))
        self.state_changed.emit()
