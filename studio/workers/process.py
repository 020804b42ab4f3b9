"""One life of a worker process: start, frames in both directions, the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.workers.protocol import (
    AroundHost,
    CallHost,
    Limits,
    Program,
    UserCodeError,
    child_environment,
    error_of,
    frame,
)

_CHILD = Path(__file__).with_name("child.py")


@dataclass(slots=True)
class _Pending:
    """A message that waits for its answer. ``told`` is set when a cancel was answered in any way."""

    answer: asyncio.Future[Any]
    host: CallHost | None
    told: asyncio.Event = field(default_factory=asyncio.Event)


class ChildProcess:
    """A started process. ``ended`` is called once when it ends without having been killed by us, with a sentence and
    whether nothing was running."""

    def __init__(self, limits: Limits, ended: Callable[[ChildProcess, str, bool], None]) -> None:
        self._limits = limits
        self._ended = ended
        self._process: asyncio.subprocess.Process | None = None
        self._out: asyncio.WriteTransport | None = None
        self._in: asyncio.BaseTransport | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending: dict[int, _Pending] = {}
        self._last = 0
        self._killed = False
        self._tasks: list[asyncio.Task[None]] = []
        self.alive = False

    @property
    def pid(self) -> int | None:
        """The process id, None before the start."""
        return self._process.pid if self._process is not None else None

    @property
    def busy(self) -> bool:
        """Whether a call or a load waits for its answer."""
        return bool(self._pending)

    # ------------------------------------------------------------------------------------------------- start, end

    async def start(self, interpreter: str, extra: Mapping[str, str]) -> None:
        """Starts the process and waits until it is ready. Raises :class:`UserCodeError` (``WorkerStart``)."""
        try:
            incoming = await self._spawn(interpreter, extra)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserCodeError("WorkerStart", f"Python at {interpreter} cannot be started: {reason}") from error
        self.alive = True
        assert self._process is not None
        assert self._process.stderr is not None
        self._tasks.append(asyncio.create_task(self._read(incoming)))
        self._tasks.append(asyncio.create_task(self._lines(self._process.stderr, "err")))
        if self._process.stdout is not None and self._process.stdout is not incoming:
            self._tasks.append(asyncio.create_task(self._lines(self._process.stdout, "out")))
        try:
            async with asyncio.timeout(self._limits.start):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise UserCodeError("WorkerStart", f"Python at {interpreter} did not become ready") from None
        except BaseException:
            self._ready.cancel()
            raise

    async def _spawn(self, interpreter: str, extra: Mapping[str, str]) -> asyncio.StreamReader:
        options: dict[str, Any] = {"result_bytes": self._limits.result_bytes}
        if self._limits.memory_bytes:
            options["memory_bytes"] = self._limits.memory_bytes
        options["parent"] = os.getpid()
        if sys.platform == "win32":
            return await self._spawn_on_standard_pipes(interpreter, extra, options)
        child_in, to_child = os.pipe()
        from_child, child_out = os.pipe()
        loop = asyncio.get_running_loop()
        try:
            command = [interpreter, "-I", "-X", "utf8", str(_CHILD), str(child_in), str(child_out), json.dumps(options)]
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(child_in, child_out),
                start_new_session=True,
                env=child_environment(extra),
            )
        except BaseException:
            os.close(to_child)
            os.close(from_child)
            raise
        finally:
            os.close(child_in)
            os.close(child_out)
        reader = asyncio.StreamReader()
        source = os.fdopen(from_child, "rb", buffering=0)
        target = os.fdopen(to_child, "wb", buffering=0)
        self._in, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
        self._out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, target)
        return reader

    async def _spawn_on_standard_pipes(
        self, interpreter: str, extra: Mapping[str, str], options: Mapping[str, Any]
    ) -> asyncio.StreamReader:
        """Without inheritable descriptors the frames use standard input and output; the child moves them away."""
        self._process = await asyncio.create_subprocess_exec(
            *(interpreter, "-I", "-X", "utf8", str(_CHILD), "0", "1", json.dumps(options)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=child_environment(extra),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._out = self._process.stdin.transport
        return self._process.stdout

    def kill(self) -> None:
        """Kills the process and everything that it started; returns at once, see :meth:`gone`."""
        self._killed = True
        self.alive = False
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)

    async def gone(self) -> None:
        """Waits until the killed process is reaped and its pipes are closed."""
        if self._process is not None:
            await self._process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for transport in (self._in, self._out, getattr(self._process, "_transport", None)):
            if transport is not None:
                transport.close()
        if not self._ready.done():
            self._ready.cancel()

    # ------------------------------------------------------------------------------------------------------ calls

    async def load(self, program: Program) -> None:
        """Gives the process its code. Raises :class:`UserCodeError`, for a syntax error with its line."""
        units = [{"name": u.name, "source": u.source, "kind": u.kind} for u in program.units]
        await self._send({"t": "load", "units": units, "types": program.types}, None)[1].answer

    def call(self, message: Mapping[str, Any], host: CallHost) -> tuple[int, asyncio.Future[Any]]:
        """Sends a call; gives its number and the future of its result."""
        number, pending = self._send({"t": "call", **message}, host)
        return number, pending.answer

    async def cancel(self, number: int) -> bool:
        """Cancels a call. Whether it ended by itself within the grace time, so that the process may go on."""
        pending = self._pending.get(number)
        if pending is None or not self.alive:
            return True
        pending.host = None
        self._write({"t": "cancel", "id": number})
        alone = len(self._pending) == 1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.grace):
                await pending.told.wait()
                if number in self._pending and not alone:
                    # A plain function cannot be stopped, but others run beside it: it gets the whole grace time.
                    await asyncio.wait([pending.answer])
        return self._pending.pop(number, None) is None

    def forget(self, number: int) -> None:
        """Drops whatever a call still tells."""
        self._pending.pop(number, None)

    def fail_pending(self, type: str, message: str) -> None:
        """Ends every waiting call with an error."""
        pending, self._pending = self._pending, {}
        for entry in pending.values():
            if not entry.answer.done():
                entry.answer.set_exception(UserCodeError(type, message))
                entry.answer.exception()  # a caller that was cancelled never looks

    def _send(self, message: dict[str, Any], host: CallHost | None) -> tuple[int, _Pending]:
        self._last += 1
        pending = _Pending(asyncio.get_running_loop().create_future(), host)
        self._pending[self._last] = pending
        self._write({**message, "id": self._last})
        return self._last, pending

    def _write(self, message: Mapping[str, Any]) -> None:
        if self._out is not None and not self._out.is_closing():
            self._out.write(frame(message))

    # ---------------------------------------------------------------------------------------------------- reading

    async def _read(self, incoming: asyncio.StreamReader) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                size = struct.unpack(">I", await incoming.readexactly(4))[0]
                self._received(json.loads(await incoming.readexactly(size)))
        assert self._process is not None
        code = await self._process.wait()
        self.alive = False
        sentence = _ended_sentence(code)
        if not self._ready.done():
            self._ready.set_exception(UserCodeError("WorkerStart", sentence))
        if not self._killed:
            idle = not self._pending
            self.fail_pending("WorkerDied", sentence)
            self.kill()  # what it started may still run
            self._ended(self, sentence, idle)

    def _received(self, message: Mapping[str, Any]) -> None:
        kind = message["t"]
        if kind == "ready":
            if not self._ready.done():
                self._ready.set_result(None)
            return
        pending = self._pending.get(message["id"]) if message["id"] is not None else self._latest()
        if pending is None:
            return
        if kind == "event":
            self._event(message, pending)
            return
        pending.told.set()
        if kind == "plain":
            return
        self._pending.pop(message["id"], None)
        if pending.answer.done():
            return
        if kind == "ok":
            pending.answer.set_result(message["value"])
        elif kind == "error":
            pending.answer.set_exception(error_of(message["error"]))
        else:
            pending.answer.set_exception(UserCodeError("CancelledError", "The code cancelled itself"))

    def _latest(self) -> _Pending | None:
        calls = [p for p in self._pending.values() if p.host is not None]
        return calls[-1] if calls else None

    def _event(self, message: Mapping[str, Any], pending: _Pending) -> None:
        host, question = pending.host, message.get("q")
        if host is None:
            return
        if message["name"] == "next" and isinstance(host, AroundHost):
            host.call_next(message["value"]).add_done_callback(lambda done: self._go_on(question, done))
            return
        try:
            found = _tell(host, message)
        except Exception as error:
            if question is not None:
                self._write({"t": "reply", "q": question, "error": str(error)})
            elif not pending.answer.done():
                pending.answer.set_exception(error)
            return
        if question is not None:
            self._write({"t": "reply", "q": question, **found})

    def _go_on(self, question: Any, done: asyncio.Future[dict[str, Any]]) -> None:
        """Tells a middleware what came of its ``call_next``."""
        if not done.cancelled() and self.alive:
            self._write({"t": "reply", "q": question, **done.result()})

    async def _lines(self, stream: asyncio.StreamReader, name: str) -> None:
        """What does not go through Python's own streams (C code, child processes), by line."""
        rest = b""
        while chunk := await stream.read(65536):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._printed(line, name)
        if rest:
            self._printed(rest, name)

    def _printed(self, line: bytes, name: str) -> None:
        pending = self._latest()
        if pending is not None and pending.host is not None:
            text = line.decode("utf-8", "replace").rstrip("\r")
            pending.host.printed(text, "err" if name == "err" else "out")


def _tell(host: CallHost, message: Mapping[str, Any]) -> dict[str, Any]:
    name = message["name"]
    if name == "print":
        host.printed(message["text"], message["stream"])
    elif name == "send":
        host.send(message["value"], message["target"])
    elif name == "yield":
        host.yield_output(message["value"])
    elif name == "state_set":
        host.state_set(message["key"], message["value"])
    elif name == "ask":
        host.ask(message["value"], message["response_type"], message["request_id"])
    elif name == "state_get":
        try:
            return {"found": True, "value": host.state_get(message["key"])}
        except KeyError:
            return {"found": False, "value": None}
    return {}


def _ended_sentence(code: int) -> str:
    if code >= 0:
        return f"The worker process ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"The worker process was ended by signal {name}"
