"""Why a run failed, for the way back to the drawing: which node, code or setting, and the input that led to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studio.agents.errors import TITLES, ErrorKind
from studio.assembly.texts import value_text
from studio.document.lines import name_of, path_names
from studio.document.model import (
    AgentNode,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    Node,
    RunnerNode,
    SubWorkflowNode,
    TemplateNode,
    Workflow,
)
from studio.document.text_slots import TextSlot, text_slots
from studio.document.tools import module_of
from studio.engine import events as ev

_LONGEST = 20_000
"""Characters of the input that are kept for showing."""

_FIELD_OF_KIND: Mapping[ErrorKind, str] = {
    **dict.fromkeys(("unreachable", "tls", "timeout", "bad_key", "no_permission", "no_credit"), "profile"),
    "no_such_model": "model",
    "context_too_long": "context",
    "unsupported_parameter": "model",
}
_FIELD_OF_PARAMETER = {
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "tool_choice": "tool_choice",
    "parallel_tool_calls": "parallel_tool_calls",
    "response_format": "output_schema",
    "tools": "tools",
    "model": "model",
}
"""Names of the protocol -> fields of an agent."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A place in the user's text: the unit as the worker calls it, line from 1, text of the line."""

    unit: str
    line: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Where it can be mended: an item of the drawing ("" for the workflow), a field of its form, and there a stretch of
    a text (empty: the whole field). ``inside``: ids of the sub-workflow nodes around, outermost first."""

    place: str = ""
    field: str = ""
    text: str = ""
    start: int = 0
    end: int = 0
    inside: tuple[str, ...] = ()
    title: str = ""
    """What a person calls the field, if it is a text of the drawing."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed run. ``path``: ids of the node that failed or whose condition did, sub-workflows first; else empty."""

    path: tuple[str, ...]
    superstep: int
    error: str
    """Class name of what was raised."""
    message: str
    target: Target
    given: str = ""
    """The text of what the node had been given, or of what was on its way over the edge that failed."""
    raw: str = ""
    """The body with which a provider refused, without secrets."""
    prompt: str = ""
    """The last message that the model was sent before it failed."""
    code: tuple[CodeLine, ...] = ()
    """The lines that led to it, the raising one last."""


def failure_of(events: Sequence[ev.Event], workflow: Workflow) -> Failure | None:
    """Why the last run in these events failed; None if it did not. Looks from the end: cheap for long logs."""
    told = _Told(events)
    if told.run is None:
        return None
    node = told.node
    error, message = (node.error, node.message) if node is not None else (told.run.error, told.run.message)
    if node is not None:
        path: tuple[str, ...] = (*node.inside, node.node)
    else:
        path = (told.run.node,) if told.run.node and told.run.where else ()
    code = tuple(CodeLine(*line) for line in (node.where if node is not None else told.run.where))
    target = _target(told, workflow, path, code)
    return Failure(
        path,
        node.superstep if node is not None else told.superstep,
        error,
        message,
        target,
        told.given[:_LONGEST],
        told.call.raw if told.call is not None else "",
        told.prompt[:_LONGEST],
        code,
    )


