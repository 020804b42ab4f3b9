"""The rows of the superstep list, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from studio.agents.messages import Usage
from studio.bridge.run_views import AnswerView, InvocationView, SuperstepView
from studio.bridge.workspace import Workspace
from studio.debugger.states import ENDED, RunState
from studio.document.lines import name_of
from studio.document.model import Workflow
from studio.ui.paint.numbers import seconds_text
from studio.ui.text import one_line, tr
from studio.ui.widgets.costs import cost_words
from studio.ui.widgets.sources import counted, target_names, usage_words

_HELD = frozenset({RunState.PAUSED, RunState.PAUSING})


@dataclass(frozen=True, slots=True)
class Row:
    """``bars`` are (left, width, colour token) as fractions of the whole run's working time."""

    kind: Literal["superstep", "answer", "next", "outputs"]
    number: int = 0
    title: str = ""
    status: str = ""
    bars: tuple[tuple[float, float, str], ...] = ()
    time: str = ""
    usage: str = ""
    """Tokens and cost of a superstep, in words."""


def rows(workspace: Workspace, now: float) -> list[Row]:
    """Every row: supersteps with the answers before them, then what comes next, then the outputs."""
    run, workflow = workspace.run, workspace.document.workflow
    made: list[Row] = []
    spans = [(s.started, s.ended if s.ended is not None else now) for s in run.supersteps]
    worked = [s.worked(run.invocations, now) for s in run.supersteps]
    whole = sum(worked) or 1.0
    before = 0.0
    last_end: float | None = None
    for step, spent, (start, end) in zip(run.supersteps, worked, spans, strict=True):
        waited = start - last_end if last_end is not None else 0.0
        made += [Row("answer", step.number, _said(workspace, a), time=_waited(waited)) for a in step.answers]
        views = [v for i in step.invocations if (v := run.invocations.get(i)) is not None and not v.inside]
        first = min((v.started for v in views), default=start)
        bars = tuple(_bar(view, first, before, whole, now) for view in views)
        status = step_status(step, views)
        if views or step.ended is not None:
            used = _used(step.usage(run.invocations))
            row = Row(
                "superstep", step.number, one_line(title(workflow, views)), status, bars, seconds_text(spent), used
            )
            made.append(row)
        before += spent
        last_end = end
    if run.state in _HELD and run.queued:
        made.append(_next(workspace))
    shown = outputs_shown(workspace)
    if shown:
        made.append(Row("outputs", 0, tr("Outputs"), time=str(shown)))
    return made


def _used(usage: Usage | None) -> str:
    return " · ".join(words for words in (usage_words(usage), cost_words(usage)) if words)


def _said(workspace: Workspace, answer: AnswerView) -> str:
    """What the user said: "you approved submit_plan"."""
    match answer.kind:
        case "approved":
            return tr("you approved {tool}").format(tool=answer.tool)
        case "changed":
            return tr("you changed the call of {tool}").format(tool=answer.tool)
        case "refused":
            return tr("you refused {tool}").format(tool=answer.tool)
        case "result":
            return tr("you gave the result of {tool}").format(tool=answer.tool)
    return tr("you answered {node}").format(node=name_of(workspace.document.workflow, answer.node))


def outputs_shown(workspace: Workspace) -> int:
    """How many outputs the list announces: the final ones; at the end of a run without any, the intermediate ones."""
    outputs = workspace.run.outputs
    final = sum(o.final for o in outputs)
    return final or (sum(not o.cut_off for o in outputs) if workspace.run.state in ENDED else 0)


def title(workflow: Workflow, views: Sequence[InvocationView]) -> str:
    """Who ran: "Planner", "Research ×3" for members of a frame, "Writer + 2" otherwise."""
    nodes = [v.node for v in views]
    if not nodes:
        return tr("no node took a message")
    distinct = list(dict.fromkeys(nodes))
    if len(distinct) == 1:
        name = name_of(workflow, nodes[0])
        return name if len(nodes) == 1 else f"{name} ×{len(nodes)}"
    group = next((g for g in workflow.groups if set(distinct) <= set(g.members)), None)
    if group is not None:
        return f"{group.name} ×{len(nodes)}"
    if len(distinct) == 2:
        return ", ".join(name_of(workflow, n) for n in distinct)
    return f"{name_of(workflow, distinct[0])} + {len(distinct) - 1}"


def step_status(step: SuperstepView, views: Sequence[InvocationView]) -> str:
    """The state of a superstep from those of its invocations."""
    states = {v.status for v in views}
    for status in ("failed", "running", "waiting", "stopped"):
        if status in states:
            return status
    return "done" if step.ended is not None else "running"


def _bar(view: InvocationView, start: float, before: float, whole: float, now: float) -> tuple[float, float, str]:
    end = view.ended if view.ended is not None else now
    token = {"failed": "fail", "running": "run", "waiting": "wait", "stopped": "muted"}.get(view.status, "done")
    left = (before + max(0.0, view.started - start)) / whole
    return min(1.0, left), min(1.0 - min(1.0, left), max(0.0, end - view.started) / whole), token


def _next(workspace: Workspace) -> Row:
    run, workflow = workspace.run, workspace.document.workflow
    names = [name_of(workflow, node) for node in run.held_nodes]
    for queued in run.queued if not names else ():
        names += target_names(workflow, queued.target, queued.edges)
    distinct = list(dict.fromkeys(names))
    who = ", ".join(distinct[:2]) + (f" + {len(distinct) - 2}" if len(distinct) > 2 else "")
    text = counted(len(run.queued), tr("next · 1 message"), tr("next · {count} messages"))
    return Row("next", run.next_superstep, who or tr("next superstep"), "waiting", time=text)


def _waited(value: float) -> str:
    return f"{value:.0f} s" if value >= 1 else ""
