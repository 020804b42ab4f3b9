"""What a reader found, as it is opened and written: its steps run where they mean the same, its cards have room."""

from __future__ import annotations

from dataclasses import replace

from studio.document.layout import arrange
from studio.document.model import FunctionNode, GenericNode, ImportedItem, ImportRecord, RunnerNode, Workflow
from studio.document.problems import Problem
from studio.document.validate import problems
from studio.importers.conversations import with_conversations
from studio.importers.detection import NAMES
from studio.importers.finish import Imported
from studio.importers.prompts import unused_prompts
from studio.importers.report import Entry, Report, in_words
from studio.importers.runnable import runnable
from studio.importers.spacing import spaced
from studio.importers.tidy import tidied

_ADDED = "Added: it keeps a result for steps that ask for it, or fills a prompt."
_JOINED = "One conversation runner with the agents that hand over to each other: {agents}."
_UNUSED = "Its prompt is kept as text: the agent is given what comes in. Put a template in front of it."


def opened(found: Imported, source: str = "") -> Imported:
    """The import with the workflow that is to be opened, which keeps the report; one of our own exports stays as it is.
    ``source`` is the name of the file."""
    if found.before is not None:
        return found
    workflow = _tidied(with_conversations(runnable(found.workflow)), found.workflow)
    before = {n.id for n in found.workflow.nodes}
    added = {n.id for n in workflow.nodes} - before
    kept = {entry.item for entry in found.report.entries if entry.code == "expression_kept"}
    told = [
        *(Entry("unsupported_item", p.place, "warn", p.message) for p in _left(workflow, found.report)),
        *(Entry("expression_kept", item, "warn", _UNUSED) for item in unused_prompts(workflow) if item not in kept),
        *(Entry("semantics_differ", item, "info", _ADDED) for item in sorted(added)),
        *(
            Entry("semantics_differ", node.id, "info", _JOINED.format(agents=", ".join(a.name for a in node.agents)))
            for node in workflow.nodes
            if isinstance(node, RunnerNode)
        ),
    ]
    report = replace(found.report, entries=(*found.report.entries, *told), added=found.report.added | added)
    if found.drawn:
        workflow = spaced(workflow)
    elif len(workflow.nodes) > len(found.workflow.nodes):
        places = {**found.workflow.places, **arrange(workflow)}
        workflow = workflow.model_copy(update={"places": places})
    workflow = workflow.model_copy(update={"imported": _record(report, source)})
    return replace(found, workflow=workflow, report=report)


def _tidied(workflow: Workflow, read: Workflow) -> Workflow:
    """The workflow with the code that was written here laid out; what the source had itself stays as it was written."""
    before = {id(node) for node in read.nodes}
    nodes = tuple(
        node.model_copy(update={"body": tidied(node.body)})
        if isinstance(node, FunctionNode) and node.body and id(node) not in before
        else node
        for node in workflow.nodes
    )
    return workflow.model_copy(update={"nodes": nodes})


def _left(workflow: Workflow, report: Report) -> list[Problem]:
    """The steps that came in as what they are and do not run, beyond the placeholders, which have an entry each."""
    told = {entry.item for entry in report.entries if entry.severity == "loss"}
    known = (n.id for n in workflow.nodes if isinstance(n, GenericNode) and n.kind not in ("pass", "placeholder"))
    wanted = set(known) - told
    return [p for p in problems(workflow) if p.code == "cannot_run" and p.place in wanted]


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
