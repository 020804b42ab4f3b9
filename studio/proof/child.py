"""Runs in the user's Python: compiles, lints, builds and runs an exported project, and says in JSON lines what it saw.

Only the standard library and what the project itself needs is imported. Its argument is the process that waits for it.
The job comes as JSON on standard input; each line of the answer has a ``step``. A line with ``error`` is the last one
of its project.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Coroutine, Iterator
from typing import Any

_out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
_MOST_EVENTS = 20_000
_MOST_RESTORED = 60
"""Supersteps of a run that is restored: the framework copies the state of every executor after each of them."""


def say(step: str, **more: Any) -> None:
    """One line of the answer."""
    print(json.dumps({"step": step, **more}), file=_out, flush=True)


def plain(value: Any) -> Any:
    """A value as JSON has it: what has a text is that text."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    reply = getattr(value, "agent_response", value)
    text = getattr(reply, "text", None)
    if isinstance(text, str) and not dataclasses.is_dataclass(value):
        return text
    if isinstance(getattr(reply, "text", None), str) and type(value).__name__ == "AgentExecutorResponse":
        return reply.text
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return str(value)


# ----------------------------------------------------------------------------------------------------- the steps


def compiled(job: dict[str, Any]) -> None:
    """Every module is Python."""
    count = 0
    for folder, _, names in os.walk(job["folder"]):
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    try:
                        compile(file.read(), path, "exec")
                    except (SyntaxError, ValueError) as problem:
                        where = os.path.relpath(path, job["folder"])
                        line = getattr(problem, "lineno", None) or 1
                        say("compiles", error=f"{where}, line {line}: {problem}")
                        raise SystemExit(0) from None
                count += 1
    say("compiles", files=count)


