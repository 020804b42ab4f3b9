"""A worker process of the tests: hosts every project of a list, says which node begins, and can be held in one.

Arguments: the address of the backend, a folder. In the folder: ``jobs.json`` (the projects), ``begun`` (written: a line
``process activity`` per node that begins), ``hold`` (read: the activity that the first process to begin it stays in).
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework_durabletask import DurableAIAgentWorker
from durabletask.worker import ConcurrencyOptions, TaskHubGrpcWorker


class WatchedWorker(TaskHubGrpcWorker):
    """One node at a time."""

    def __init__(self, address: str, folder: Path) -> None:
        one = ConcurrencyOptions(maximum_concurrent_activity_work_items=1)
        super().__init__(host_address=address, concurrency_options=one)
        self._folder = folder

    def add_activity(self, fn: Callable[..., Any]) -> str:
        name = fn.__name__

        def watched(ctx: Any, data: Any) -> Any:
            with (self._folder / "begun").open("a") as file:
                file.write(f"{os.getpid()} {name}\n")
            if self._is_held(name):
                threading.Event().wait()
            return fn(ctx, data)

        watched.__name__ = name
        return super().add_activity(watched)

    def _is_held(self, name: str) -> bool:
        hold = self._folder / "hold"
        if not hold.exists() or hold.read_text() != name:
            return False
        try:
            hold.rename(self._folder / f"held-{os.getpid()}")
        except FileNotFoundError:
            return False
        return True


def model(key: str, url: str) -> OpenAIChatCompletionClient:
    """The client of the scripted model of one project."""
    return OpenAIChatCompletionClient(model="offline", api_key=key, base_url=url)


def main() -> None:
    """Works until standard input ends."""
    address, folder = sys.argv[1], Path(sys.argv[2])
    host = DurableAIAgentWorker(WatchedWorker(address, folder))
    for job in json.loads((folder / "jobs.json").read_text()):
        sys.path.insert(0, job["folder"])
        module = importlib.import_module(f"{job['package']}.workflow")
        agent = importlib.import_module(f"{job['package']}.hosted_agent").HostedAgent
        host.configure_workflow(module.build(partial(model, job["key"], job["url"]), agent_node=agent))
    host.start()
    print("working", flush=True)
    sys.stdin.read()
    host.stop()


if __name__ == "__main__":
    main()
