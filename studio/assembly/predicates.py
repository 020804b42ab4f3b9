"""Python predicates of a debugger: conditions that a person typed, asked in a process of their own.

They are no part of the document, so they stand apart from its code: neither can spoil the other, and a predicate that
never ends is killed like any other call.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.assembly.code import BareHost
from studio.assembly.wire import to_worker
from studio.document.conditions import Scope
from studio.workers import Program, Unit, Worker

LONGEST = 5.0
"""Seconds that a predicate may take."""


class Predicates:
    """``worker`` gives the process when it is first needed; its owner ends it."""

    def __init__(self, worker: Callable[[], Worker]) -> None:
        self._worker = worker
        self._names: dict[str, str] = {}

    async def holds(self, body: str, data: object, scope: Scope) -> bool:
        """Whether a predicate is true. Raises :class:`studio.workers.UserCodeError`."""
        name = self._names.setdefault(body, f"condition {len(self._names) + 1}")
        worker = self._worker()
        await worker.use(Program(tuple(Unit(known, text, "predicate") for text, known in self._names.items())))
        state = None if scope.state is None else dict(scope.state)
        given = {"data": data, "text": scope.text, "value": scope.value, "type": scope.type, "state": state}
        arguments = {key: _given(value) for key, value in given.items()}
        return bool(await worker.call(name, arguments, host=BareHost(None), timeout=LONGEST, style="tool"))


def _given(value: object) -> object:
    """What code can be given; None for what it cannot."""
    try:
        return to_worker(value)
    except TypeError:
        return None
