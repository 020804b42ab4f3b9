"""How work ends that is cancelled: the grace it has, what is left behind, and who wanted it.

asyncio says *that* a task is cancelled, not by whom. A run counts as stopped if its caller is cancelled, and a node as
cancelled if its run is stopped or another node failed; anything else a node did to itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from studio.engine.events import RunWarned

if TYPE_CHECKING:
    from studio.engine.scope import Scope

_Given = TypeVar("_Given")

GRACE = 5.0
"""Seconds that cancelled nodes have to end; after that a run ends without them and says so."""
BREATH = 0.004
"""Seconds after which work that never waits lets the rest of the program run."""
_RUNS_A_NODE = "Superstep._run"
"""The function of the engine that has the id of a node in ``node``."""


async def awaited(scope: Scope, task: asyncio.Task[_Given]) -> _Given:
    """The end of a run. A stopped one has a grace to end; nodes that go on are left behind, and it is said."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        scope.stopping = True
        task.cancel()
        await _done({task}, 2 * GRACE)
        if not task.done():
            scope.left_behind(task)
            name_left_behind(scope)
            scope.status("CANCELLED")
            scope.emit = scope.store = None
        elif not task.cancelled():
            task.exception()
        raise


async def end(tasks: Sequence[asyncio.Task[None]], scope: Scope) -> None:
    """Cancels the tasks and waits for them, however often the waiting itself is cancelled.

    A node that swallows the cancellation and goes on is left behind after :data:`GRACE` seconds, with a warning.
    """
    for task in tasks:
        task.cancel()
    await _done(set(tasks), GRACE)
    for task in tasks:
        if not task.done():
            scope.left_behind(task)
        elif not task.cancelled():
            task.exception()  # noted, so that it is not reported as never retrieved


async def _done(tasks: set[asyncio.Task[Any]], seconds: float) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while any(not task.done() for task in tasks) and loop.time() < until:
        try:
            await asyncio.wait(tasks, timeout=until - loop.time())
        except asyncio.CancelledError:
            continue


def name_left_behind(scope: Scope) -> None:
    """Says which nodes go on although they were cancelled."""
    nodes: set[str | None] = {running_node(task) for task in scope.abandoned}
    for node in nodes - {None} or nodes:
        who = "A node" if node is None else f"Node {node!r}"
        scope.tell(RunWarned, f"{who} does not stop; the run ended without it", node)


def cancelled_itself(scope: Scope) -> bool:
    """Whether a cancellation that came out of a node or an edge was its own doing; the run may then go on.

    Where the task of a run was cancelled and nobody says why, it is not: whoever did it is outside.
    """
    task = asyncio.current_task()
    if task is None or scope.task is None or scope.stopped():
        return False
    inside_another = scope.outer is not None or task is not scope.task
    if inside_another and scope.task.cancelling() > scope.marks_of(scope.task):
        return False
    unmark(scope)
    return True


def unmark(scope: Scope) -> None:
    """Takes the marks of cancelling off the current task that are none of a stop.

    Before Python 3.13 an ``asyncio.TaskGroup`` whose task failed leaves one on the task around it.
    """
    task = asyncio.current_task()
    if task is not None and not scope.stopped():
        while task.cancelling() > scope.marks_of(task):
            task.uncancel()


async def went_on_cancelled(scope: Scope) -> bool:
    """Whether a node that ended well has cancelled its task before; takes the marks off if it is not being stopped."""
    unmark(scope)
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if scope.stopped():
            raise
        return True
    return False


def running_node(task: asyncio.Task[Any]) -> str | None:
    """The node that a task of the engine is running: looked up in its frames, since keeping it would cost."""
    work: Any = task.get_coro()
    node: str | None = None
    while work is not None:
        frame = getattr(work, "cr_frame", None)
        if frame is not None and frame.f_code.co_qualname == _RUNS_A_NODE:
            node = frame.f_locals.get("node", node)
        work = getattr(work, "cr_await", None)
    return node


def is_closed(error: BaseException) -> bool:
    """Whether a coroutine is only being thrown away, after its loop: there is nobody left to be told of it."""
    if not isinstance(error, GeneratorExit):
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False
