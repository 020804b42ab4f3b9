"""Conditions of our exports that were edited in the code: rules again where the code still says rules, else Python."""

from __future__ import annotations

import ast
import builtins
import copy
import re
import textwrap
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from studio.document.conditions import Condition, Rule

Def = ast.FunctionDef | ast.AsyncFunctionDef
_SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.NotEq: "!="}
_OWN = {"text_of": "text", "value_of": "value", "type_of": "type"}
"""What a predicate has by a name of its own here."""
_SCOPE = frozenset({"data", "text", "value", "type", "state"})


def edited_condition(name: str, module: str, support: str, old: Condition | None = None) -> Condition | None:
    """The condition that a function of a module says now; None if it asks for what it would not have here. ``support``
    is the text of the module of that name beside it; ``old``: what it was, whose name it keeps."""
    tree, beside = _parsed(module), _parsed(support)
    function = next((s for s in tree.body if isinstance(s, Def) and s.name == name), None) if tree else None
    if tree is None or function is None:
        return None
    kept = old.name if old is not None else ""
    body = [s for s in function.body if not _is_docstring(s)]
    returned = _returned(body)
    if returned is not None:
        rule = rule_of(returned)
        if rule is not None:
            return Condition(kind="rules", name=kept, rule=rule)
    code = _Python(module, tree, support, beside or ast.Module([], [])).body(function, body)
    return Condition(kind="python", name=kept, body=code) if code else None


def _returned(body: list[ast.stmt]) -> ast.expr | None:
    """What a body returns that only names, in front of it, what it asks for several times; those names put back."""
    named: dict[str, ast.expr] = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in named:
                named[name] = value
            case ast.Return(value=ast.expr() as value) if statement is body[-1]:
                found = _Unnamed(named).visit(copy.deepcopy(value))
                return found if isinstance(found, ast.expr) else None
            case _:
                return None
    return None


