"""The worker process: runs user code, apart from the studio. Standard library only.

Started as ``python -I child.py FD_IN FD_OUT OPTIONS``. Both pipes carry frames: four bytes of length (big endian),
then a JSON object with a field ``t``. To the worker: ``load``, ``call``, ``cancel``, ``reply``, ``ping``. From it:
``ready``, ``ok``, ``error``, ``cancelled``, ``plain``, ``event``, ``pong``.

The main thread runs an event loop: coroutines are tasks there, plain functions run in threads. A reader thread takes
the frames, so that a busy function neither delays an answer to ``get_state`` nor the end of the process when the
studio is gone. What user code prints is sent line by line with the id of the call that printed it.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import importlib.util
import inspect
import io
import json
import os
import queue
import signal
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from studio.workers import child_code as code
    from studio.workers import child_middleware as middleware
    from studio.workers import child_values as values
else:

    def _sibling(name):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
        spec = importlib.util.spec_from_file_location(name, path)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    values = _sibling("child_values")
    middleware = _sibling("child_middleware")
    code = _sibling("child_code")

_running: contextvars.ContextVar[int | None] = contextvars.ContextVar("running", default=None)


class Later:
    """Where the reader thread puts an answer that a coroutine awaits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.future: asyncio.Future[dict[str, Any]] = loop.create_future()

    def put(self, message: dict[str, Any]) -> None:
        self._loop.call_soon_threadsafe(self._set, message)

    def _set(self, message: dict[str, Any]) -> None:
        if not self.future.done():
            self.future.set_result(message)


