"""Conditions of exported agent programs: the part that is translated to expressions of ours."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from studio.document.conditions import Condition
from studio.document.expressions import ExpressionError, parsed
from studio.importers.draft import Rule

_ALLOWED = (ast.Expression, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.Constant, ast.Subscript, ast.Name, ast.Attribute)
_ALLOWED_SIGNS = (ast.boolop, ast.cmpop, ast.Not, ast.USub, ast.expr_context, ast.List, ast.Tuple)


class Names:
    """What the names of a program stand for: results of nodes, other variables as expressions."""

    def __init__(self) -> None:
        self.results: dict[str, str] = {}
        self.aliases: dict[str, ast.expr] = {}
        self.used: dict[str, None] = {}
        """Shared variables that rules read; to be saved by the nodes that make them."""

    def rule(self, test: ast.expr, text: str) -> Rule:
        """The rule of a test: translated if it only compares results, state, input and literals."""
        before = dict(self.used)
        made = _Translation(self).visit(copy.deepcopy(test))
        if not isinstance(made, ast.expr) or not _is_plain(made):
            self.used = before
            return Rule(text, "python", "kept")
        code = ast.unparse(ast.fix_missing_locations(made))
        try:
            parsed(code)
        except ExpressionError:
            self.used = before
            return Rule(text, "python", "kept")
        return Rule(text, "python", "translated", Condition(kind="expression", expression=code))


def _is_plain(node: ast.AST) -> bool:
    return all(isinstance(part, (*_ALLOWED, *_ALLOWED_SIGNS)) for part in ast.walk(node))


def _state(key: str) -> ast.Subscript:
    return ast.Subscript(ast.Name("state", ast.Load()), ast.Constant(key), ast.Load())


class _Translation(ast.NodeTransformer):
    """``x_result["output_parsed"]["f"]`` -> ``state["x.output_parsed"]["f"]``, and so on; unknown names stay and are
    refused by the caller's check."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def _field(self, owner: ast.expr, field: str) -> ast.Subscript | None:
        if not isinstance(owner, ast.Name):
            return None
        node = self._names.results.get(owner.id)
        key = f"{node}.{field}" if node else f"workflow.{field}" if owner.id == "workflow" else None
        if key is None:
            return None
        self._names.used[key] = None
        return _state(key)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            if isinstance(node.value, ast.Name) and node.value.id == "state":
                return node
            found = self._field(node.value, key.value)
            if found is not None:
                return found
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        found = self._field(node.value, node.attr)
        if found is not None:
            return found
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        alias = self._names.aliases.get(node.id)
        if alias is not None:
            inner = dict(self._names.aliases)
            del self._names.aliases[node.id]  # an alias of itself stays a name
            try:
                made: ast.AST = self.visit(copy.deepcopy(alias))
                return made
            finally:
                self._names.aliases = inner
        return node


def literal(node: ast.expr | None) -> object:
    """The value of a literal; None for anything else."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def literals(node: ast.expr | None) -> Mapping[str, object]:
    """The literal items of a dict display with text keys."""
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: literal(value)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