class _Unnamed(ast.NodeTransformer):
    """Puts values in place of their names."""

    def __init__(self, named: Mapping[str, ast.expr]) -> None:
        self._named = named

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._named.get(node.id, node))


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_docstring(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


# --------------------------------------------------------------------------------------------------- rules


def rule_of(node: ast.expr) -> Rule | None:
    """The rule that an expression of our exports says; None for any other."""
    match node:
        case ast.Constant(value=True):
            return Rule(op="always")
        case ast.BoolOp():
            rules = [rule_of(value) for value in node.values]
            known = tuple(rule for rule in rules if rule is not None)
            return (
                Rule(op="and" if isinstance(node.op, ast.And) else "or", rules=known)
                if len(known) == len(rules)
                else None
            )
        case ast.UnaryOp(op=ast.Not()):
            return _opposite(rule_of(node.operand))
        case ast.Compare(ops=[sign], comparators=[right]):
            return _compared(node.left, sign, right)
        case ast.Call(func=ast.Name(id=called)):
            return _called(called, node)
    return None


def _opposite(rule: Rule | None) -> Rule | None:
    return Rule(op="not", rules=(rule,)) if rule is not None else None


def _compared(left: ast.expr, sign: ast.cmpop, right: ast.expr) -> Rule | None:
    """Plain Python about a text, or about the type."""
    if isinstance(sign, ast.In | ast.NotIn):
        found, wanted = _folded(right), _text(left)
        if found is None or wanted is None or found[0] != "text":
            return None
        rule = Rule(op="contains", path="text", value=wanted, ignore_case=found[1])
        return _opposite(rule) if isinstance(sign, ast.NotIn) else rule
    found, wanted = _folded(left), _text(right)
    if found is None or wanted is None:
        return None
    path, folded = found
    if path == "type":
        rule = Rule(op="type_is", path="type", value=[wanted])
    elif path != "text":
        return None
    elif isinstance(sign, ast.Eq | ast.NotEq):
        rule = Rule(op="equals", path="text", value=wanted, ignore_case=folded)
    else:
        compare = _SIGNS.get(type(sign))
        return (
            Rule.model_validate(
                {"op": "compares", "path": "text", "compare": compare, "value": wanted, "ignore_case": folded}
            )
            if compare
            else None
        )
    return _opposite(rule) if isinstance(sign, ast.NotEq) else rule


def _called(name: str, node: ast.Call) -> Rule | None:
    """A test of ``support``: ``equals``, ``contains``, ``matches``, ``compares``."""
    found = _folded(node.args[0]) if node.args else None
    if found is None or name not in ("equals", "contains", "matches", "compares"):
        return None
    path, folded = found
    ignore = any(
        k.arg == "ignore_case" and isinstance(k.value, ast.Constant) and k.value.value is True for k in node.keywords
    )
    if len(node.keywords) > int(ignore) or len(node.args) != (3 if name == "compares" else 2):
        return None
    try:
        value: JsonValue = ast.literal_eval(node.args[-1])
    except (ValueError, SyntaxError):
        return None
    made: dict[str, JsonValue] = {"op": name, "path": path, "value": value, "ignore_case": ignore or folded}
    if name == "compares":
        made["compare"] = _text(node.args[1])
    if not isinstance(value, str | int | float | bool | list | dict | None) or made.get("compare", "==") not in (
        *_SIGNS.values(),
        "==",
    ):
        return None
    return Rule.model_validate(made)


def _folded(node: ast.expr) -> tuple[str, bool] | None:
    """The path of what is looked at, and whether case does not matter."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="casefold"), args=[]):
            path = _path(inner)
            return (path, True) if path else None
        case ast.Call(func=ast.Name(id="folded"), args=[inner]):
            path = _path(inner)
            return (path, True) if path else None
    path = _path(node)
    return (path, False) if path else None


def _path(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id="state"):
            return "state"
        case ast.Call(func=ast.Name(id=called), args=[ast.Name(id="message")], keywords=[]) if called in _OWN:
            return _OWN[called]
        case ast.Call(func=ast.Name(id="field_of"), args=[inner, ast.Constant(value=str() as rest)], keywords=[]):
            root = _path(inner)
            return f"{root}.{rest}" if root else None
    return None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


# -------------------------------------------------------------------------------------------------- Python


class _Python:
    """The body of a predicate with what it needs of its module and of ``support`` above it."""

    def __init__(self, module: str, tree: ast.Module, support: str, beside: ast.Module) -> None:
        self._module = module
        self._known: dict[str, tuple[str, ast.stmt]] = {}
        for text, found in ((support, beside), (module, tree)):
            for statement in found.body:
                if isinstance(statement, ast.ImportFrom) and statement.module == "support":
                    continue  # what it is stands there
                self._known.update(dict.fromkeys(_named(statement), (text, statement)))

    def body(self, function: Def, statements: list[ast.stmt]) -> str | None:
        """The lines of a body; None if a name in it means something that is not here."""
        if not statements:
            return None
        given = function.args.args[0].arg if function.args.args else "message"
        lines = self._module.split("\n")[statements[0].lineno - 1 : function.end_lineno]
        asked = re.compile(rf"\b({'|'.join(_OWN)})\({given}\)")
        code = asked.sub(lambda found: _OWN[found[1]], textwrap.dedent("\n".join(lines)))
        code = re.sub(r"^[ \t]*(text|value|type) = \1\n", "", code, flags=re.MULTILINE)  # it has them by these names
        tree = _parsed(f"async def body({given}):\n{textwrap.indent(code, '    ')}")
        needed = self._needed(tree) if tree is not None else None
        if tree is None or needed is None:
            return None
        start = f"{given} = data\n" if given != "data" and given in _names(tree) else ""
        return "\n\n".join([*needed, start + code.rstrip()])

    def _needed(self, tree: ast.AST) -> list[str] | None:
        """The definitions that code asks for, what they ask for first."""
        found: dict[str, str] = {}
        return list(dict.fromkeys(found.values())) if self._collected(tree, found, set()) else None

    def _collected(self, tree: ast.AST, found: dict[str, str], seen: set[str]) -> bool:
        own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
        own |= {name for n in ast.walk(tree) if isinstance(n, ast.stmt) for name in _named(n)}
        for name in sorted(_names(tree) - own - _SCOPE - set(dir(builtins)) - seen):
            text, statement = self._known.get(name, ("", None))
            if statement is None or not self._takes(statement):
                return False
            seen.add(name)
            if not self._collected(statement, found, seen):
                return False
            found[name] = ast.get_source_segment(text, statement) or ""
        return True

    @staticmethod
    def _takes(statement: ast.stmt) -> bool:
        """Whether a definition can stand in a predicate: no part of the package, nothing of the framework."""
        if isinstance(statement, ast.ImportFrom):
            return statement.level == 0 and (statement.module or "").partition(".")[0] != "agent_framework"
        return not isinstance(statement, ast.Import) or all(a.name != "agent_framework" for a in statement.names)


def _names(tree: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _named(statement: ast.stmt) -> Iterable[str]:
    """The names that a statement defines."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        case ast.Assign():
            return [target.id for target in statement.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []
