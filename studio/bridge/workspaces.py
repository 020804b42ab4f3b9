"""Opens and closes workspaces; owns what they share: secrets, clients of providers, workers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from studio.agents.hiding import Hider
from studio.bridge.document_model import DocumentModel
from studio.bridge.inner_breakpoints import InnerBreakpoints
from studio.bridge.inner_document import InnerDocument
from studio.bridge.kept_drawing import KeptDrawing
from studio.bridge.provider_model import ProviderModel
from studio.bridge.run_files import open_runs, remove_runs, runs_size, salvaged, set_aside
from studio.bridge.run_model import RunModel
from studio.bridge.run_services import RunServices
from studio.bridge.warming import Warming, load_plans
from studio.bridge.workspace import Workspace
from studio.checkpoints import RunStore
from studio.debugger.watching import Judge
from studio.document.conditions import Scope
from studio.document.model import Workflow
from studio.engine import Codec
from studio.settings.places import run_store
from studio.settings.preferences import read_preferences
from studio.settings.profiles import read_profiles
from studio.settings.secrets import Secrets
from studio.workers import UserCodeError

if TYPE_CHECKING:
    from studio.assembly import ServiceSource
    from studio.debugger.preparation import PinnedPlan
    from studio.debugger.telemetry import Telemetry

_WARM_UP_AFTER = 0.5
"""Seconds after the window or a document is opened: it is painted by then."""


class Workspaces:
    """One per program. Made and used on the loop of window and engine."""

    def __init__(self, secrets: Secrets | None = None) -> None:
        self.secrets = secrets or Secrets()
        self.providers = ProviderModel(self.secrets)
        self.say: Callable[[str], object] = lambda _text: None
        """Where a sentence for the person goes that belongs to no document."""
        self._telemetry: Telemetry | None = None
        self._source: ServiceSource | None = None
        self._codec = Codec(hide=Hider(lambda: self.secrets.keys))
        self._open: list[Workspace] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._warming = Warming()
        self._warming_up: asyncio.Task[None] | None = None
        self._worker_starts: dict[Workspace, asyncio.Task[None]] = {}

    def open(self, workflow: Workflow, path: Path | None, *, journal: bool = True) -> Workspace:
        """A workspace for a document; its past runs are listed as soon as they are read."""
        workspace = self._open_document(DocumentModel(workflow, path))
        if journal:
            workspace.keep_journal()
        return workspace

    def open_inside(self, outer: Workspace, node_id: str) -> Workspace:
        """A workspace for the workflow inside a node; it is closed before the one around it."""
        inner = self._open_document(InnerDocument(outer.document, node_id))
        InnerBreakpoints(outer.run.setup, inner.run.setup, node_id, inner)
        return inner

    def open_kept(self, beside: Workspace, workflow: Workflow, origin: str) -> Workspace:
        """A workspace for the drawing of an earlier run of a workspace; ``origin``: which run, in words."""
        on_disk = beside.document.workflow.runs_on_disk  # what must not be on disk now stays off it here, too
        workflow = workflow.model_copy(update={"runs_on_disk": on_disk})
        return self._open_document(KeptDrawing(workflow, beside.document.path, origin))

    def _open_document(self, document: DocumentModel) -> Workspace:
        workspace = Workspace(document, RunModel(self._services(document)))
        workspace.mcp.connect_to(lambda: self.source.mcp, lambda: self._source is not None)
        self._open.append(workspace)
        workspace.code_trusted.connect(partial(self._warm, workspace))
        self.warm_up()
        self._warm(workspace)
        return workspace

    def warm_up(self) -> None:
        """Loads what a first model call needs while the window is idle; once."""
        if self._warming_up is None:
            self._warming_up = asyncio.get_running_loop().create_task(self._warm_up(), name="warm up")

    async def _warm_up(self) -> None:
        await asyncio.sleep(_WARM_UP_AFTER)
        await asyncio.to_thread(self._warming.load)

    @property
    def source(self) -> ServiceSource:
        """Clients and workers. Made when they are needed: what makes plans is not loaded before the window is shown."""
        if self._source is None:
            from studio.assembly import ServiceSource

            self._source = ServiceSource(
                lambda: read_profiles()[0], self.secrets, preferences=lambda: read_preferences()[0]
            )
            self._source.mcp.changed = self._on_mcp_changed
        return self._source

    @property
    def telemetry(self) -> Telemetry:
        """Traces of runs; asks each time whether a person wants them."""
        if self._telemetry is None:
            from studio.debugger.telemetry import Telemetry

            self._telemetry = Telemetry(
                lambda: read_preferences()[0], lambda: read_profiles()[0], self.secrets, lambda text: self.say(text)
            )
        return self._telemetry

    def _on_mcp_changed(self, workflow_id: str, server: str) -> None:
        for workspace in self._open:
            if workspace.document.workflow.id == workflow_id:
                workspace.mcp.changed.emit(server)

    def _warm(self, workspace: Workspace) -> None:
        """Starts the worker of a document whose code is trusted."""
        before = self._worker_starts.get(workspace)
        if before is None or before.done():
            starting = self._start_worker(workspace)
            self._worker_starts[workspace] = asyncio.get_running_loop().create_task(starting, name="start a worker")

    async def _start_worker(self, workspace: Workspace) -> None:
        if self._warming_up is not None:
            await asyncio.shield(self._warming_up)
        with contextlib.suppress(UserCodeError):  # a run will say it
            await self.source.warm(workspace.document.workflow, workspace.document.folder)

    def close(self, workspace: Workspace) -> None:
        """Closes a workspace in the background and deletes it then; :meth:`close_all` awaits that. Its parent may go at
        once."""
        if workspace in self._open:
            self._open.remove(workspace)
            workspace.setParent(None)
            task = asyncio.get_running_loop().create_task(self._close(workspace), name="close a workspace")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close_all(self) -> None:
        """Ends everything: runs, stores, connections, workers. What was active is listed as interrupted next time."""
        for workspace in list(self._open):
            self.close(workspace)
        await self.providers.close()
        if self._warming_up is not None:
            self._warming.end()
            self._warming_up.cancel()
            await asyncio.gather(self._warming_up, return_exceptions=True)
        await asyncio.gather(*self._closing, return_exceptions=True)
        if self._source is not None:
            await self._source.close()
        if self._telemetry is not None:
            await self._telemetry.close()

    async def _close(self, workspace: Workspace) -> None:
        starting = self._worker_starts.pop(workspace, None)
        if starting is not None:
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
        await workspace.close()
        workflow = workspace.document.workflow.id
        if self._source is not None and all(w.document.workflow.id != workflow for w in self._open):
            await self._source.forget(workflow)  # else what another tab runs with would end, too
        workspace.deleteLater()

    def _services(self, document: DocumentModel) -> RunServices:
        async def open_store() -> RunStore:
            return await open_runs(document.workflow, self._codec)

        async def open_damaged() -> RunStore:
            return await salvaged(run_store(document.workflow.id), self._codec)

        return RunServices(
            document=lambda: document.workflow,
            open_store=open_store,
            open_damaged=open_damaged,
            secrets=lambda: self.secrets.known,
            set_aside=lambda: set_aside(run_store(document.workflow.id)).name,
            store_exists=lambda: document.workflow.runs_on_disk and run_store(document.workflow.id).exists(),
            disk_bytes=lambda: runs_size(run_store(document.workflow.id)),
            remove_from_disk=lambda: remove_runs(run_store(document.workflow.id)),
            prepare=lambda workflow: self._prepare(workflow, document.folder),
            codec=self._codec,
            signature=lambda workflow: _signature(workflow, document.folder),
            fingerprint=lambda workflow: _fingerprint(workflow, document.folder),
            trace=lambda sink, workflow, run: self.telemetry.sink(sink, workflow, run),
            judge=self._judge,
        )

    def _judge(self, workflow: Workflow) -> Judge:
        """For one session. Nothing is loaded, and no process begins, before a predicate is asked."""
        made: list[Judge] = []

        async def holds(body: str, data: object, scope: Scope) -> bool:
            if not made:
                made.append(self.source.predicates(workflow).holds)
            return await made[0](body, data, scope)

        return holds

    async def _prepare(self, workflow: Workflow, folder: Path | None) -> PinnedPlan:
        self._warming.hurry()
        await asyncio.to_thread(load_plans)
        from studio.debugger.preparation import prepare

        await self.telemetry.prepare()
        return await prepare(workflow, self.source, folder)


async def _signature(workflow: Workflow, folder: Path | None) -> str:
    await asyncio.to_thread(load_plans)
    from studio.debugger.preparation import signature_of

    return await signature_of(workflow, folder)


async def _fingerprint(workflow: Workflow, folder: Path | None) -> str:
    await asyncio.to_thread(load_plans)
    from studio.debugger.preparation import fingerprint_of

    return await fingerprint_of(workflow, folder)
