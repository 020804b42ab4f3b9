"""What a text of the clipboard becomes on the canvas: copied nodes, or the whole text of a workflow file."""

from __future__ import annotations

from studio.document import commands
from studio.document.copying import paste_workflow, unfenced
from studio.document.edits import Edit
from studio.document.model import Place, Workflow
from studio.document.problems import Problem
from studio.files.format import MAX_BYTES, loads
from studio.files.migrations import FORMAT
from studio.files.problems import FileProblem
from studio.ui.text import tr


def pasted(workflow: Workflow, text: str, place: Place | None, *, keep_outer: bool) -> Edit | Problem:
    """See :func:`studio.document.copying.paste_items`; a text that is neither copied nodes nor the text of a file is
    refused with a sentence."""
    if len(text) > MAX_BYTES:
        return Problem("not_a_clipping", tr("The clipboard holds more text than any workflow has."))
    found = commands.paste_items(workflow, text, place, keep_outer=keep_outer)
    if isinstance(found, Problem) and f'"{FORMAT}"' in text[:2000]:
        try:
            return paste_workflow(workflow, loads(unfenced(text)), place)
        except FileProblem as problem:
            why = " ".join(part for part in (problem.message, problem.place and f"({problem.place})") if part)
            return Problem("not_a_clipping", tr("The workflow in the clipboard cannot be read. {why}").format(why=why))
    return found