class Channel:
    """Frames to the studio, from any thread, and questions that block until the reader thread brings the answer."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any]] | Later] = {}
        self._next = 0

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        with self._lock:
            self._stream.write(struct.pack(">I", len(data)) + data)
            self._stream.flush()

    def event(self, call: int | None, name: str, **fields: Any) -> None:
        self.send({"t": "event", "id": call, "name": name, **fields})

    def ask(self, call: int, name: str, **fields: Any) -> dict[str, Any]:
        answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        with self._lock:
            self._next += 1
            question = self._next
            self._waiting[question] = answers
        self.event(call, name, q=question, **fields)
        return answers.get()

    async def ask_later(self, call: int, name: str, **fields: Any) -> dict[str, Any]:
        """The same without blocking the loop."""
        answer = Later(asyncio.get_running_loop())
        with self._lock:
            self._next += 1
            question = self._next
            self._waiting[question] = answer
        self.event(call, name, q=question, **fields)
        return await answer.future

    def answered(self, message: dict[str, Any]) -> None:
        with self._lock:
            answers = self._waiting.pop(message["q"], None)
        if answers is not None:
            answers.put(message)


class Printed(io.TextIOBase):
    """``sys.stdout`` and ``sys.stderr``: whole lines become events of the running call."""

    def __init__(self, channel: Channel, name: str, descriptor: int) -> None:
        self._channel, self._name, self._descriptor = channel, name, descriptor
        self._open: dict[int | None, str] = {}

    encoding = "utf-8"

    def fileno(self) -> int:
        return self._descriptor

    def writable(self) -> bool:
        return True

    @property
    def buffer(self) -> BinaryIO:
        return os.fdopen(os.dup(self._descriptor), "wb", buffering=0)

    def write(self, text: str) -> int:
        call = _running.get()
        *lines, rest = (self._open.pop(call, "") + text).split("\n")
        if rest:
            self._open[call] = rest
        for line in lines:
            self._channel.event(call, "print", text=line, stream=self._name)
        return len(text)

    def finish(self, call: int) -> None:
        """Sends a last line that had no line break."""
        rest = self._open.pop(call, "")
        if rest:
            self._channel.event(call, "print", text=rest, stream=self._name)


class Calls:
    """The calls that run, each with its task or thread."""

    def __init__(self, channel: Channel, loop: asyncio.AbstractEventLoop, options: dict[str, Any]) -> None:
        self._channel, self._loop = channel, loop
        self._limit = int(options.get("result_bytes", 8_000_000))
        self._threads = ThreadPoolExecutor(16, "user-code")
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._plain: set[int] = set()
        self._code = code.Code()
        self._hooks = middleware.Hooks()
        self.printed = (Printed(channel, "out", 1), Printed(channel, "err", 2))

    # ---- reader thread
    def receive(self, message: dict[str, Any]) -> None:
        kind = message["t"]
        if kind == "reply":
            self._channel.answered(message)
        elif kind == "cancel" and message["id"] in self._plain:
            # A thread cannot be stopped; the studio ends the process.
            self._channel.send({"t": "plain", "id": message["id"]})
        elif kind == "ping":
            self._channel.send({"t": "pong", "id": message["id"]})
        else:
            self._loop.call_soon_threadsafe(self._on_loop, message)

    # ---- main thread
    def _on_loop(self, message: dict[str, Any]) -> None:
        number = message["id"]
        if message["t"] == "load":
            self._answer(number, lambda: self._code.load(message["units"], message["types"]))
        elif message["t"] == "call":
            self._tasks[number] = self._loop.create_task(self._call(message))
        elif message["t"] == "cancel":
            task = self._tasks.get(number)
            if task is not None:
                task.cancel()

    def _answer(self, number: int, run: Any) -> None:
        try:
            result = run()
        except BaseException as error:
            self._channel.send({"t": "error", "id": number, "error": code.describe(error, self._code.files)})
        else:
            self._channel.send({"t": "ok", "id": number, "value": result})

    async def _call(self, message: dict[str, Any]) -> None:
        number = message["id"]
        _running.set(number)
        try:
            result, error = await self._run(number, message)
        except asyncio.CancelledError:
            final: dict[str, Any] = {"t": "cancelled", "id": number}
        else:
            final = self._result(number, result) if error is None else {"t": "error", "id": number, "error": error}
        finally:
            self._tasks.pop(number, None)
            self._plain.discard(number)
        for stream in self.printed:
            stream.finish(number)
        self._channel.send(final)

    async def _run(self, number: int, message: dict[str, Any]) -> tuple[Any, dict[str, Any] | None]:
        context = WorkflowContext(self._channel, number, self._code.types, message.get("context") or {})
        try:
            if message["style"] == "middleware":
                return await self._around(number, message["target"], message["data"]), None
            call = functools.partial(self._code.prepare, message["target"], message["style"], message["data"], context)
            run = call() if self._code.is_body(message["target"]) else await self._in_thread(number, call)
            if inspect.iscoroutinefunction(run.func):
                return await run(), None
            result = await self._in_thread(number, run)
            return (await result if inspect.isawaitable(result) else result), None
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return None, code.describe(error, self._code.files)

    async def _around(self, number: int, target: str, data: dict[str, Any]) -> Any:
        """A middleware, or what it hung on a streamed answer."""
        if data["kind"] == "result":
            return await self._hooks.result(data["hooks"], values.decode(data["value"], self._code.types))
        if data["kind"] == "updates":
            return await self._hooks.updates(data["hooks"], values.decode(data["values"], self._code.types))
        if data["kind"] == "close":
            return await self._hooks.close(data["hooks"])
        function = await self._in_thread(number, functools.partial(self._code.function, target))

        async def ask(fields: Any) -> dict[str, Any]:
            return await self._channel.ask_later(number, "next", value=fields)

        return await middleware.run(function, data, self._code.types, self._hooks, ask)

    async def _in_thread(self, number: int, run: Any) -> Any:
        def guarded() -> tuple[Any, BaseException | None]:
            try:
                return run(), None
            except BaseException as error:
                return None, error

        self._plain.add(number)
        try:
            inside = contextvars.copy_context()
            result, error = await self._loop.run_in_executor(self._threads, inside.run, guarded)
        finally:
            self._plain.discard(number)
        if error is not None:
            raise error
        return result

    def _result(self, number: int, result: Any) -> dict[str, Any]:
        try:
            value = values.encode(result)
            size = len(json.dumps(value)) if isinstance(value, (str, list, dict)) else 0
            if size > self._limit:
                raise values.NotJsonError(f"the result has {size:,} bytes; at most {self._limit:,} are taken")
        except RecursionError:
            error = {"type": "TypeError", "message": "the result refers to itself", "where": []}
            return {"t": "error", "id": number, "error": error}
        except values.NotJsonError as caught:
            error = {"type": "TypeError", "message": f"The result cannot be taken: {caught}", "where": []}
            return {"t": "error", "id": number, "error": error}
        return {"t": "ok", "id": number, "value": value}


class Done:
    """What the ``async`` methods of the context give: may be awaited or ignored."""

    def __await__(self) -> Any:
        return None
        yield


class WorkflowContext:
    """``ctx``: the methods of the framework's WorkflowContext, in its sync or async form."""

    def __init__(self, channel: Channel, call: int, types: dict[str, type], given: dict[str, Any]) -> None:
        self._channel, self._call, self._types = channel, call, types
        self._sources = list(given.get("sources", ()))
        self._streaming = bool(given.get("streaming", False))
        self.request_id: str | None = given.get("request_id")
        self._sent: list[Any] = []
        self._yielded: list[Any] = []

    def __class_getitem__(cls, _types: Any) -> type:
        return cls

    def send_message(self, message: Any, target_id: str | None = None) -> Done:
        self._channel.event(self._call, "send", value=values.encode(message), target=target_id)
        self._sent.append(message)
        return Done()

    def yield_output(self, output: Any) -> Done:
        self._channel.event(self._call, "yield", value=values.encode(output))
        self._yielded.append(output)
        return Done()

    def request_info(self, request_data: Any, response_type: Any, *, request_id: str | None = None) -> Done:
        name = response_type if isinstance(response_type, str) else getattr(response_type, "__name__", "object")
        self._channel.event(
            self._call, "ask", value=values.encode(request_data), response_type=name, request_id=request_id
        )
        return Done()

    def get_state(self, key: str, default: Any = None) -> Any:
        """Blocks until the studio has answered."""
        answer = self._channel.ask(self._call, "state_get", key=key)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return values.decode(answer["value"], self._types) if answer["found"] else default

    def set_state(self, key: str, value: Any) -> None:
        self._channel.event(self._call, "state_set", key=key, value=values.encode(value))

    def is_streaming(self) -> bool:
        return self._streaming

    @property
    def source_executor_ids(self) -> list[str]:
        return list(self._sources)

    def get_source_executor_id(self) -> str:
        if len(self._sources) > 1:
            raise RuntimeError("The message has several sources; see ctx.source_executor_ids.")
        return str(self._sources[0])

    def get_sent_messages(self) -> list[Any]:
        return list(self._sent)

    def get_yielded_outputs(self) -> list[Any]:
        return list(self._yielded)


