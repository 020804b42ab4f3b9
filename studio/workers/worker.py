"""A worker: a process that runs the user code of one workflow, and starts again whenever it had to be killed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studio.workers.process import ChildProcess
from studio.workers.protocol import CallContext, CallHost, Limits, Program, Style, Unit, UserCodeError

_PLAIN = CallContext()


def default_interpreter() -> str:
    """The Python that runs the studio itself."""
    return sys.executable


class Worker:
    """No security boundary: the same user and the same files. It can be killed, and its crash is not ours.

    ``env``: variables besides the allow-listed ones. ``died`` is told when the process ended by itself between calls.
    """

    def __init__(
        self,
        interpreter: str | None = None,
        env: Mapping[str, str] | None = None,
        *,
        limits: Limits | None = None,
        died: Callable[[str], None] | None = None,
    ) -> None:
        self._interpreter = interpreter or default_interpreter()
        self._env = dict(env or {})
        self._limits = limits or Limits()
        self._died = died
        self._program = Program()
        self._process: ChildProcess | None = None
        self._starting = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The id of the running process, None if none runs."""
        return self._process.pid if self._process is not None and self._process.alive else None

    async def start(self) -> None:
        """Starts the process, so that the first call costs no start. Not needed: a call starts it too."""
        await self._running()
        self._rest()

    async def load(self, units: Sequence[Unit], types: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Replaces the code. ``types``: JSON Schema of each declared type, by name; they become dataclasses.

        Raises :class:`UserCodeError`, for a syntax error with unit, line and column; the worker then has the code
        that loaded before the mistake.
        """
        await self.use(Program(tuple(units), dict(types or {})))

    async def use(self, program: Program) -> None:
        """Loads a program unless this very object is loaded; a worker has one program at a time."""
        if self._program is program:
            return
        self._program = program
        try:
            if self._process is not None and self._process.alive:
                await self._process.load(program)
            else:
                await self._running()
        except BaseException:
            if self._program is program:
                self._program = Program()
            raise

    async def call(
        self,
        target: str,
        data: Any,
        *,
        host: CallHost,
        timeout: float | None = 60.0,  # noqa: ASYNC109 - the process must be killed, not only the wait ended
        style: Style = "node",
        context: CallContext = _PLAIN,
    ) -> Any:
        """Calls a body by its name or a function as ``module:function`` and gives its JSON result.

        Raises :class:`UserCodeError`. Cancelling the awaiting task ends the call within 200 ms: an ``async`` function
        is cancelled, anything else is killed with the process, and a new process is made ready.
        """
        process = await self._running()
        self._keep()
        message = {
            "target": target,
            "style": style,
            "data": data,
            "context": {"sources": context.sources, "streaming": context.streaming, "request_id": context.request_id},
        }
        number, answer = process.call(message, host)
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.shield(answer)
        except TimeoutError:
            await self._stop(process, number)
            raise UserCodeError("TimeLimit", f"The code did not end within {timeout:g} seconds") from None
        except asyncio.CancelledError:
            await self._stop(process, number)
            raise
        finally:
            process.forget(number)
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # told to nobody after a cancel
            self._rest()

    async def close(self) -> None:
        """Ends the process and everything it started; the worker cannot be used again."""
        self._closed = True
        self._keep()
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._process is not None:
            self._end(self._process, "Interrupted", "The worker was closed")
        await asyncio.gather(*self._endings, return_exceptions=True)

    # --------------------------------------------------------------------------------------------------- internal

    async def _running(self) -> ChildProcess:
        async with self._starting:
            if self._closed:
                raise UserCodeError("Interrupted", "The worker was closed")
            if self._process is not None and self._process.alive:
                return self._process
            process = ChildProcess(self._limits, self._on_ended)
            try:
                await process.start(self._interpreter, self._env)
                self._process = process
                await process.load(self._program)
            except UserCodeError as error:
                if not process.alive or error.type == "WorkerStart":
                    self._end(process, error.type, error.message)
                raise
            except BaseException:
                self._end(process, "Interrupted", "The start was cancelled")
                raise
            return process

    async def _stop(self, process: ChildProcess, number: int) -> None:
        """Ends one call; kills the process unless the call gave way."""
        stopped = False
        try:
            stopped = await process.cancel(number)
        finally:
            if not stopped and process.alive:
                self._end(process, "Interrupted", "Another call in the same worker had to be killed")
                self._warm()

    def _end(self, process: ChildProcess, type: str, message: str) -> None:
        process.kill()
        process.fail_pending(type, message)
        if self._process is process:
            self._process = None
        task = asyncio.create_task(process.gone())
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    def _warm(self) -> None:
        """Starts the next process in the background, owned by this worker."""
        if self._closed or (self._warming is not None and not self._warming.done()):
            return
        self._warming = asyncio.create_task(self._warm_up())

    async def _warm_up(self) -> None:
        try:
            await self._running()
        except UserCodeError:
            return  # the next call tries again and tells

    def _on_ended(self, process: ChildProcess, sentence: str, idle: bool) -> None:
        if self._process is not process:
            return  # it never became ready; whoever waits for the start is told
        self._end(process, "WorkerDied", sentence)
        if idle and self._died is not None:
            self._died(sentence)

    def _keep(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest(self) -> None:
        """After the last call the process may stay idle for a while."""
        self._keep()
        if not self._closed and self._process is not None and not self._process.busy:
            self._idle = asyncio.get_running_loop().call_later(self._limits.idle, self._end_idle)

    def _end_idle(self) -> None:
        self._idle = None
        if self._process is not None and not self._process.busy:
            self._end(self._process, "Interrupted", "The worker was idle")
