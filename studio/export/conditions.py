"""Conditions as plain Python functions: the same tree that the engine evaluates, written with names of ``support``."""

from __future__ import annotations

import ast

from studio.document.checks_conditions import reads_state
from studio.document.conditions import Condition, Rule, describe
from studio.export.source import Module, identifier, is_async, literal, region, string

SUPPORT = ".support"
_SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def function(module: Module, owner: str, condition: Condition) -> str:
    """Adds the predicate of an edge or case to a module; returns its name."""
    name = identifier(condition.name or f"when_{owner}", "when")
    module.need("typing", "Any")
    stateful = ", state: Any = None" if reads_state(condition) else ""
    if condition.kind == "python":
        block = _python(module, name, owner, condition)
    else:
        rules = condition.kind == "rules"
        expression = _rule(module, condition.rule) if rules else _expression(module, condition.expression)
        doc = describe(condition).replace("\\", "").replace('"', "'")
        head = f"# condition: {owner}\ndef {name}(message: Any{stateful}) -> bool:"
        block = f'{head}\n    """{doc}"""\n    return {expression}'
    module.blocks.append(block)
    return name


def _python(module: Module, name: str, owner: str, condition: Condition) -> str:
    module.need(SUPPORT, "at")
    waits = "async " if is_async(condition.body) else ""
    expression = _single_expression(condition.body)
    code = f"result = (\n{condition.body.strip()}\n)" if expression else condition.body
    await_ = "await " if waits else ""
    return (
        f"# condition: {owner}\n"
        f"{waits}def _{name}(data: Any, text: Any, value: Any, type: Any, state: Any = None) -> Any:\n"
        f"    result: Any = None\n{region(owner, code, 1)}\n    return result\n\n\n"
        f"{waits}def {name}(message: Any, state: Any = None) -> bool:\n"
        f'    text, value, type = at(message, "text"), at(message, "value"), at(message, "type")\n'
        f"    return bool({await_}_{name}(message, text, value, type, state))"
    )


def _single_expression(body: str) -> bool:
    try:
        statements = ast.parse(body).body
    except SyntaxError:
        return False
    return len(statements) == 1 and isinstance(statements[0], ast.Expr)


def _rule(module: Module, rule: Rule | None) -> str:
    if rule is None:
        return "False"
    match rule.op:
        case "always":
            return "True"
        case "and" | "or":
            parts = [_inner(module, r) for r in rule.rules]
            return f" {rule.op} ".join(parts) if parts else "False"
        case "not":
            return f"not {_inner(module, rule.rules[0])}" if rule.rules else "False"
        case "type_is":
            module.need(SUPPORT, "at")
            wanted = rule.value if isinstance(rule.value, list) else [rule.value]
            return f'at(message, "type") in {literal(tuple(wanted))}'
    return _test(module, rule)


def _inner(module: Module, rule: Rule) -> str:
    written = _rule(module, rule)
    return f"({written})" if rule.op in ("and", "or") and len(rule.rules) > 1 else written


def _test(module: Module, rule: Rule) -> str:
    module.need(SUPPORT, "at")
    state = ", state" if rule.path.split(".")[0] == "state" else ""
    found, wanted = f"at(message, {string(rule.path)}{state})", literal(rule.value)
    if rule.op == "matches":
        module.need(SUPPORT, "matches")
        return f"matches({found}, {wanted}{', ignore_case=True' if rule.ignore_case else ''})"
    if rule.ignore_case:
        module.need(SUPPORT, "folded")
        found, wanted = f"folded({found})", f"folded({wanted})"
    if rule.op == "compares":
        module.need(SUPPORT, "compares")
        return f"compares({found}, {string(rule.compare)}, {wanted})"
    module.need(SUPPORT, rule.op)
    return f"{rule.op}({found}, {wanted})"


class _Translated(ast.NodeTransformer):
    """An expression as Python on top of ``support``: missing fields are None, unlike types compare False."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        self._module.need(SUPPORT, name)
        return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(arguments), keywords=[])

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ("text", "value", "type"):
            return self._call("at", ast.Name(id="message", ctx=ast.Load()), ast.Constant(node.id))
        constants = {"true": True, "false": False, "null": None}
        return ast.Constant(constants[node.id]) if node.id in constants else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        target = self.visit(node.value)
        return self._call("field_of", target, ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        key = self.visit(node.slice)
        return self._call("item_of", self.visit(node.value), key)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(a) for a in node.args]
        if isinstance(node.func, ast.Attribute):
            method = ast.Constant(node.func.attr)
            return self._call("text_method", self.visit(node.func.value), method, *arguments)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return self._call({"len": "length", "lower": "lowered", "number": "number"}.get(name, name), *arguments)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        items = [self.visit(node.left), *(self.visit(c) for c in node.comparators)]
        tests = [self._one(op, items[i], items[i + 1]) for i, op in enumerate(node.ops)]
        return tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests)

    def _one(self, op: ast.cmpop, a: ast.expr, b: ast.expr) -> ast.expr:
        match op:
            case ast.In() | ast.NotIn():
                found: ast.expr = self._call("contains", b, a)
            case ast.Is() | ast.IsNot():
                return ast.Compare(left=a, ops=[op], comparators=[b])
            case ast.Eq() | ast.NotEq():
                found = self._call("equals", a, b)
            case _:
                return self._call("compares", a, ast.Constant(_SIGNS[type(op)]), b)
        return ast.UnaryOp(op=ast.Not(), operand=found) if isinstance(op, ast.NotIn | ast.NotEq) else found


def _expression(module: Module, expression: str) -> str:
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        return "False"
    written = ast.unparse(ast.fix_missing_locations(_Translated(module).visit(tree)))
    module.need(SUPPORT, "holds")
    return f"holds(lambda: {written})"
