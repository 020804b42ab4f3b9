"""The run as the window sees it: commands in, views and one signal per frame out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.bridge.run_views import (
    BranchView,
    CheckpointView,
    InvocationView,
    MessageView,
    NodeView,
    OutputView,
    QueuedView,
    RequestView,
    SuperstepView,
)
from studio.debugger.states import RunState
from studio.engine.events import Event


class RunModel(QObject):
    """One per open workflow. Skeleton: names and meaning are fixed, the bridge room fills it."""

    state_changed = Signal()
    """Run state, sentence or which commands apply changed."""
    updated = Signal(object)
    """RunUpdate, at most once per frame."""
    breakpoints_changed = Signal()
    failed_to_start = Signal(str)
    """A run could not start; a whole sentence with the way out."""

    # ---- state
    state: RunState
    sentence: str
    """The state chip: "Pausing: waits for Writer", "Paused before superstep 4 — breakpoint on Join"."""
    paused_at: str | None
    """Node whose breakpoint holds the run."""
    branch: str | None
    """Branch that is shown."""
    nodes: dict[str, NodeView]
    invocations: dict[str, InvocationView]
    supersteps: list[SuperstepView]
    messages: list[MessageView]
    outputs: list[OutputView]
    requests: list[RequestView]
    shared_state: dict[str, Any]
    queued: list[QueuedView]
    events: Sequence[Event]
    checkpoints: list[CheckpointView]
    branches: list[BranchView]
    here: str | None
    """The checkpoint that the shown state comes from."""
    breakpoints: frozenset[str]

    # ---- commands; each is safe to call in any state, does nothing (with a sentence) where it does not apply
    def can(self, command: str) -> tuple[bool, str]:
        """Whether ``run``, ``step``, ``pause``, ``stop``, ``restart``, ``restore``, ``fork`` applies, and else why not."""
        raise NotImplementedError

    def run(self, text: str) -> None:
        """Starts a run with this input, or continues a paused one."""

    def step(self, text: str) -> None:
        """Starts paused before the first superstep, or lets one superstep run."""

    def pause(self) -> None: ...

    def stop(self) -> None: ...

    def restart(self) -> None: ...

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Answers requests by id; continues the run."""

    def toggle_breakpoint(self, node: str) -> None: ...

    def edit_queued(self, message: str, text: str) -> None:
        """Changes the text of a queued message; the run goes on as a fork."""

    def drop_queued(self, message: str) -> None: ...

    def restore(self, checkpoint: str) -> None:
        """Shows the moment of a checkpoint, paused there; Run or Step continues from it as a new branch."""

    def fork(self, checkpoint: str, queued: Mapping[str, str] | None = None) -> None:
        """Runs a new branch from a checkpoint, with the texts of queued messages replaced."""

    def show_branch(self, branch: str) -> None: ...
