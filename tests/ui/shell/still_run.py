"""A run model in which nothing runs: enough for a window; tests set what they need."""

from __future__ import annotations

from pathlib import Path

from studio.bridge.document_model import DocumentModel
from studio.bridge.inner_document import InnerDocument
from studio.bridge.kept_drawing import KeptDrawing
from studio.bridge.provider_model import ProviderModel
from studio.bridge.run_model import RunModel
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.model import Workflow


class StillRun(RunModel):
    """Remembers its commands in ``calls``; ``refused`` are commands that do not apply, with the reason."""

    def __init__(self) -> None:
        super().__init__()
        self.state = RunState.IDLE
        self.sentence = ""
        self.paused_at = self.branch = self.here = None
        self.nodes, self.invocations, self.shared_state = {}, {}, {}
        self.supersteps, self.messages, self.outputs, self.requests = [], [], [], []
        self.queued, self.checkpoints, self.branches, self.events = [], [], [], []
        self.breakpoints = frozenset()
        self.calls: list[tuple[str, ...]] = []
        self.refused: dict[str, str] = dict.fromkeys(("pause", "stop", "restart"), "Nothing runs.")

    def can(self, command: str) -> tuple[bool, str]:
        return command not in self.refused, self.refused.get(command, "")

    def run(self, text: str) -> None:
        self.calls.append(("run", text))

    def step(self, text: str) -> None:
        self.calls.append(("step", text))

    def stop(self) -> None:
        self.calls.append(("stop",))

    def import_bundle(self, file: Path) -> None:
        self.calls.append(("import", file.name))

    def toggle_breakpoint(self, node: str) -> None:
        self.calls.append(("breakpoint", node))


class StillWorkspaces:
    """Workspaces whose runs stand still; ``closed`` are those that were closed."""

    def __init__(self, *, journal: bool = False) -> None:
        self._journal = journal
        self.closed: list[Workspace] = []
        self.providers = ProviderModel()

    def open(self, workflow: Workflow, path: Path | None) -> Workspace:
        made = Workspace(DocumentModel(workflow, path), StillRun())
        if self._journal:
            made.keep_journal()
        return made

    def open_inside(self, outer: Workspace, node_id: str) -> Workspace:
        return Workspace(InnerDocument(outer.document, node_id), StillRun())

    def open_kept(self, beside: Workspace, workflow: Workflow, origin: str) -> Workspace:
        return Workspace(KeptDrawing(workflow, beside.document.path, origin), StillRun())

    def close(self, workspace: Workspace) -> None:
        if workspace.autosave is not None:
            workspace.autosave.close()
        self.closed.append(workspace)
