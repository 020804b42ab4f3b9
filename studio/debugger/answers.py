"""What a person gives, typed or as JSON, becomes the value that the engine takes: inputs and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from studio.agents.messages import ApprovalRequest, ApprovalResponse, ToolCall, ToolResult
from studio.agents.pending import with_other_arguments
from studio.assembly.people import QUESTION
from studio.assembly.types import as_record, sent_types
from studio.document.model import Workflow
from studio.document.types import WITH_TEXT, accepts, item_type
from studio.engine.types import ANY, UnionOf, fits
from studio.engine.values import Record, plain

_KINDS = {
    **dict.fromkeys(("str", "text", "any", "none", "choice", ""), "text"),
    **dict.fromkeys(("bool", "boolean"), "bool"),
    **dict.fromkeys(("int", "float", "integer", "number"), "number"),
}
_YES, _NO = ("yes", "true", "1", "y"), ("no", "false", "0", "n")


class ValueProblem(ValueError):
    """What was given cannot become a value; ``str()`` is a sentence."""


def answer_kind(data: Any, response_type: str) -> str:
    """What a request wants: ``text``, ``bool``, ``number``, ``choice`` or the name of another type."""
    written = response_type
    if isinstance(data, ApprovalRequest):
        written = "bool"
    elif isinstance(data, ToolCall):
        written = "text"
    elif isinstance(data, Record) and data.type_name == QUESTION:
        if data.get("choices"):
            return "choice"
        written = str(data["answer_type"])
    return _KINDS.get(written, written)


def answer_value(data: Any, response_type: str, answer: Any, workflow: Workflow) -> Any:
    """What the engine takes as the answer to a request with this ``data``.

    An approval is a bool, or a mapping with ``approved`` or ``arguments`` (JSON text or an object): other arguments
    than those asked for refuse the call and make a new one. A call's answer is its result; anything but a text may be
    given as text. Raises :class:`ValueProblem`, also for another type than the one that was asked for and for a text
    that is none of the choices.
    """
    kind = answer_kind(data, response_type)
    if isinstance(data, ApprovalRequest) and not isinstance(answer, ApprovalResponse):
        return _approval(data, answer)
    if isinstance(data, ToolCall) and not isinstance(answer, ToolResult):
        return ToolResult(data.call_id, answer)
    if kind in ("text", "choice"):
        if response_type == "str" and not isinstance(answer, str):
            raise ValueProblem(f"A text is wanted, not {_shown(answer)}.")
        if kind == "choice" and answer not in data["choices"]:
            raise ValueProblem(f"{_shown(answer)} is not one of the choices: {', '.join(map(str, data['choices']))}.")
        return answer
    if isinstance(answer, str):
        answer = _parsed(answer, kind)
    _check(answer, kind, response_type)
    value = _declared(answer, kind, workflow)
    if value is answer and not isinstance(value, Record) and any(t.name == kind for t in workflow.types):
        raise ValueProblem(f"{_shown(answer)} is no {kind}; an object with its fields is wanted.")
    if isinstance(data, Record) and data.type_name == QUESTION:
        _check_fits(value, kind)
    return value


def input_value(given: Any, workflow: Workflow) -> Any:
    """What a run of this workflow takes as its input: a text as it is, unless the start node wants other data.

    Raises :class:`ValueProblem`.
    """
    start = workflow.node(workflow.start) if workflow.start else None
    names = accepts(start) if start is not None else ()
    if isinstance(given, str):
        if not names or "any" in names or any(name in WITH_TEXT for name in names):
            return given
        given = _parsed(given, _KINDS.get(names[0], names[0]))
    for name in names:
        value = _declared(given, name, workflow)
        if value is not given:
            return value
    return given


def _check_fits(value: Any, kind: str) -> None:
    """Refuses what the engine would not take, with the entry of a list that is wrong."""
    inner = item_type(kind)
    if inner is not None and isinstance(value, list):
        for entry in value:
            _check_fits(entry, inner)
    elif not fits(value, UnionOf(*members) if (members := sent_types(kind)) else ANY):
        raise ValueProblem(f"{_shown(value)} is no value of type {kind}.")


def _declared(value: Any, name: str, workflow: Workflow) -> Any:
    """Objects as values of the declared type that a name stands for, also each in a list; anything else as it is."""
    inner = item_type(name)
    if inner is not None and isinstance(value, list):
        made = [_declared(entry, inner, workflow) for entry in value]
        return value if all(new is old for new, old in zip(made, value, strict=True)) else made
    schema = next((t.json_schema for t in workflow.types if t.name == name), None)
    if schema is None or not isinstance(value, Mapping) or isinstance(value, Record):
        return value
    try:
        return as_record(name, schema, value)
    except TypeError as error:
        raise ValueProblem(f"{error}.") from None


def _check(answer: Any, kind: str, response_type: str) -> None:
    """Refuses what is no yes or no, no number, or no whole one."""
    if kind == "bool" and not isinstance(answer, bool):
        raise ValueProblem(f"{_shown(answer)} is neither yes nor no.")
    if kind == "number" and (isinstance(answer, bool) or not isinstance(answer, int | float)):
        raise ValueProblem(f"{_shown(answer)} is not a number.")
    if kind == "number" and response_type in ("int", "integer") and not isinstance(answer, int):
        raise ValueProblem(f"{_shown(answer)} is not a whole number.")


def _shown(answer: Any) -> str:
    return f"“{answer}”" if isinstance(answer, str) else json.dumps(plain(answer), ensure_ascii=False, default=str)


def _parsed(text: str, kind: str) -> Any:
    if kind == "bool":
        return _bool(text)
    try:
        return json.loads(text)
    except ValueError as error:
        if kind == "number":
            raise ValueProblem(f"“{text}” is not a number.") from None
        raise ValueProblem(f"A value of type {kind} is written as JSON: {error}.") from None


def _bool(text: str) -> bool:
    word = text.strip().lower()
    if word not in _YES + _NO:
        raise ValueProblem(f"“{text}” is neither yes nor no.")
    return word in _YES


def _approval(request: ApprovalRequest, answer: Any) -> ApprovalResponse:
    if isinstance(answer, str):
        answer = _bool(answer)
    given = answer.get("arguments") if isinstance(answer, Mapping) else None
    approved = answer.get("approved", None if given is None else True) if isinstance(answer, Mapping) else answer
    if not isinstance(approved, bool):
        raise ValueProblem(f"{_shown(answer)} neither approves nor refuses; true or false is wanted.")
    if given is None or not approved:
        return ApprovalResponse(request.id, approved, request.call)
    return with_other_arguments(request, _arguments(given))


def _arguments(given: Any) -> str:
    """Arguments as JSON text. Raises :class:`ValueProblem` unless they are an object."""
    if isinstance(given, str):
        try:
            value = json.loads(given)
        except ValueError as error:
            raise ValueProblem(f"The arguments of a call are a JSON object: {error}.") from None
    else:
        value = plain(given)
    if not isinstance(value, dict):
        raise ValueProblem(f"The arguments of a call are a JSON object, not {_shown(value)}.")
    return given if isinstance(given, str) else json.dumps(value, ensure_ascii=False)
