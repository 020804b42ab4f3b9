"""A node made of one function."""

from __future__ import annotations

from collections.abc import Sequence

from studio.engine.executor import Executor, Handler, ResponseHandler, Run
from studio.engine.types import ANY, Type


class FunctionExecutor(Executor):
    """Runs ``run(data, ctx)`` for everything it accepts. It has no state of its own."""

    def __init__(
        self,
        id: str,
        run: Run,
        *,
        accepts: Type = ANY,
        sends: Sequence[Type] | None = None,
        yields: Sequence[Type] = (),
        responses: Sequence[ResponseHandler] = (),
    ) -> None:
        declared = None if sends is None else tuple(sends)
        super().__init__(id, (Handler(accepts, run, declared, tuple(yields)),), responses)
