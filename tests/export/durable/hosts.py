"""Workers on a Durable Task backend in memory, and runs on them: what a user of an exported project has."""

from __future__ import annotations

import dataclasses
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import JsonValue
from studio.document.model import Workflow
from studio.export.durable import export_durable
from studio.files import write_project

_FITTING: Mapping[str, JsonValue] = {"builtins:float": 1, "builtins:bool": True}
"""What is answered without an answer: the same as the engine is given."""
PATIENCE = 300
"""Seconds after which a test is given up; nothing is measured by it."""


@dataclass
class Job:
    """One exported project, and the server of its scripted model."""

    package: str
    folder: Path
    key: str = "none"
    url: str = "http://127.0.0.1:1/"


@dataclass
class Hosts:
    """The backend and its worker processes."""

    folder: Path
    jobs: dict[str, Job] = field(default_factory=dict)
    workers: list[subprocess.Popen[str]] = field(default_factory=list)
    address: str = ""
    _backend: Any = None

    def export(self, package: str, workflow: Workflow, server: Any = None) -> None:
        """Writes a project that the workers will host."""
        folder = self.folder / package
        write_project(export_durable(workflow, package), folder)
        self.jobs[package] = Job(package, folder, *((server.key, server.url) if server else ()))
        sys.path.insert(0, str(folder))

    def open(self) -> None:
        """Starts the backend: the one that every export has for its tests."""
        jobs = [dataclasses.asdict(job) | {"folder": str(job.folder)} for job in self.jobs.values()]
        (self.folder / "jobs.json").write_text(json.dumps(jobs))
        (self.folder / "begun").touch()
        path = next(iter(self.jobs.values())).folder / "tests" / "redelivering.py"
        spec = importlib.util.spec_from_file_location("exported_redelivering", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._backend = module.RedeliveringBackend()
        self.address = self._backend.start()

    def close(self) -> None:
        """Ends all processes."""
        for worker in self.workers:
            assert worker.stdin is not None
            worker.stdin.close()
        for worker in self.workers:
            worker.wait(PATIENCE)
            assert worker.stdout is not None
            worker.stdout.close()
        self._backend.stop()
        for job in self.jobs.values():
            sys.path.remove(str(job.folder))
            for name in [n for n in sys.modules if n.split(".")[0] == job.package]:
                del sys.modules[name]

    def at_least(self, number: int) -> None:
        """So many workers that live."""
        missing = number - sum(worker.poll() is None for worker in self.workers)
        command = [sys.executable, "-m", "tests.export.durable.worker_program", self.address, str(self.folder)]
        pipe = subprocess.PIPE
        with (self.folder / "log").open("a") as log:
            new = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) for _ in range(missing)]
        for worker in new:
            assert worker.stdout is not None
            said = worker.stdout.readline()
            assert said == "working\n", (self.folder / "log").read_text()[-3000:]
        self.workers += new

    def kill(self, *processes: int) -> None:
        """Ends workers as a crash does; all without ids."""
        for worker in self.workers:
            if worker.poll() is None and (not processes or worker.pid in processes):
                worker.kill()
                worker.wait()

    def hold(self, activity: str) -> None:
        """The next process that begins this activity stays in it."""
        (self.folder / "hold").write_text(activity)

    def held(self) -> int:
        """The process that is held, once it is."""
        found: list[Path] = []

        def is_there() -> bool:
            found[:] = self.folder.glob("held-*")
            return bool(found)

        wait_for(is_there)
        process = int(found[0].name.partition("-")[2])
        found[0].unlink()
        return process

    def began(self, activity: str) -> list[int]:
        """The processes that began an activity, in order."""
        lines = [line.split(" ", 1) for line in (self.folder / "begun").read_text().splitlines()]
        return [int(process) for process, name in lines if name == activity]

    def run_name(self, package: str) -> str:
        """The name of a workflow on the workers."""
        name: str = importlib.import_module(f"{package}.workflow").WORKFLOW_NAME
        return name

    def run(self, package: str, data: Any, answers: Mapping[str, list[JsonValue]] | None = None) -> HostedRun:
        """Starts a run."""
        return HostedRun(self, package, data, answers or {})


class HostedRun:
    """A run on the workers, through the client of the exported project."""

    def __init__(self, hosts: Hosts, package: str, data: Any, answers: Mapping[str, list[JsonValue]]) -> None:
        from agent_framework_durabletask import DurableWorkflowClient
        from durabletask.client import TaskHubGrpcClient

        self.project: ModuleType = importlib.import_module(f"{package}.client")
        self.name: str = self.project.WORKFLOW_NAME
        self.client = TaskHubGrpcClient(host_address=hosts.address)
        self._flow = DurableWorkflowClient(self.client, workflow_name=self.name)
        self._answers = {node: list(given) for node, given in answers.items()}
        self._answered: set[str] = set()
        self.id = self._flow.start_workflow(data)

    def activity(self, node: str) -> str:
        """The name of a node on the backend."""
        return f"dafx-{self.name}-{node}"

    def asked(self) -> list[Any]:
        """Open questions that have no answer yet."""
        return [q for q in self.project.read_run(self.client, self.id)[1] if q.id not in self._answered]

    def answer(self) -> None:
        """Answers what is asked, in the order of the requests of a node."""
        for question in self.asked():
            self._answered.add(question.id)
            self.project.send_answer(self.client, question, self._said(question))

    def _said(self, question: Any) -> str:
        left = self._answers.get(question.node, [])
        if hasattr(question.question, "asked"):
            kinds = [content["type"] for content in question.question.asked]
            return json.dumps([True if kind == "function_approval_request" else "done" for kind in kinds])
        value = left.pop(0) if left else _FITTING.get(question.wanted, "yes")
        return value if isinstance(value, str) else json.dumps(value)

    def status(self) -> str:
        """Its state, with the reason of a failure."""
        found: str = self.project.status(self.client, self.id)
        return found

    def has_ended(self) -> bool:
        """Answers what is asked; whether the run has ended."""
        self.answer()
        return self.status().startswith(self.project.ENDED)

    def outputs(self) -> list[Any]:
        """What came out, as plain values."""
        wait_for(self.has_ended)
        assert self.status() == "COMPLETED"
        return [plain(output) for output in self._flow.await_workflow_output(self.id) or []]

    def supersteps(self) -> list[list[str]]:
        """The nodes of each superstep, sorted: what is scheduled after something was done is a new one."""
        from durabletask import history

        steps: list[list[str]] = []
        open_step = False
        for event in self.client.get_orchestration_history(self.id):
            node = ""
            if isinstance(event, history.TaskScheduledEvent):
                node = json.loads(json.loads(event.input or ""))["executor_id"]
            elif isinstance(event, history.SubOrchestrationInstanceCreatedEvent):
                node = (event.instance_id or "").split("::")[-2]
            elif isinstance(event, history.TaskCompletedEvent | history.SubOrchestrationInstanceCompletedEvent):
                open_step = False
            if node:
                if not open_step:
                    steps.append([])
                steps[-1] = sorted([*steps[-1], node])
                open_step = True
        return steps


def plain(value: Any) -> Any:
    """An output as JSON has it."""
    value = getattr(value, "agent_response", value)
    if hasattr(value, "text") and hasattr(value, "messages"):
        return value.text
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


def wait_for(holds: Callable[[], bool]) -> None:
    """Until something is so."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, "the run does not go on"
        time.sleep(0.05)