class _Told:
    """What the end of a log says about a failure."""

    def __init__(self, events: Sequence[ev.Event]) -> None:
        self.run: ev.RunFailed | None = None
        self.node: ev.NodeFailed | None = None
        """The innermost node that failed."""
        self.call: ev.ModelCallFinished | None = None
        """The model call that failed with it."""
        self.given = self.prompt = ""
        self.superstep = 0
        self._begun = False
        for at in range(len(events) - 1, -1, -1):
            if self._take(events[at]):
                break

    def _take(self, event: ev.Event) -> bool:
        """Takes one event, newest first; True when nothing more is wanted."""
        match event:
            case ev.RunFailed() if self.run is None:
                self.run = event
            case ev.StatusChanged() if self.run is None and event.state != "FAILED":
                return True
            case ev.NodeFailed() if self.run is not None and self._is_within(event):
                self.node = event
            case ev.ModelCallFinished() if self.call is None and self._of_node(event) and event.error:
                self.call = event
            case ev.ModelCallStarted() if self.call is not None and event.call == self.call.call:
                if self._of_node(event) and event.messages:
                    self.prompt = self.prompt or value_text(event.messages[-1])
            case ev.NodeStarted() if self._of_node(event):
                self.given = value_text(event.data)
                return True
            case ev.MessageQueued() if self.node is None and self.run is not None and not self.given:
                if event.source == self.run.node:
                    self.given = value_text(event.data)
            case ev.SuperstepStarted() if self.run is not None:
                before = bool(self.superstep)
                self.superstep = self.superstep or event.superstep
                return self.node is None and (before or bool(self.given))
        return False

    def _is_within(self, event: ev.NodeFailed) -> bool:
        """Whether it is the node of the failed run, or one inside the node that was found so far."""
        assert self.run is not None
        if self.node is None:
            return not event.inside and event.node == self.run.node
        return event.inside == (*self.node.inside, self.node.node) and event.message == self.node.message

    def _of_node(self, event: ev.ModelCallFinished | ev.ModelCallStarted | ev.NodeStarted) -> bool:
        return self.node is not None and event.invocation == self.node.invocation


# ------------------------------------------------------------------------------------------- where it can be mended


def _target(told: _Told, workflow: Workflow, path: tuple[str, ...], code: Sequence[CodeLine]) -> Target:
    inner, inside = _innermost(workflow, path[:-1])
    node = inner.node(path[-1]) if path else None
    around = [(inner, inside)]
    if isinstance(node, SubWorkflowNode) and node.embedded is not None:  # a condition inside: no node there failed
        around.insert(0, (node.embedded, (*inside, node.id)))
    for line in reversed(code):
        for where, way in around:
            found = _of_code(where, line)
            if found is not None:
                return Target(*found, inside=way, title=_title(where, found))
    if told.run is not None and told.run.error == "ConvergenceError":
        return Target("", "max_supersteps")
    if node is None:
        return Target(told.run.node or "" if told.run is not None else "")
    return Target(node.id, _field_of(node, told), inside=inside)


def _innermost(workflow: Workflow, inside: Sequence[str]) -> tuple[Workflow, tuple[str, ...]]:
    """The embedded workflow that these nodes lead to, as far as the document has it."""
    way: list[str] = []
    for id in inside:
        node = workflow.node(id)
        if not isinstance(node, SubWorkflowNode) or node.embedded is None:
            break
        workflow = node.embedded
        way.append(id)
    return workflow, tuple(way)


def _of_code(workflow: Workflow, line: CodeLine) -> tuple[str, str, str, int, int] | None:
    """The text that a unit of user code was made from, and the line in it."""
    unit = line.unit
    wanted = [slot for slot in text_slots(workflow) if slot.scope in ("code", "conditions") and not slot.inside]
    owner, _, what = unit.partition(" ")
    if what == "condition":
        found = [s for s in wanted if s.place == owner and s.field == "condition"]
    elif what == "context":
        found = [s for s in wanted if s.place == owner and s.field == "context_filter"]
    elif what.startswith(("middleware ", "context provider ")):
        field, number = ("middleware" if what.startswith("m") else "providers"), int(what.rsplit(" ", 1)[1]) - 1
        found = [s for s in wanted if s.place == owner and s.path[2:4] == (field, number) and s.path[-1] == "body"]
        found = found or [s for s in wanted if s.place == owner and s.field == field and s.path[-1] == "body"]
    else:
        found = [s for s in wanted if s.place == unit and s.field == "body"] or _of_module(workflow, wanted, unit)
    return _stretch(found[0], line) if found else None


