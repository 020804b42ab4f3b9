"""Conditions as data, and the one evaluator for engine, truth table, breakpoints and watches."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue


class Rule(BaseModel):
    """One node of a rule tree. ``path`` is ``text``, ``value``, ``value.a.b`` or ``type``; a missing field is None."""

    model_config = ConfigDict(frozen=True, extra="allow")

    op: Literal["always", "contains", "equals", "matches", "compares", "type_is", "and", "or", "not"] = "contains"
    path: str = "text"
    compare: Literal["<", "<=", ">", ">=", "==", "!="] = ">="
    value: JsonValue = None
    ignore_case: bool = False
    rules: tuple[Rule, ...] = ()


class Condition(BaseModel):
    """A condition: a rule tree, an expression for the kept evaluator, or a Python predicate body for the worker.

    ``name`` is stable: made once from the id of the edge or case; it is part of the graph signature and of the code.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: Literal["rules", "expression", "python"] = "rules"
    name: str = ""
    rule: Rule | None = None
    expression: str = ""
    body: str = ""
