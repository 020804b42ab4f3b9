"""A file in which two things have one id is put right when it is opened, and says so."""

from __future__ import annotations

from collections.abc import Callable

from studio.bridge.document_model import DocumentModel
from studio.ui.text import tr
from studio.ui.widgets.sources import counted


def tell_mended(document: DocumentModel, say: Callable[[str], object]) -> None:
    """What was put right is not in the file before it is saved."""
    if not document.mended:
        return
    document.undo_stack.resetClean()
    things = counted(len(document.mended), tr("1 thing in the file"), tr("{count} things in the file"))
    ids = ", ".join(dict.fromkeys(item or tr("no id") for item in document.mended[:3]))
    text = tr("{things} had an id that is taken ({ids}): each has one of its own now; doubles are gone.")
    say(text.format(things=things, ids=ids))
