"""What a session is made from: where its branch begins, what runs, and what the debugger is to do around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from studio.agents.messages import Usage
from studio.checkpoints import Checkpoint
from studio.debugger.breakpoints import Breakpoint, Breakpoints
from studio.debugger.forks import QueueEdits
from studio.debugger.holds import Stop
from studio.debugger.overrides import Overrides
from studio.debugger.watching import CostOf, Judge, Watch, seeded, told_cost
from studio.document.model import Workflow as Document
from studio.engine import Workflow

if TYPE_CHECKING:
    from studio.debugger.recording import Tape


class Runnable(Protocol):
    """A plan that was made ready for one session: the engine's workflow and what it needs."""

    @property
    def workflow(self) -> Workflow:
        """The graph that runs."""

    @property
    def fingerprint(self) -> str:
        """Of the document it was made from."""

    @property
    def document_text(self) -> str:
        """The document, as it is pinned."""

    @property
    def linked(self) -> Mapping[str, Document]:
        """The workflows of linked files as they were read, by the path of their node."""

    def try_now(self) -> None:
        """Ends all waits for a further try of a refused model call."""

    async def close(self) -> None:
        """Ends the worker, closes connections."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a branch begins: an input, or a checkpoint with edits of its queue. ``clock`` is the run's time there.

    ``resumed``: the branch is in the store already, and goes on from its last checkpoint; it has run for ``spent``
    seconds. ``unsaved``: the checkpoint was made for this branch, and is saved with it. ``tape``: what is given again
    instead of being done.
    """

    data: Any = None
    checkpoint: Checkpoint | None = None
    edits: QueueEdits = field(default_factory=QueueEdits)
    clock: float = 0.0
    resumed: bool = False
    spent: float = 0.0
    unsaved: bool = False
    tape: Tape | None = None
    passed: frozenset[Stop] = frozenset()
    """Where the run stood that this one goes on for: it does not stop there once more."""


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """Breakpoints and run configuration, both live; the ``document`` tells lines and state keys, ``cost_of`` prices.
    ``judge`` is asked whether a Python predicate is true; without it such a condition always is. ``used``: what model
    calls took on the way to the beginning, for the budgets of breakpoints."""

    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    overrides: Overrides = field(default_factory=Overrides)
    document: Document | None = None
    cost_of: CostOf = told_cost
    judge: Judge | None = None
    used: Usage | None = None

    def watch(self, checkpoint: Checkpoint | None, log: Callable[[Breakpoint, str, str], None]) -> Watch:
        """Watches a session that begins at a checkpoint, or with an input."""
        state = seeded(checkpoint.state if checkpoint is not None else None, self.document)
        watch = Watch(self.breakpoints, log, self.document, self.cost_of, state, self.judge)
        if self.used is not None:
            watch.tokens = (self.used.input or 0) + (self.used.output or 0)
            watch.cost = told_cost("", self.used) or 0.0
        return watch
