"""The user code of one document: its units, and calls of them for nodes, conditions and tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from studio.assembly.wire import from_worker, to_worker
from studio.document.model import Workflow
from studio.document.tools import code_modules
from studio.engine.context import Context
from studio.engine.events import LinePrinted
from studio.engine.types import parse_type
from studio.workers import CallContext, CallHost, Program, Unit, UnitKind, UserCodeError, Worker

_MISSING = object()
_CLASS_NAMES = {"dict": "object", "NoneType": "none"}


class NodeHost:
    """What a call may do in the name of one invocation of a node."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def state_get(self, key: str) -> Any:
        value = self._ctx.get_state(key, _MISSING)
        if value is _MISSING:
            raise KeyError(key)
        return to_worker(value)

    def state_set(self, key: str, value: Any) -> None:
        self._ctx.set_state(key, from_worker(value))

    def send(self, data: Any, target: str | None) -> None:
        self._ctx.send(from_worker(data), target)

    def yield_output(self, data: Any) -> None:
        self._ctx.yield_output(from_worker(data))

    def ask(self, data: Any, response_type: str, request_id: str | None) -> str:
        wanted = parse_type(_CLASS_NAMES.get(response_type, response_type))
        return self._ctx.request(from_worker(data), wanted, request_id)

    def printed(self, text: str, stream: Literal["out", "err"]) -> None:
        self._ctx.emit(LinePrinted(self._ctx.now(), self._ctx.node, text, stream))


class BareHost:
    """What a predicate, a filter or a tool may do: print."""

    def __init__(self, ctx: Context | None) -> None:
        self._ctx = ctx

    def state_get(self, key: str) -> Any:
        raise KeyError(key)

    def state_set(self, key: str, value: Any) -> None:
        """No such thing here."""

    def send(self, data: Any, target: str | None) -> None:
        """No such thing here."""

    def yield_output(self, data: Any) -> None:
        """No such thing here."""

    def ask(self, data: Any, response_type: str, request_id: str | None) -> str:
        return ""

    def printed(self, text: str, stream: Literal["out", "err"]) -> None:
        if self._ctx is not None:
            NodeHost(self._ctx).printed(text, stream)


class UserCode:
    """Collects units while a plan is made; afterwards calls them. The worker loads them at the first call."""

    def __init__(self, worker: Worker | None, workflow: Workflow, seconds: float) -> None:
        self._worker = worker
        self._seconds = seconds
        self.schemas: Mapping[str, Mapping[str, Any]] = {t.name: t.json_schema for t in workflow.types}
        self._units = [Unit(m.name, m.source) for m in code_modules(workflow)]
        self._program: Program | None = None

    @property
    def program(self) -> Program:
        """Everything collected; complete when the plan is made."""
        if self._program is None:
            self._program = Program(tuple(self._units), self.schemas)
        return self._program

    def add(self, name: str, source: str, kind: UnitKind) -> str:
        """Adds a piece of code; gives the name to call it by."""
        self._units.append(Unit(name, source, kind))
        return name

    async def prepare(self) -> None:
        """Starts the worker and loads the code, so that the first call costs no start."""
        await self._running().use(self.program)

    async def run(self, target: str, data: Any, ctx: Context) -> Any:
        """A call for a node: ``f(data, ctx)``."""
        worker = self._running()
        await worker.use(self.program)
        context = CallContext(ctx.sources, ctx.streaming, ctx.request_id)
        return from_worker(
            await worker.call(target, to_worker(data), host=NodeHost(ctx), timeout=self._seconds, context=context)
        )

    async def bare(
        self, target: str, arguments: Mapping[str, Any], ctx: Context | None = None, *, limited: bool = True
    ) -> Any:
        """A call by keyword, of a predicate, filter or tool; gives its JSON. ``limited``: within the usual time."""
        worker = self._running()
        await worker.use(self.program)
        limit = self._seconds if limited else None
        given = {name: to_worker(value) for name, value in arguments.items()}
        return await worker.call(target, given, host=BareHost(ctx), timeout=limit, style="tool")

    @property
    def seconds(self) -> float:
        """How long a call may take."""
        return self._seconds

    async def around(self, target: str, data: Mapping[str, Any], host: CallHost, *, limited: bool = False) -> Any:
        """A call of a middleware, which may take as long as what it is around unless ``limited``; gives its JSON."""
        worker = self._running()
        await worker.use(self.program)
        limit = self._seconds if limited else None
        return await worker.call(target, data, host=host, timeout=limit, style="middleware")

    def _running(self) -> Worker:
        if self._worker is None:
            raise UserCodeError("NotTrusted", "There is no worker for the code of this workflow")
        return self._worker
