"""What the menus of the checkpoints panel offer: of a checkpoint, of a branch, of the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.ui.text import tr
from studio.ui.timeline.menu import Entry
from studio.ui.timeline.plan import Spot, Track

if TYPE_CHECKING:
    from studio.ui.timeline.panel import TimelinePanel


def checkpoint_entries(panel: TimelinePanel, spot: Spot) -> list[Entry]:
    """Of one checkpoint."""
    key, view = spot.checkpoint, panel.view
    marked = view.compared
    compare = (
        Entry(tr("Compare with the marked one"), "columns-2", lambda: panel.compare(str(marked), key), keys="Space")
        if marked is not None and marked != key
        else Entry(tr("Mark for compare"), "columns-2", lambda: view.mark_compared(key), keys="Space")
    )
    here = panel.workspace is not None and panel.workspace.run.here == key
    return [
        Entry(tr("Restore…"), "history", lambda: panel.restore(key), panel.why_not("restore", key), "Enter"),
        Entry(tr("Fork"), "git-branch", lambda: panel.fork(key), panel.why_not("fork", key), "Shift+Enter"),
        Entry(tr("Fork with edits…"), "pencil", lambda: panel.fork_edited(key), panel.why_not("fork", key)),
        compare,
        Entry(tr("Name…"), "", lambda: view.edit_name(key), keys="F2"),
        Entry(tr("Tags…"), "tag", lambda: view.edit_tags(key)),
        Entry(tr("Unpin") if spot.pinned else tr("Pin"), "pin", lambda: panel.pin(key), keys="P"),
        Entry(tr("Export checkpoint…"), "upload", lambda: panel.export_bundle(key)),
        Entry(tr("Delete checkpoint"), "trash-2", lambda: panel.delete_checkpoint(key),
              tr("You are here") if here else ""),
        Entry(),
    ]  # fmt: skip


def branch_entries(panel: TimelinePanel, track: Track) -> list[Entry]:
    """Of one branch."""
    branch = track.branch
    run = panel.workspace.run if panel.workspace is not None else None
    why = run.can("restore")[1] if run is not None else ""
    elsewhere = next((b.elsewhere for b in run.branches if b.branch == branch), "") if run is not None else ""
    busy = tr("It is at work in {owner}.").format(owner=elsewhere) if elsewhere else ""
    entries = [Entry(tr("Show {branch}").format(branch=track.name), "", lambda: panel.show_branch(branch), why)]
    if run is not None and run.is_interrupted(branch):
        entries.append(Entry(tr("Resume"), "own:play", lambda: panel.resume_branch(branch), why))
    shown = run.branch if run is not None else None
    if shown is not None and shown != branch:
        name = next((t.name for t in panel.view.plan.tracks if t.branch == shown), "")
        text = tr("Compare {a} with {b}").format(a=name, b=track.name)
        entries.append(Entry(text, "columns-2", lambda: panel.compare(str(shown), branch)))
    return [
        *entries,
        Entry(tr("Rename branch…"), "", lambda: panel.view.edit_branch_name(branch)),
        Entry(tr("Export branch…"), "upload", lambda: panel.export_bundle(branch)),
        Entry(tr("Delete branch…"), "trash-2", lambda: panel.delete_branch(branch), why or busy),
    ]


def panel_entries(panel: TimelinePanel) -> list[Entry]:
    """Of the panel as a whole."""
    run = panel.workspace.run if panel.workspace is not None else None
    none = "" if run is not None and run.checkpoints else tr("There is no checkpoint yet.")
    back = run.discarded[-1] if run is not None and run.discarded else None
    before = run.checkpoint_before_error() if run is not None else None
    entries = [
        Entry(tr("Find checkpoints…"), "own:search", panel.open_search, none, "Ctrl+F"),
        Entry(tr("Go to the checkpoint before the error"), "", panel.go_before_error,
              "" if before else tr("Nothing failed in the run that is shown.")),
        Entry(),
        Entry(tr("Import runs…"), "download", panel.import_bundle),
        Entry(tr("Which checkpoints are kept…"), "", panel.show_keeping, none and ("" if back else none)),
    ]  # fmt: skip
    if run is not None:
        memory = run.in_memory_only
        why = run.can("restore")[1]
        text = tr("Keep runs on disk") if memory else tr("Keep no messages on disk")
        entries.append(Entry(text, "", lambda: panel.keep_on_disk(memory), why))
    if run is not None and back is not None:
        entries.append(Entry(tr("Put back {text}").format(text=back.text), "undo-2", lambda: run.put_back()))
    return entries
