"""A server's process: started in a group of its own, its exit noticed at once, nothing left of it at the end."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from studio.agents.mcp.settings import StdioServer, child_environment

GRACE = 1.0
"""Seconds to end by itself after the end of its input."""
TERMINATING = 0.5
"""Seconds to end after SIGTERM."""
LAST_WORDS = 0.1
"""Seconds after its end in which what a program printed last may still arrive."""
LINE_LIMIT = 64 * 1024 * 1024
"""The longest message, in bytes."""


class ServerProcess(asyncio.SubprocessProtocol):
    """The running program. Whole lines of its output go to ``received``, everything else it says to ``log``."""

    def __init__(
        self, received: Callable[[bytes], None], log: Callable[[str], None], exited: Callable[[int], None]
    ) -> None:
        self._received = received
        self._log = log
        self._tell_exit = exited
        self._pieces: dict[int, bytearray] = {1: bytearray(), 2: bytearray()}
        self._transport: asyncio.SubprocessTransport | None = None
        self._gone = asyncio.Event()
        self._errors_read = False
        self._telling: asyncio.TimerHandle | None = None
        self.pid = 0

    async def start(self, server: StdioServer) -> None:
        """Starts the program; raises ``OSError`` if that cannot be done."""
        path = server.path()
        if path is None:
            raise FileNotFoundError(f"the program {server.command!r} was not found")
        loop = asyncio.get_running_loop()
        more: dict[str, Any] = {"start_new_session": True} if sys.platform != "win32" else {}
        if _DIES_WITH_PARENT is not None:
            more["preexec_fn"] = _DIES_WITH_PARENT
        with warnings.catch_warnings():
            # From Python 3.12 on: that a forked child might wait for a lock. Ours makes one system call.
            warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*multi-threaded.*")
            await loop.subprocess_exec(
                lambda: self,
                path,
                *server.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=server.folder,
                env=child_environment(server.environment),
                **more,
            )

    def write(self, line: bytes) -> None:
        """A message for the program; lost if it has ended."""
        pipe = None if self._transport is None else self._transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(line)

    async def stop(self) -> None:
        """Ends the program, politely first, and all that it started. Cannot be cancelled; takes at most 2 s."""
        ending = asyncio.ensure_future(self._stop())
        cancelled = False
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                cancelled = True
        ending.result()
        if cancelled:
            raise asyncio.CancelledError

    async def _stop(self) -> None:
        transport = self._transport
        if transport is None:
            return
        pipe = transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        if not await self._ended(GRACE):
            self._signal(signal.SIGTERM)
            if not await self._ended(TERMINATING):
                self._kill()
                await self._ended(TERMINATING)
        self._kill()  # what a polite program leaves behind
        if self._telling is not None:
            self._tell()  # not later: the next process may have begun by then
        with suppress(PermissionError):
            transport.close()

    def kill(self) -> None:
        """Ends the program and all that it started at once."""
        self._kill()

    async def _ended(self, seconds: float) -> bool:
        """Whether it has ended. Not by the end of its pipes: a child of its own may hold them."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._gone.wait()
        return self._gone.is_set()

    def _kill(self) -> None:
        self._signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        if not self.pid:
            return
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform != "win32":
                os.killpg(self.pid, number)
            elif self._transport is not None:
                self._transport.terminate()

    # ----------------------------------------------------------------------------------- called by the event loop

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output arrives in any pieces."""
        piece = self._pieces[fd]
        piece += data
        if b"\n" not in data:
            if len(piece) > LINE_LIMIT:
                self._log("a message is longer than 64 MB; the program is stopped")
                piece.clear()
                self._kill()
            return
        *lines, rest = bytes(piece).split(b"\n")
        self._pieces[fd] = bytearray(rest)
        for line in lines:
            if fd == 1:
                self._received(line)
            else:
                self._log(line.decode("utf-8", "replace").rstrip("\r"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Known at once: a program may have ended before its start returns."""
        if isinstance(transport, asyncio.SubprocessTransport):
            self._transport = transport
            self.pid = transport.get_pid()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """The end of what it prints; its last words are then known."""
        if fd == 2:
            self._errors_read = True
            if self._telling is not None:
                self._tell()

    def process_exited(self) -> None:
        """The program has ended; a child of it may live on, and hold what it printed to."""
        self._gone.set()
        self._telling = asyncio.get_running_loop().call_later(LAST_WORDS, self._tell)
        if self._errors_read:
            self._tell()

    def _tell(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        code = None if self._transport is None else self._transport.get_returncode()
        self._tell_exit(0 if code is None else code)


def _death_signal() -> Callable[[], None] | None:
    """Run in the child: it dies with the studio, even if that is killed. Only Linux can."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def set_signal() -> None:
        prctl(1, signal.SIGKILL)

    return set_signal


_DIES_WITH_PARENT = _death_signal()
