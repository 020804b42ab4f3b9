"""What a run model needs from outside: the document as it is now, a store, and a way to make a document runnable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from studio.checkpoints import Codec, RunStore, StoreError
from studio.debugger.session import Runnable
from studio.debugger.watching import Judge
from studio.document.model import Workflow
from studio.engine.events import EventSink


async def _no_signature(_workflow: Workflow) -> str:
    return ""


async def _no_store() -> RunStore:
    raise StoreError("There is no file of runs")


def _no_trace(sink: EventSink, _workflow: Workflow, _run: str) -> EventSink:
    return sink


def _no_judge(_workflow: Workflow) -> Judge | None:
    return None


@dataclass(frozen=True, slots=True)
class RunServices:
    """``open_store`` is called when the model opens if ``store_exists``, else before the first run; ``prepare`` once
    per branch that runs. ``signature`` gives the graph signature of a document, ``fingerprint`` that of everything that
    decides how a run goes; "" if it cannot be built.
    """

    document: Callable[[], Workflow]
    open_store: Callable[[], Awaitable[RunStore]]
    prepare: Callable[[Workflow], Awaitable[Runnable]]
    codec: Codec
    trace: Callable[[EventSink, Workflow, str], EventSink] = _no_trace
    """The sink of a run, with spans made in front of it if a person wants them."""
    judge: Callable[[Workflow], Judge | None] = _no_judge
    """Who is asked whether the Python predicate of a breakpoint of a document is true."""
    store_exists: Callable[[], bool] = lambda: True
    signature: Callable[[Workflow], Awaitable[str]] = _no_signature
    fingerprint: Callable[[Workflow], Awaitable[str]] = _no_signature
    secrets: Callable[[], Collection[str]] = frozenset
    """Every secret that was used so far: none may get into a file for somebody else."""
    disk_bytes: Callable[[], int] = lambda: 0
    """What runs take on disk, also while new ones are kept in memory only."""
    remove_from_disk: Callable[[], None] = lambda: None
    """Deletes them, for a workflow that keeps its runs in memory."""
    open_damaged: Callable[[], Awaitable[RunStore]] = _no_store
    """Opens what can be read of a damaged file."""
    set_aside: Callable[[], str] = lambda: ""
    """Gives the file of runs another name, so that a new one begins; gives the new name."""