def read_frames(stream: BinaryIO, receive: Any) -> None:
    """Runs in the reader thread; the end of input ends the process at once, whatever runs."""
    try:
        while True:
            head = stream.read(4)
            if len(head) < 4:
                break
            receive(json.loads(stream.read(struct.unpack(">I", head)[0])))
    finally:
        os._exit(0)


def end_with(parent: int) -> None:
    """Asks Linux to kill this process when the studio dies: a loop inside C code never lets the reader thread run."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def limit_memory(limit: int | None) -> None:
    if limit and sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def open_pipes(fd_in: int, fd_out: int) -> tuple[BinaryIO, BinaryIO]:
    """The two pipes; if they are standard input and output, user code gets others in their place."""
    if fd_in == 0:
        fd_in = os.dup(0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if fd_out == 1:
        fd_out = os.dup(1)
        os.dup2(2, 1)
    os.set_inheritable(fd_in, False)
    os.set_inheritable(fd_out, False)
    return os.fdopen(fd_in, "rb"), os.fdopen(fd_out, "wb")


def main(arguments: list[str]) -> None:
    options = json.loads(arguments[2]) if len(arguments) > 2 else {}
    if "parent" in options:
        end_with(options["parent"])
    limit_memory(options.get("memory_bytes"))
    incoming, outgoing = open_pipes(int(arguments[0]), int(arguments[1]))
    channel = Channel(outgoing)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    calls = Calls(channel, loop, options)
    sys.stdout, sys.stderr = calls.printed
    code.offer_framework(WorkflowContext)
    threading.Thread(target=read_frames, args=(incoming, calls.receive), name="reader", daemon=True).start()
    channel.send({"t": "ready", "pid": os.getpid(), "python": sys.version.split()[0]})
    loop.run_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
