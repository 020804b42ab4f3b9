"""What a reader found, as it is opened and written: its steps run where they mean the same, its cards have room."""

from __future__ import annotations

from dataclasses import replace

from studio.document.layout import arrange
from studio.document.model import ImportedItem, ImportRecord
from studio.importers.detection import NAMES
from studio.importers.finish import Imported
from studio.importers.report import Report, in_words
from studio.importers.runnable import runnable
from studio.importers.spacing import spaced


def opened(found: Imported, source: str = "") -> Imported:
    """The import with the workflow that is to be opened, which keeps the report; one of our own exports stays as it is.
    ``source`` is the name of the file."""
    if found.before is not None:
        return found
    workflow = runnable(found.workflow)
    if found.drawn:
        workflow = spaced(workflow)
    elif len(workflow.nodes) > len(found.workflow.nodes):
        places = {**found.workflow.places, **arrange(workflow)}
        workflow = workflow.model_copy(update={"places": places})
    return replace(found, workflow=workflow.model_copy(update={"imported": _record(found.report, source)}))


def _record(report: Report, source: str) -> ImportRecord:
    entries = [entry for severity in ("loss", "warn", "info") for entry in report.entries if entry.severity == severity]
    folded = [ImportedItem(item=f.item, text=f"Became a setting of {f.into}.") for f in report.folded]
    return ImportRecord(
        format=NAMES.get(report.detected, report.detected),
        source=source,
        summary=in_words(report),
        preface=report.preface,
        entries=(*(ImportedItem.model_validate(entry.to_json()) for entry in entries), *folded),
    )
