"""What an export is asked for, and the code that comes of it, written in a thread: a large workflow takes a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from studio.document.model import Workflow
from studio.ui.exporting.coloured import coloured
from studio.ui.exporting.places import CodePlace, code_places, glyph_lines, workflow_file
from studio.ui.text import tr
from studio.ui.widgets.asking import Asking

Target = Literal["agent-framework", "durabletask"]
ONE_PROCESS: Target = "agent-framework"
DURABLE: Target = "durabletask"


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """The options of an export. ``package`` "": named after the workflow; ``positions``: the file for re-import."""

    target: Target = ONE_PROCESS
    single: bool = False
    package: str = ""
    client: Literal["chat_completions", "responses"] = "chat_completions"
    smoke_test: bool = True
    positions: bool = False

    @property
    def is_one_file(self) -> bool:
        """Whether the code is one file, not a project."""
        return self.target == ONE_PROCESS and self.single

    def kept(self) -> dict[str, Any]:
        """As JSON, without what is as it is at first."""
        first = asdict(ExportChoice())
        return {name: value for name, value in asdict(self).items() if value != first[name]}

    @classmethod
    def of_kept(cls, kept: object) -> ExportChoice:
        """From JSON; what is none of the choices counts as not chosen."""
        given = kept if isinstance(kept, dict) else {}
        package = given.get("package")
        return cls(
            target=DURABLE if given.get("target") == DURABLE else ONE_PROCESS,
            single=given.get("single") is True,
            package=package if isinstance(package, str) else "",
            client="responses" if given.get("client") == "responses" else "chat_completions",
            smoke_test=given.get("smoke_test") is not False,
            positions=given.get("positions") is True,
        )


@dataclass(frozen=True, slots=True)
class WrittenCode:
    """The files, and where the drawing is in the main one; or why there are none. ``told``: what is not as on the
    canvas. ``refused``: id of an item and why the target cannot have it."""

    workflow: Workflow
    files: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    places: tuple[CodePlace, ...] = ()
    glyphs: Mapping[int, str] = field(default_factory=dict)
    problem: str = ""
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def main(self) -> str | None:
        """The path of the module that builds the workflow."""
        return workflow_file(self.files)


class CodeWriter(QObject):
    """One piece of work at a time; what was asked for last is what is told. ``changed``: it began, or it ended."""

    changed = Signal()
    written = Signal(object)
    """The :class:`WrittenCode`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asking = Asking(self)
        self._next: tuple[Workflow, ExportChoice, Path | None] | None = None

    @property
    def busy(self) -> bool:
        """Whether code is being written."""
        return self._asking.busy

    def write(self, workflow: Workflow, choice: ExportChoice, folder: Path | None) -> None:
        """Writes the code of a workflow; ``folder`` is where linked workflows are looked for."""
        self._next = (workflow, choice, folder)
        if not self.busy:
            self._begin()
            self.changed.emit()

    def forget(self) -> None:
        """Nothing that is being written is wanted any more."""
        self._next = None

    def _begin(self) -> None:
        asked = self._next
        if asked is not None:
            self._asking.ask(lambda: _written(*asked), lambda found: self._on_told(asked, found))

    def _on_told(self, asked: object, found: WrittenCode) -> None:
        if self._next is asked:
            self.written.emit(found)
        elif self._next is not None:
            self._begin()
        if not self.busy:
            self.changed.emit()


def _written(workflow: Workflow, choice: ExportChoice, folder: Path | None) -> WrittenCode:
    """In a thread: documents are frozen."""
    from studio.export import ExportProblem

    try:
        found = _code(workflow, choice, folder)
    except ExportProblem as problem:
        return WrittenCode(workflow, problem=str(problem), refused=_refused(workflow, choice, folder))
    except Exception as error:  # a fault of ours must not leave the page waiting
        return WrittenCode(workflow, problem=tr("Writing the code failed: {error}").format(error=repr(error)))
    for path, text in found.files.items():
        coloured(path, text.removesuffix("\n"))
    code = found.files.get(found.main or "", "")
    return replace(found, places=tuple(code_places(workflow, code)), glyphs=glyph_lines(workflow, code))


def _code(workflow: Workflow, choice: ExportChoice, folder: Path | None) -> WrittenCode:
    from studio.export import export_project, export_single_file, left_out, sentence_of

    package, client = choice.package or None, choice.client
    told = tuple(sentence_of(found) for found in left_out(workflow, client))
    if choice.target == DURABLE:
        from studio.export.durable import export_durable, findings

        files = export_durable(
            workflow, package, folder, layout=choice.positions, client=client, smoke_test=choice.smoke_test
        )
        checked = tr("The check runs the code in one process; tests/test_scale_out.py runs it on two workers.")
        return WrittenCode(workflow, files, (checked, *(f.message for f in findings(workflow, folder)), *told))
    if choice.single:
        files = export_single_file(workflow, package, folder, client=client)
    else:
        files = export_project(
            workflow, package, folder, layout=choice.positions, client=client, smoke_test=choice.smoke_test
        )
    return WrittenCode(workflow, files, told)


def _refused(workflow: Workflow, choice: ExportChoice, folder: Path | None) -> tuple[tuple[str, str], ...]:
    """Why the chosen target cannot have this workflow. Nothing for one process."""
    if choice.target == ONE_PROCESS:
        return ()
    from studio.export import ExportProblem
    from studio.export.durable import findings

    try:
        return tuple((found.item, found.message) for found in findings(workflow, folder) if found.refused)
    except ExportProblem:
        return ()
