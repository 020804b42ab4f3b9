"""MCP servers of an open document, on the product's loop: started by a person, shown, ended; nothing is left."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication
from studio.bridge.loop import run
from studio.bridge.workspaces import Workspaces
from studio.document.edits import SetWorkflow
from studio.document.model import AgentNode, McpServerDecl, OfflineScript, Workflow

from tests.agents.test_mcp import gone
from tests.bridge.conftest import OnLoop
from tests.waiting import until

SERVER = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


def declared(*modes: str) -> McpServerDecl:
    return McpServerDecl(name="tiny", command=sys.executable, arguments=(str(SERVER), *modes), approval="never")


def document(*calls: str, modes: tuple[str, ...] = ()) -> Workflow:
    node = AgentNode(id="writer", name="Writer", instructions="Write.", mcp_servers=("tiny",))
    replies: list[Any] = [{"calls": [{"tool": name, "arguments": {"a": 1, "b": 2}}]} for name in calls]
    script = OfflineScript.model_validate({"nodes": {"writer": {"replies": [*replies, "done"]}}})
    return Workflow(start="writer", nodes=(node,), mcp_servers=(declared(*modes),), offline=script)


@pytest.fixture
def on_loop(qapp: QApplication) -> OnLoop:
    """As that of the room, with time for a slow machine to load the package twice."""

    def start(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        async def limited() -> Any:
            async with asyncio.timeout(120):
                return await main()

        return run(qapp, limited)

    return start


def test_a_person_starts_restarts_and_stops_a_server(on_loop: OnLoop) -> None:
    async def main() -> None:
        workspaces = Workspaces()
        workspace = workspaces.open(document(), None, journal=False)
        model, server = workspace.mcp, declared()
        model.start(server)
        assert model.view(server).state == "off"  # nobody accepted it
        model.accept(server)
        told: list[str] = []
        model.changed.connect(lambda _name: told.append(model.view(server).state))
        model.start(server)
        await until(lambda: model.view(server).tools, "the tools are listed")
        view = model.view(server)
        assert view.state == "ready"
        assert {"starting", "ready"} <= set(told)
        assert view.log == ("started",)
        add = next(t for t in view.tools if t.name == "add")
        assert (add.description, add.asks, add.reads_only) == ("Adds", False, True)
        assert add.schema["properties"]["a"] == {"type": "integer"}
        first = view.pid
        model.start(server)
        await until(lambda: model.view(server).pid not in (None, first) and model.view(server).tools, "another process")
        second = model.view(server).pid
        assert first
        assert second
        model.stop(server)
        await until(lambda: model.view(server).state == "closed", "it is stopped")
        assert await gone(first)
        assert await gone(second)
        await workspaces.close_all()

    on_loop(main)


def test_a_crash_is_seen_at_once_and_said(on_loop: OnLoop) -> None:
    async def main() -> None:
        workspaces = Workspaces()
        workspace = workspaces.open(document(), None, journal=False)
        model, server = workspace.mcp, declared()
        model.accept(server)
        model.start(server)
        await until(lambda: model.view(server).tools, "the tools are listed")
        pid = model.view(server).pid
        assert pid
        os.kill(pid, signal.SIGKILL)
        await until(lambda: model.view(server).state == "failed", "the end is noticed")
        assert "signal 9" in model.view(server).problem
        other = declared("exit")
        workspace.document.execute(SetWorkflow({"mcp_servers": (other,)}), "Change")
        model.accept(other)
        model.start(other)
        await until(lambda: model.view(other).state == "failed", "it ended at once")
        assert "no configuration" in model.view(other).problem
        await workspaces.close_all()

    on_loop(main)


def test_stopping_a_run_in_a_call_and_quitting_leave_nothing(on_loop: OnLoop) -> None:
    said: list[str] = []
    before = qInstallMessageHandler(lambda kind, _context, text: said.append(f"{kind}: {text}"))

    async def main() -> None:
        workspaces = Workspaces()
        workspace = workspaces.open(document("tiny_wait"), None, journal=False)
        workspace.mcp.accept(declared())
        workspace.run.run("go")
        await until(lambda: any(p.kind == "tool" for i in workspace.run.invocations.values() for p in i.pieces),
                    "the tool is called")  # fmt: skip
        pid = workspace.mcp.view(declared()).pid
        workspace.run.stop()
        await until(lambda: workspace.run.state.value == "cancelled", "the run is stopped")
        assert workspace.mcp.view(declared()).state == "ready"
        workspace.run.restart()
        await until(lambda: workspace.run.state.value == "running", "it runs again")
        await workspaces.close_all()
        assert pid
        assert await gone(pid)
        others = [t for t in asyncio.all_tasks() if t is not asyncio.current_task() and "mcp" in t.get_name()]
        assert others == []

    try:
        on_loop(main)
    finally:
        qInstallMessageHandler(before)
    assert [text for text in said if QtMsgType.QtWarningMsg.name in text] == []
