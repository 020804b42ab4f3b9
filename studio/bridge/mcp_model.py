"""The MCP servers of an open document as the window sees them: state, tools, what they print; start and stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

from studio.bridge.document_model import DocumentModel
from studio.document.model import McpServerDecl
from studio.settings.trust import Part, server_text, trust_list

if TYPE_CHECKING:
    from studio.agents.mcp import McpServer
    from studio.assembly.mcp import McpServers

ServerState = Literal["off", "starting", "ready", "failed", "closed"]
_LAST_LINES = 200


@dataclass(frozen=True, slots=True)
class McpToolView:
    """A tool of a server. ``asks``: a person is asked before each call; ``schema`` is that of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]
    asks: bool
    reads_only: bool


@dataclass(frozen=True, slots=True)
class McpView:
    """What is known of a server now. ``problem``: why it failed; ``log``: what it printed beside the protocol."""

    state: ServerState = "off"
    problem: str = ""
    pid: int | None = None
    tools: tuple[McpToolView, ...] = ()
    log: tuple[str, ...] = ()


class McpModel(QObject):
    """Nothing starts by itself: a run that needs a server starts it, or a person does here. Without
    :meth:`connect_to` (a panel alone) no server can be started."""

    changed = Signal(str)
    """The name of a server whose state or tools are new."""

    def __init__(self, document: DocumentModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._servers: Callable[[], McpServers] | None = None
        self._begun: Callable[[], bool] = lambda: False
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._refused: dict[str, str] = {}

    def connect_to(self, servers: Callable[[], McpServers], begun: Callable[[], bool]) -> None:
        """``servers`` makes what runs the servers; ``begun`` says whether it is made already."""
        self._servers, self._begun = servers, begun

    def part(self, declared: McpServerDecl) -> Part:
        """What a person accepts of a server before it starts."""
        return Part("mcp", declared.name, server_text(declared, self._document.folder))

    def is_accepted(self, declared: McpServerDecl) -> bool:
        """Whether this very command line, or address, is accepted."""
        return trust_list().accepts(self.part(declared))

    def accept(self, declared: McpServerDecl) -> None:
        """Accepts the command line, or address, as it is."""
        trust_list().accept(self.part(declared))
        self.changed.emit(declared.name)

    def view(self, declared: McpServerDecl) -> McpView:
        """What is known of a server."""
        server = self._known(declared)
        refused = self._refused.get(declared.name, "")
        if server is None:
            return McpView("failed" if refused else "off", refused)
        from studio.agents.mcp import approval_of

        tools = tuple(
            McpToolView(
                tool.name,
                str(tool.description or tool.title or "")[:4000],
                dict(tool.input_schema),
                approval_of(declared.approval, tool) == "always",
                tool.annotations is not None and tool.annotations.read_only_hint is True,
            )
            for tool in server.tools
        )
        problem = server.problem if server.state == "failed" else ""
        log = tuple(list(server.log)[-_LAST_LINES:])
        return McpView(server.state, problem or refused, server.pid, tools, log)

    def start(self, declared: McpServerDecl) -> None:
        """Starts an accepted server, again if it runs or has failed, and asks for its tools."""
        if self._servers is not None and self.is_accepted(declared):
            self._turn(declared.name, self._start(declared))

    def stop(self, declared: McpServerDecl) -> None:
        """Ends a server; a run that needs it starts it again."""
        server = self._known(declared)
        if server is not None:
            self._turn(declared.name, server.close())

    async def close(self) -> None:
        """Ends what this model began; the servers end with their document."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _known(self, declared: McpServerDecl) -> McpServer | None:
        if self._servers is None or not self._begun():
            return None
        return self._servers().known((self._document.workflow.id,), declared, self._document.folder)

    def _turn(self, name: str, work: Any) -> None:
        before = self._tasks.pop(name, None)
        if before is not None:
            before.cancel()

        async def one() -> None:
            if before is not None:
                await asyncio.gather(before, return_exceptions=True)
            await work
            self.changed.emit(name)

        self._tasks[name] = asyncio.get_running_loop().create_task(one(), name=f"mcp server {name}")

    async def _start(self, declared: McpServerDecl) -> None:
        from studio.agents.mcp import McpFailed

        assert self._servers is not None
        self._refused.pop(declared.name, None)
        servers = self._servers()
        key = (self._document.workflow.id,)
        server = servers.get(key, declared, self._document.folder)
        if server.state in ("ready", "failed"):
            await server.close()
            server = servers.get(key, declared, self._document.folder)
        try:
            await server.list_tools()
        except McpFailed as error:
            if server.state != "failed":
                self._refused[declared.name] = str(error)