def _of_module(workflow: Workflow, wanted: Sequence[TextSlot], unit: str) -> list[TextSlot]:
    for index, module in enumerate(workflow.modules):
        if module.name == unit:
            return [s for s in wanted if s.path == ("modules", index, "source")]
    for index, tool in enumerate(workflow.tools):
        if tool.source.strip() and module_of(tool) == unit:
            return [s for s in wanted if s.path == ("tools", index, "source")]
    return []


def _stretch(slot: TextSlot, line: CodeLine) -> tuple[str, str, str, int, int]:
    lines = slot.text.splitlines(keepends=True)
    at = min(max(line.line, 1), len(lines) or 1) - 1
    start = sum(len(one) for one in lines[:at])
    end = start + len(lines[at].rstrip("\r\n")) if lines else start
    return slot.place, slot.field, slot.text, start, end


def _title(workflow: Workflow, found: tuple[str, str, str, int, int]) -> str:
    place, field, text = found[:3]
    slots = text_slots(workflow)
    return next((s.title for s in slots if (s.place, s.field, s.text) == (place, field, text)), "")


def _field_of(node: Node, told: _Told) -> str:
    """The setting of a node that the error is most likely about."""
    match node:
        case AgentNode():
            return _field_of_agent(told)
        case RunnerNode():
            return "agents"
        case FunctionNode():
            return "call" if node.call else "body"
        case JoinNode():
            return "body" if node.merge == "code" else "merge"
        case HumanInputNode():
            return "question"
        case TemplateNode():
            return "text"
        case SubWorkflowNode():
            return "path" if node.path else ""
    return ""


def _field_of_agent(told: _Told) -> str:
    failed = told.node
    if failed is not None and failed.error in ("McpFailed", "UnknownToolError"):
        return "mcp_servers" if failed.error == "McpFailed" else "tools"
    if told.call is None:
        return "instructions"
    kind = kind_of(told.call.error)
    parameter = _parameter(told.call.raw) or _mentioned(told.call.error)
    if parameter in _FIELD_OF_PARAMETER and kind in ("unsupported_parameter", "bad_request"):
        return _FIELD_OF_PARAMETER[parameter]
    return _FIELD_OF_KIND.get(kind, "instructions") if kind is not None else "instructions"


def kind_of(message: str) -> ErrorKind | None:
    """The kind of a provider's error by the words it is told with; None if they are not ours."""
    return next((kind for kind, title in TITLES.items() if message == title or message.startswith(f"{title}:")), None)


def _parameter(raw: str) -> str:
    try:
        body: Any = json.loads(raw)
    except ValueError:
        return ""
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("param") or "") if isinstance(error, dict) else ""


def _mentioned(message: str) -> str:
    """The setting that a message names, where the body names none."""
    words = set(re.findall(r"\w+", message))
    return next((name for name in _FIELD_OF_PARAMETER if (name in words and "_" in name) or f"'{name}'" in message), "")


def piece_words(unit: str, workflow: Workflow, inside: Sequence[str] = ()) -> str:
    """What people call a piece of user code: "Score", "middleware 1 of Writer", "condition of Score", "my_module"."""
    owner, _, what = unit.partition(" ")
    inner, _way = _innermost(workflow, inside)
    name = name_of(inner, owner)
    return f"{what} of {name}" if what else name


def where_words(failure: Failure, workflow: Workflow) -> str:
    """ "Check › Score, superstep 3, line 2: result = 1 / 0"."""
    names = " › ".join(path_names(workflow, failure.path[:-1], failure.path[-1])) if failure.path else ""
    if failure.target.field == "condition":
        names = f"a condition inside {names}" if failure.target.inside else f"a condition after {names}"
    parts = [names, f"superstep {failure.superstep}" if failure.superstep else ""]
    if failure.code:
        last = failure.code[-1]
        parts.append(f"line {last.line}: {last.text.strip()}" if last.text.strip() else f"line {last.line}")
    return ", ".join(part for part in parts if part)
