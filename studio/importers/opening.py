"""What a reader found, as it is opened and written: its steps run where they mean the same, its cards have room."""

from __future__ import annotations

from dataclasses import replace

from studio.document.layout import arrange
from studio.importers.finish import Imported
from studio.importers.runnable import runnable
from studio.importers.spacing import spaced


def opened(found: Imported) -> Imported:
    """The import with the workflow that is to be opened; one of our own exports stays as it is."""
    if found.before is not None:
        return found
    workflow = runnable(found.workflow)
    if found.drawn:
        workflow = spaced(workflow)
    elif len(workflow.nodes) > len(found.workflow.nodes):
        places = {**found.workflow.places, **arrange(workflow)}
        workflow = workflow.model_copy(update={"places": places})
    return replace(found, workflow=workflow)
