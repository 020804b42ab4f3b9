"""Typed inputs and answers become values."""

from __future__ import annotations

from typing import Any

import pytest
from studio.agents.messages import ApprovalRequest, ApprovalResponse, ToolCall, ToolResult
from studio.agents.pending import with_other_arguments
from studio.debugger.answers import ValueProblem, answer_kind, answer_value, input_value
from studio.document.model import AgentNode, FunctionNode, TypeDecl, Workflow
from studio.engine.values import Record

CALL = ToolCall("c1", "mail", '{"to": "x"}')
APPROVAL = ApprovalRequest("a1", CALL)
CHANGED = with_other_arguments(APPROVAL, '{"to": "y"}')
SCORE = TypeDecl.model_validate(
    {"name": "Score", "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
)
DOCUMENT = Workflow(start="f", nodes=(FunctionNode(id="f", name="F", accepts="Score"),), types=(SCORE,))


def question(answer_type: str, *choices: str) -> Record:
    return Record("Question", {"text": "?", "answer_type": answer_type, "choices": list(choices), "data": None})


@pytest.mark.parametrize(
    ("data", "response_type", "answer", "expected"),
    [
        (question("text"), "str", "blue", "blue"),
        (question("text", "a", "b"), "str", "a", "a"),
        (question("number"), "float", "2.5", 2.5),
        (question("number"), "float", 3, 3),
        (question("boolean"), "bool", "yes", True),
        (question("boolean"), "bool", False, False),
        (question("Score"), "Score", '{"n": 2}', Record("Score", {"n": 2})),
        (question("list[Score]"), "list[Score]", [{"n": 2}], [Record("Score", {"n": 2})]),
        (question("list[number]"), "list[float | int]", "[1, 2.5]", [1, 2.5]),
        ("plain", "int", "4", 4),
        (APPROVAL, "content", True, ApprovalResponse("a1", True, CALL)),
        (APPROVAL, "content", "no", ApprovalResponse("a1", False, CALL)),
        (APPROVAL, "content", {"approved": True, "arguments": {"to": "y"}}, CHANGED),
        (APPROVAL, "content", {"arguments": '{"to": "y"}'}, CHANGED),
        (APPROVAL, "content", {"arguments": {"to": "x"}}, ApprovalResponse("a1", True, CALL)),
        (APPROVAL, "content", {"approved": False, "arguments": {"to": "y"}}, ApprovalResponse("a1", False, CALL)),
        (CALL, "content", "done", ToolResult("c1", "done")),
    ],
)
def test_an_answer_becomes_what_the_request_wants(data: Any, response_type: str, answer: Any, expected: Any) -> None:
    assert answer_value(data, response_type, answer, DOCUMENT) == expected


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (question("number"), "many"),
        (question("boolean"), "perhaps"),
        (question("Score"), "{"),
        (question("Score"), "{}"),
        (question("Score"), [1]),
        (question("list[Score]"), [{"n": 2}, 3]),
        (question("list[text]"), ["a", 3]),
        (question("object"), [1]),
        (question("text", "a", "b"), "c"),
        (question("number"), True),
        (question("number"), '"4"'),
        (question("boolean"), 1),
        (APPROVAL, 5),
        (APPROVAL, {}),
        (APPROVAL, {"arguments": [1]}),
        (APPROVAL, {"arguments": "{broken"}),
    ],
)
def test_an_answer_that_does_not_fit_is_a_sentence(data: Any, answer: Any) -> None:
    with pytest.raises(ValueProblem) as refused:
        answer_value(data, "any", answer, DOCUMENT)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(("written", "response_type", "answer"), [("text", "str", 4), ("integer", "int", 2.5)])
def test_the_type_of_an_answer_is_checked(written: str, response_type: str, answer: Any) -> None:
    with pytest.raises(ValueProblem, match=str(answer)):
        answer_value(question(written), response_type, answer, DOCUMENT)


def test_kinds_of_answers() -> None:
    assert answer_kind(question("text", "a"), "str") == "choice"
    assert answer_kind(question("integer"), "int") == "number"
    assert answer_kind(APPROVAL, "content") == "bool"
    assert answer_kind(question("Score"), "Score") == "Score"


def test_inputs() -> None:
    agent = Workflow(start="a", nodes=(AgentNode(id="a", name="A"),))
    assert input_value('{"n": 1}', agent) == '{"n": 1}'
    assert input_value('{"n": 1}', DOCUMENT) == Record("Score", {"n": 1})
    assert input_value({"n": 1}, DOCUMENT) == Record("Score", {"n": 1})
    with pytest.raises(ValueProblem):
        input_value("one", DOCUMENT)
