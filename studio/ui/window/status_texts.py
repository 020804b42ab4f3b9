"""What the status bar says about a workspace."""

from __future__ import annotations

from studio.bridge.proof_model import ProofModel
from studio.bridge.run_model import RunModel
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.document.lookup import Kept, with_id
from studio.document.problems import Problem
from studio.settings.profiles import OFFLINE_NAME
from studio.ui.status.status_bar import StatusBar
from studio.ui.text import tr
from studio.ui.widgets.sources import short, size_words


def _count_severities(problems: tuple[Problem, ...]) -> tuple[int, int]:
    return sum(p.severity == "error" for p in problems), sum(p.severity == "warning" for p in problems)


_severities = Kept(_count_severities)
"""Errors and warnings."""


def show_status(bar: StatusBar, workspace: Workspace | None, profile: str, saved: str, kind: str = "") -> None:
    """Shows everything of a workspace, or of the model alone. ``kind``: of the tab that is in front."""
    if profile in ("", OFFLINE_NAME):
        bar.show_privacy(tr("No account · nothing leaves this computer"))
    else:
        bar.show_privacy(tr("Model calls go to {profile}").format(profile=profile))
    if workspace is None:
        bar.clear_document(tr("{profile} ready").format(profile=profile or OFFLINE_NAME))
        return
    workflow = workspace.document.workflow
    bar.show_state(workspace.run.state, len(workspace.run.requests))
    bar.show_run(run_text(workspace.run))
    bar.show_counts(size_words(workflow))
    bar.show_problems(*_severities.of(workspace.problems.problems))
    bar.show_saved(saved)
    bar.show_selection(selection_text(workspace))
    if kind == "export":
        _show_export(bar, workspace.proof)


def _show_export(bar: StatusBar, proof: ProofModel) -> None:
    """Whether the code is checked, and in which Python; which of its lines are the user's."""
    found = proof.proof.interpreter if proof.proof is not None and proof.state in ("proven", "failed") else None
    words, icon, token = {
        "proven": (tr("Export verified"), "circle-check", "done_t"),
        "failed": (tr("Export not verified"), "circle-x", "fail_t"),
        "running": (tr("Checking the export"), "loader", "run_t"),
        "stale": (tr("Export changed since the check"), "circle-alert", "wait_t"),
        "none": (tr("Export not checked"), "circle", "muted"),
    }[proof.state]
    bar.state.show_text(words, icon, token)
    if found is not None:
        framework = tr("agent-framework-core {framework} · Python {version}")
        bar.show_counts(framework.format(framework=found.framework, version=found.version))
    bar.show_selection(tr("Shaded lines are yours and are kept"))


def run_text(run: RunModel) -> str:
    """ "Run 13 · main · superstep 6"; "" where no run is shown."""
    branch = next((view for view in run.branches if view.branch == run.branch), None)
    if branch is None:
        return ""
    parts = [tr("Run {number}").format(number=branch.number), branch.name]
    if run.supersteps:
        parts.append(tr("superstep {number}").format(number=run.supersteps[-1].number))
    return " · ".join(parts)


def selection_text(workspace: Workspace) -> str:
    """ "Writer selected", "3 items selected"."""
    items = workspace.selection.items
    if not items:
        return ""
    if len(items) > 1:
        return tr("{n} items selected").format(n=len(items))
    workflow = workspace.document.workflow
    other = workflow.edge(items[0]) or with_id(workflow.groups, items[0])
    named = workflow.node(items[0]) is not None
    name = name_of(workflow, items[0]) if named else getattr(other, "name", "")
    name = name or (tr("Note") if with_id(workflow.notes, items[0]) is not None else tr("Edge"))
    return tr("{name} selected").format(name=short(name))
