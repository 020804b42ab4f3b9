"""The proof of an export in the window: started by the user, told step by step, out of date when the code changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from studio.document.model import Workflow

if TYPE_CHECKING:
    from studio.debugger.run_tests import RunTest
    from studio.proof import Proof, Step

_log = logging.getLogger(__name__)

ShownRun = Callable[[], Awaitable["RunTest | None"]]
"""Gives the run that is shown, or None."""
State = Literal["none", "running", "proven", "failed", "stale"]
"""``stale``: the code is not the one that was proven."""


class ProofModel(QObject):
    """One proof at a time. ``steps`` are those of the running or the last one."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps: dict[str, Step] = {}
        self.proof: Proof | None = None
        self.problem = ""
        """Why the last one did not come to an end."""
        self.replies_of = ""
        """The run whose replies the last one was given; "": those of the offline script."""
        self._proven: Mapping[str, str] | None = None
        self._now: Mapping[str, str] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def state(self) -> State:
        """What can be said of the code that is shown."""
        if self.running:
            return "running"
        if self.proof is None:
            return "failed" if self.problem else "none"
        if self._proven != self._now:
            return "stale"
        return "proven" if self.proof.proven else "failed"

    @property
    def running(self) -> bool:
        """Whether a proof is at work."""
        return self._task is not None and not self._task.done()

    def show_files(self, files: Mapping[str, str]) -> None:
        """The code that is shown now."""
        self._now = dict(files)
        self.changed.emit()

    def start(
        self, document: Workflow, folder: Path | None, interpreter: str = "", run: ShownRun | None = None
    ) -> None:
        """Proves the code that is shown, with the replies of ``run`` if it gives one. Nothing happens while a proof
        runs."""
        if self.running:
            return
        self.steps, self.proof, self.problem = {}, None, ""
        self._proven = self._now
        self.replies_of = ""
        work = self._prove(document, self._now, folder, interpreter, run)
        self._task = asyncio.get_running_loop().create_task(work, name="proof of an export")
        self.changed.emit()

    def cancel(self) -> None:
        """Ends a running proof and its processes."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """Cancels and awaits."""
        self.cancel()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _prove(
        self, document: Workflow, files: Mapping[str, str], folder: Path | None, interpreter: str, run: ShownRun | None
    ) -> None:
        from studio.proof import prove, sample_of  # with it come the engine and the worker

        try:
            shown = await run() if run is not None else None
            sample = sample_of(shown) if shown is not None else None
            self.replies_of = sample.name if sample is not None else ""
            self.proof = await prove(
                document, files, sample, folder=folder, interpreters=[interpreter], on_step=self._on_step
            )
        except asyncio.CancelledError:
            self.steps = {}
            raise
        except Exception as problem:
            _log.exception("The proof of an export failed")
            self.problem = f"{type(problem).__name__}: {problem}"
        finally:
            asyncio.get_running_loop().call_soon(self.changed.emit)

    def _on_step(self, step: Step) -> None:
        self.steps[step.key] = step
        self.changed.emit()
