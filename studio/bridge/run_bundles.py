"""Runs of the workflow that is open as a file for another machine, and back."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Signal

from studio.bridge.run_searching import RunSearching
from studio.checkpoints import StoreError


class RunBundles(RunSearching):
    """Part of :class:`studio.bridge.run_model.RunModel`."""

    bundled = Signal(str)
    """What was exported or imported, as a sentence."""
    workflow_imported = Signal(object, object)
    """The :class:`studio.document.model.Workflow` of a file of runs that belong to another document, and the file."""

    def without_keys(self, text: str) -> str:
        """A text of runs for a file, without the keys that are in use."""
        return text if self._services is None else self._services.codec.hide(text)

    def export_bundle(self, key: str, file: Path) -> None:
        """Writes a branch or a checkpoint, by id, with what led to it, without secrets; ``bundled`` follows."""
        if self._services is not None:
            self._tasks.turn(lambda: self._export(key, file))

    async def _export(self, key: str, file: Path) -> None:
        from studio.debugger.bundles import collect, wanted_checkpoint, wanted_run, write

        assert self._services is not None
        services, store = self._services, await self._opened_store()
        record = self._tree.record_of(key)
        if record is not None:
            wanted = wanted_checkpoint(self._tree.way_to(record.id, key), key)
        else:
            wanted = wanted_run(key, self._tree.way_to(key, None), self._tree.infos())
        bundle = await collect(store, wanted, services.document())
        try:
            found = await asyncio.to_thread(write, bundle, file, services.codec, tuple(services.secrets()))
        except OSError as error:
            self._fail(f"{file.name} was not written: {error}.")
            return
        count = len(bundle.checkpoints)
        text = f"{file.name} holds {count} {'checkpoint' if count == 1 else 'checkpoints'}"
        self.bundled.emit(f"{text}; secrets were taken out: {', '.join(found)}" if found else text)

    def import_bundle(self, file: Path) -> None:
        """Adds the runs of a file that are not there yet; ``bundled`` follows."""
        if self._services is not None:
            self._tasks.turn(lambda: self._import(file))

    async def _import(self, file: Path) -> None:
        from studio.debugger.bundles import BundleProblem, put_into, read

        assert self._services is not None
        services = self._services
        try:
            bundle = await asyncio.to_thread(read, file, services.codec)
            if bundle.workflow.id != services.document().id:
                self.workflow_imported.emit(bundle.workflow, file)
                return
            store = await self._opened_store()
            added = await put_into(store, bundle)
        except (BundleProblem, StoreError, OSError) as problem:
            self._fail(f"{str(problem).rstrip('.')}.")
            return
        names = ", ".join(f"{run.name} of run {run.number}" for run in added)
        self.bundled.emit(f"Imported {names}" if added else "Everything in this file is there already")
        await self._tree.load(store)
        await self._mark_unfit(services)
        self._tell_tree()
        self.state_changed.emit()
