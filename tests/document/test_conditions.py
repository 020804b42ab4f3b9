"""Conditions: never an exception, never a hang, and their words."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from studio.document.conditions import Condition, NeedsWorker, Rule, Scope, describe, evaluate, explain
from studio.document.expressions import ExpressionError, parsed
from studio.document.rule_expression import as_expression
from studio.document.wording import written_out

from tests.document.strategies import conditions, plain, texts

SCOPE = Scope(
    "Please APPROVE this",
    {"score": 6, "items": [1, "two"], "inner": {"ok": True, "none": None}, "price": "8"},
    "Review",
    {"tries": 2},
)


def rule(**values: Any) -> Condition:
    return Condition(rule=Rule(**values))


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        (None, True),
        (rule(op="always"), True),
        (rule(value="APPROVE"), True),
        (rule(value="approve"), False),
        (rule(value="approve", ignore_case=True), True),
        (rule(value=None), False),
        (rule(value=""), False),
        (rule(path="value.items", value="two"), True),
        (rule(path="value.items", value=True), False),
        (rule(path="value", value="score"), True),
        (rule(op="equals", path="value.score", value=6), True),
        (rule(op="equals", path="value.inner.ok", value=1), False),
        (rule(op="equals", path="value.nothing.at.all", value=None), True),
        (rule(op="equals", path="value.items.1", value="TWO", ignore_case=True), True),
        (rule(op="matches", value=r"^please", ignore_case=True), True),
        (rule(op="matches", value=r"("), False),
        (rule(op="matches", path="value.score", value=r"6"), False),
        (rule(op="compares", path="value.score", value=6), True),
        (rule(op="compares", path="value.score", compare=">", value=6), False),
        (rule(op="compares", path="value.price", value=6), False),
        (rule(op="compares", path="value.missing", value=6), False),
        (rule(op="compares", path="value.missing", compare="!=", value=6), False),
        (rule(op="compares", path="value.inner.ok", compare="==", value=True), True),
        (rule(op="compares", path="value.inner.ok", compare="<", value=True), False),
        (rule(op="type_is", value="Review"), True),
        (rule(op="type_is", value=["text", "Review"]), True),
        (rule(op="compares", path="state.tries", compare="<", value=3), True),
        (rule(op="not", rules=(Rule(value="no"),)), True),
        (rule(op="and", rules=()), False),
        (rule(op="or", rules=(Rule(value="no"), Rule(op="always"))), True),
        (Condition(), False),
    ],
)
def test_rules(condition: Condition | None, held: bool) -> None:
    assert evaluate(condition, SCOPE) is held


@pytest.mark.parametrize(
    ("expression", "held"),
    [
        ("value.score >= 6 and 'APPROVE' in text", True),
        ("value.items[1] == 'two'", True),
        ("value['inner'].ok", True),
        ("value.missing.deeper == None", True),
        ("value.missing >= 5", False),
        ("not (value.missing >= 5)", True),
        ("value.price > 5", False),
        ("number(value.price) > 5", True),
        ("value.inner.ok == 1", False),
        ("text.lower().startswith('please')", True),
        ("contains(text, 'APP') and matches(text, '^Pl')", True),
        ("type in ['Review', 'text']", True),
        ("state.tries < 3 and value.items", True),
        ("len(value.items) == 2", True),
        ("1 / 0", False),
        ("value.score +", False),
        ("", False),
        ("__import__('os').system('true')", False),
        ("().__class__", False),
        ("text.format(1)", False),
        ("[x for x in text]", False),
        ("'a' * 1000000000", False),
        ("9 ** 9 ** 9", False),
        ("text.__class__", False),
        ("nothing", False),
        ("null is None and true", True),
        ("-value.score < 0", True),
        ("-text", False),
    ],
)
def test_expressions(expression: str, held: bool) -> None:
    assert evaluate(Condition(kind="expression", expression=expression), SCOPE) is held


def test_python_needs_the_worker() -> None:
    with pytest.raises(NeedsWorker):
        evaluate(Condition(kind="python", body="return True"), SCOPE)


@settings(max_examples=60, deadline=None)
@given(conditions, texts, plain)
def test_no_condition_raises(condition: Condition, text: str, value: object) -> None:
    scope = Scope(text, value, "text")
    if condition.kind == "python":
        return
    assert evaluate(condition, scope) in (True, False)
    assert describe(condition)
    assert explain(condition, scope)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", ".*a.*a.*a.*a.*b$"])
def test_patterns_do_not_hang(pattern: str) -> None:
    assert evaluate(rule(op="matches", value=pattern), Scope("a" * 50_000 + "!")) is False


@pytest.mark.parametrize(
    ("condition", "words", "reason"),
    [
        (rule(op="compares", path="value.score", value=8), "score ≥ 8", "score 6 is not ≥ 8"),
        (rule(value="approve"), "contains “approve”", "text does not contain “approve”"),
        (rule(op="equals", path="value.price", value="8"), "price is “8”", "price is “8”"),
        (rule(op="matches", value="^a"), "matches /^a/", "text does not match /^a/"),
        (rule(op="type_is", value="Review"), "type is Review", "type Review is Review"),
        (rule(op="compares", path="value.gone", value=8.0), "gone ≥ 8", "gone is missing"),
        (
            rule(op="and", rules=(Rule(value="a"), Rule(op="or", rules=(Rule(value="b"), Rule(value="c"))))),
            "contains “a” and (contains “b” or contains “c”)",
            "text contains “a” and text does not contain “b”",
        ),
        (rule(op="not", rules=(Rule(value="APPROVE"),)), "not contains “APPROVE”", "text contains “APPROVE”"),
        (None, "always", "always"),
        (Condition(), "no rule yet", "no rule yet"),
        (
            Condition(kind="expression", expression=" value.x\n > 1 "),
            "value.x > 1",
            "value.x > 1",
        ),
        (
            Condition(kind="expression", expression="len(text) > 999 or value.score >= 8"),
            "len(text) > 999 or value.score >= 8",
            "len(text) 19, value.score 6: not len(text) > 999 or value.score >= 8",
        ),
        (Condition(kind="python", body="\nreturn 1"), "python: return 1", "python: return 1"),
    ],
)
def test_words(condition: Condition | None, words: str, reason: str) -> None:
    if condition is not None and condition.rule is not None and condition.rule.op == "and":
        reason = explain(condition, SCOPE)
    assert describe(condition) == words
    assert explain(condition, SCOPE) == reason


def test_labels_are_short() -> None:
    assert len(describe(rule(op="or", rules=tuple(Rule(value=f"word {i}") for i in range(30))))) <= 48


@pytest.mark.parametrize(
    ("expression", "part", "column"),
    [
        ("score >= 8", "no name score", 1),
        ("text.uper()", "no uper", 1),
        ("value.a >= ", "cannot be read", 11),
        ("size(text)", "no function size", 1),
        ("2 ** 3", "operator", 0),
        ("f'{text}'", "part that conditions do not know", 1),
        ("x" * 3000, "longer than", 0),
        ("(" * 500, "cannot be read", None),
    ],
)
def test_expression_errors_say_where(expression: str, part: str, column: int | None) -> None:
    with pytest.raises(ExpressionError, match=part) as caught:
        parsed(expression)
    assert column is None or caught.value.column == column


def test_in_code_nothing_is_left_out() -> None:
    long = "Passing you on to technical support, who know more"
    rules = tuple(Rule(value=value) for value in ("invoice", "refund", "charged", long))
    words = f"contains “invoice” or contains “refund” or contains “charged” or contains “{long}”"
    assert written_out(rule(op="or", rules=rules)) == words
    assert written_out(rule(op="not", rules=(Rule(op="compares", path="value.x", value=long),))).endswith(f"“{long}”")
    expression = " and ".join(f"value.field_{i} == {i}" for i in range(9))
    assert written_out(Condition(kind="expression", expression=f"{expression}\n")) == expression


WRITTEN = [
    (Rule(op="contains", value='a "b"\n'), '"a \\"b\\"\\n" in text'),
    (Rule(op="contains", path="value.tags", value="new"), '"new" in value.tags'),
    (Rule(op="equals", path="value.done", value=True), "value.done == true"),
    (Rule(op="equals", path="value.done", value=None), "value.done == null"),
    (Rule(op="matches", value=r"\bno\b"), 'matches(text, "\\\\bno\\\\b")'),
    (Rule(op="compares", path="value.score", compare=">=", value=8), "value.score >= 8"),
    (Rule(op="type_is", value="Brief"), 'type == "Brief"'),
    (Rule(op="type_is", value=["Brief", "text"]), 'type in ["Brief", "text"]'),
    (
        Rule(op="and", rules=(Rule(op="not", rules=(Rule(value="x"),)), Rule(op="or", rules=(Rule(value="y"),) * 2))),
        '(not "x" in text) and ("y" in text or "y" in text)',
    ),
    (Rule(op="contains", value="x", ignore_case=True), ""),
    (Rule(op="contains", value=""), ""),
    (Rule(op="compares", path="value.score", compare="!=", value=8), ""),
    (Rule(op="equals", path="value.0", value=8), ""),
    (Rule(op="equals", path="value.class", value=8), ""),
    (Rule(op="and", rules=()), ""),
]


@pytest.mark.parametrize(("rule", "written"), WRITTEN)
def test_a_rule_is_written_as_an_expression_that_means_the_same(rule: Rule, written: str) -> None:
    assert as_expression(rule) == written
    texts = ("", 'a "b"\n', "no", "nothing", "x", "y")
    values: tuple[object, ...] = (None, {"tags": ["new"], "score": 8}, {"done": True, "score": "8"}, {"done": 1}, "new")
    for text, value, kind in itertools.product(texts, values, ("text", "Brief")):
        scope = Scope(text, value, kind)
        expression = Condition(kind="expression", expression=written)
        assert not written or evaluate(expression, scope) == evaluate(Condition(rule=rule), scope), scope