def linted(job: dict[str, Any]) -> None:
    """The linter has no finding, if there is one."""
    if importlib.util.find_spec("ruff") is None:
        say("lints", missing="ruff")
        return
    for command in (["check", "--no-cache", "--quiet", "--output-format=concise"], ["format", "--check", "--no-cache"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."],
            cwd=job["folder"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if done.returncode:
            first, *more = (done.stdout or done.stderr).strip().split("\n")
            place = more[0].strip().removeprefix("--> ") if more and more[0].lstrip().startswith("--> ") else ""
            say("lints", finding=f"{place}: {first}" if place else first)
            return
    say("lints")


def built(job: dict[str, Any]) -> None:
    """The graph of the workflow."""
    module = importlib.import_module(job["module"])
    with own_folder(job):
        workflow = module.build()
    edges = []
    for group in workflow.edge_groups:
        kind = type(group).__name__
        if kind == "InternalEdgeGroup":
            continue
        sources, targets = sorted(group.source_executor_ids), sorted(set(group.target_executor_ids))
        edges.append([kind, sources, targets])
    say("builds", start=workflow.start_executor_id, nodes=sorted(workflow.executors), edges=sorted(edges))


def smoked(job: dict[str, Any]) -> None:
    """The smoke test of the project, without a test runner."""
    path = os.path.join(job["folder"], "tests", "test_smoke.py")
    if not os.path.exists(path):
        say("smoke", missing="tests")
        return
    spec = importlib.util.spec_from_file_location("exported_smoke_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with own_folder(job):
        module.test_builds_and_runs()
    say("smoke")


@contextlib.contextmanager
def own_folder(job: dict[str, Any]) -> Iterator[str]:
    """A copy of the project to run in: what a run writes there (histories) is not found by the next one."""
    above = os.path.dirname(job["folder"])
    with tempfile.TemporaryDirectory(prefix="run-", dir=above, ignore_cleanup_errors=True) as folder:
        copy = os.path.join(folder, "project")
        shutil.copytree(job["folder"], copy)
        os.chdir(copy)
        try:
            yield folder
        finally:
            os.chdir(job["folder"])


class Updates(list[Any]):
    """The updates of one streamed answer."""

    def text(self) -> str:
        """As the framework joins them: one may repeat all before it."""
        from agent_framework import AgentResponse

        return AgentResponse.from_updates(self).text


class Run:
    """One run, with what came out of it."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.answers = {node: list(given) for node, given in job["answers"].items()}
        self.supersteps: list[list[list[str]]] = [[]]
        self.outputs: list[list[Any]] = []
        self.failed: dict[str, Any] | None = None
        self._open: dict[str, int] = {}
        self._answered: dict[str, Any] = {}

    async def run(self, workflow: Any, **given: Any) -> None:
        """From what is given (an input, or a checkpoint) to the end, with the answers that the canvas had."""
        while given:
            asked: dict[str, Any] = {}
            async for event in workflow.run(stream=True, **given):
                self._seen(event)
                if event.type == "request_info":
                    asked[event.request_id] = self._answered[event.request_id]
            given = {"responses": asked} if asked else {}

    def _seen(self, event: Any) -> None:
        node = event.executor_id or ""
        match event.type:
            case "superstep_started":
                self.supersteps.append([])
                self._open.clear()
            case "executor_invoked":
                self._open.pop(node, None)
                self._note("invoked", node)
            case "executor_completed":
                self._note("completed", node)
            case "executor_failed":
                self._note("failed", node)
                details = event.details
                self.failed = {"node": node, "message": f"{details.error_type}: {details.message}"}
            case "failed":
                details = event.details
                self.failed = self.failed or {"node": "", "message": f"{details.error_type}: {details.message}"}
            case "request_info" if event.request_id not in self._answered:  # a restored one is raised again
                self._note("asked", event.source_executor_id)
                self._answered[event.request_id] = self._answer(event)
            case "output":
                self._output(node, event.data)

    def _note(self, kind: str, node: str) -> None:
        self.supersteps[-1].append([kind, node])
        if sum(map(len, self.supersteps)) > _MOST_EVENTS:
            raise RuntimeError(f"more than {_MOST_EVENTS} events")

    def _output(self, node: str, data: Any) -> None:
        if type(data).__name__ == "AgentResponseUpdate":
            at = self._open.setdefault(node, len(self.outputs))
            if at == len(self.outputs):
                self.outputs.append([node, Updates()])
                self._note("output", node)
            self.outputs[at][1].append(data)
            return
        self.outputs.append([node, plain(data)])
        self._note("output", node)

    def _answer(self, event: Any) -> Any:
        kind = getattr(event.data, "type", "")
        if kind == "function_approval_request":
            return event.data.to_function_approval_response(approved=self._next(event.source_executor_id, True))
        if kind == "function_call":
            from agent_framework import Content

            result = self._next(event.source_executor_id, "")
            return Content.from_function_result(call_id=event.data.call_id, result=result)
        value = self._next(event.source_executor_id, "")
        wanted: Any = event.response_type
        if isinstance(value, dict) and isinstance(wanted, type) and dataclasses.is_dataclass(wanted):
            return wanted(**value)
        return float(value) if wanted is float and isinstance(value, int) else value

    def _next(self, node: str, default: Any) -> Any:
        left = self.answers.get(node) or []
        return left.pop(0) if left else default


async def closed(job: dict[str, Any], workflow: Any) -> None:
    """Ends what the run has started: servers of the project."""
    module = sys.modules[job["module"]]
    if hasattr(module, "close_servers"):
        await module.close_servers(workflow)


def ran(job: dict[str, Any]) -> Run:
    """One run with the replies of the model server."""
    run = Run(job)

    async def whole() -> None:
        workflow = sys.modules[job["module"]].build()
        try:
            await run.run(workflow, message=job["input"])
        finally:
            await closed(job, workflow)

    with own_folder(job):
        _to_the_end(run, whole())
    say("runs", **_found(run))
    return run


def _to_the_end(run: Run, work: Coroutine[Any, Any, None]) -> None:
    """Whatever is raised is how the run failed."""
    try:
        asyncio.run(work)
    except NotSaved:
        raise
    except Exception as problem:
        if run.failed is None:
            run.failed = {"node": "", "message": f"{type(problem).__name__}: {problem}"}


def _found(run: Run) -> dict[str, Any]:
    outputs = [[node, value.text() if isinstance(value, Updates) else value] for node, value in run.outputs]
    return {"supersteps": [s for s in run.supersteps if s], "outputs": outputs, "failed": run.failed}


def restored(job: dict[str, Any], whole: Run) -> None:
    """The run again, ended at a checkpoint in the middle, and continued from its file by a workflow that is built anew.

    ``whole`` is the run without an end in between. Numbers of supersteps are those of the framework.
    """
    busy = [number for number, step in enumerate(whole.supersteps) if number and step]
    if len(busy) < 2 or whole.failed:
        say("restores", skipped="failed" if whole.failed else "short")
        return
    if len(busy) > _MOST_RESTORED:
        say("restores", skipped="long")
        return
    after = busy[(len(busy) - 1) // 2]
    run = Run(job)
    with own_folder(job) as folder:
        try:
            _to_the_end(run, _interrupted(job, run, os.path.join(folder, "checkpoints"), after))
        except NotSaved as problem:
            say("restores", error=str(problem))
            return
    say("restores", after=after, **_found(run))


async def _interrupted(job: dict[str, Any], run: Run, folder: str, after: int) -> None:
    """Runs as far as the checkpoint after a superstep, then from it."""
    module = sys.modules[job["module"]]
    storage, told = _stopping(folder, after), _Warnings()
    logging.getLogger("agent_framework").addHandler(told)
    first = module.build(storage=storage)
    task = asyncio.ensure_future(run.run(first, message=job["input"]))
    try:
        await asyncio.wait((task, storage.saved), return_when=asyncio.FIRST_COMPLETED)
        if not storage.saved.done():
            task.result()
            why = next(iter(told.texts), "The framework does not say why.").partition(" Note that")[0]
            raise NotSaved(f"No checkpoint could be saved after superstep {after}. {why}")
    finally:
        logging.getLogger("agent_framework").removeHandler(told)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await closed(job, first)
    again = module.build(storage=_stopping(folder, None))
    try:
        await run.run(again, checkpoint_id=storage.saved.result())
    finally:
        await closed(job, again)


def _stopping(folder: str, wanted: int | None) -> Any:
    """A storage that saves the checkpoint after the wanted superstep alone, and never returns then: the run cannot go
    on. All others would be work that nobody looks at, which grows with the conversation."""
    from agent_framework import FileCheckpointStorage

    class Stopping(FileCheckpointStorage):
        def __init__(self) -> None:
            super().__init__(folder)
            self.saved: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def save(self, checkpoint: Any) -> str:
            if checkpoint.iteration_count != wanted or self.saved.done():
                return str(checkpoint.checkpoint_id)
            self.saved.set_result(await super().save(checkpoint))
            await asyncio.Event().wait()
            return self.saved.result()

    return Stopping()


class NotSaved(Exception):
    """The run went on without the wanted checkpoint."""


class _Warnings(logging.Handler):
    """What the framework warned of: it says there why a checkpoint cannot be saved."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def _end_with(parent: int) -> None:
    """Ends this process, whatever it does, once the one that started it is gone (on Windows a parent stays named)."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """All wanted steps of each job in turn: one job a line."""
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        job = json.loads(line)
        os.environ.update(job["environment"])
        sys.path.insert(0, job["folder"])
        os.chdir(job["folder"])
        steps = job["steps"]
        step = "compiles"
        try:
            if "compiles" in steps:
                compiled(job)
            step = "lints"
            if "lints" in steps:
                linted(job)
            step = "builds"
            built(job)
            step = "smoke"
            if "smoke" in steps:
                smoked(job)
            step = "runs"
            whole = ran(job)
            step = "restores"
            if "restores" in steps:
                restored(job, whole)
        except ImportError as problem:
            say(step, error=str(problem), missing=problem.name or "")
        except Exception as problem:
            frame = traceback.extract_tb(problem.__traceback__)[-1]
            where = f" ({os.path.basename(frame.filename)}, line {frame.lineno})"
            say(step, error=f"{type(problem).__name__}: {problem}{where}")
        finally:
            sys.path.remove(job["folder"])
            for name in [n for n in sys.modules if n.split(".")[0] == job["module"].split(".")[0]]:
                del sys.modules[name]
        say("done")


if __name__ == "__main__":
    main()
