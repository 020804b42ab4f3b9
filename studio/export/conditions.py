"""Conditions as plain Python functions: the same tree that the engine evaluates, written with names of ``support``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from pydantic import JsonValue

from studio.document.conditions import Condition, Rule
from studio.document.model import Workflow
from studio.document.wording import written_out
from studio.export import pretty
from studio.export.pretty import Bracket, Joined
from studio.export.source import SUPPORT, Module, docstring, is_async, literal, region
from studio.export.user_code import names_in, result_line, written_in

_SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def function(
    module: Module, workflow: Workflow, owner: str, name: str, condition: Condition, stateful: bool = False
) -> None:
    """Adds the predicate of an edge or case to a module; ``stateful``: its junction hands it shared state too."""
    module.need("typing", "Any")
    parameters = ["message: Any", *(["state: Any"] if stateful else [])]
    if condition.kind == "python":
        module.blocks.append(_python(module, workflow, name, owner, condition, parameters))
        return
    rules = condition.kind == "rules"
    expression = _rule(module, condition.rule) if rules else _expression(module, condition.expression)
    doc = docstring(written_out(condition), 1)
    head = f"# condition: {owner}\n{pretty.signature(f'def {name}', parameters, 'bool')}"
    before, expression = _named_once(expression)
    module.blocks.append(f"{head}\n{doc}\n{before}{pretty.statement(expression, 1, 'return ')}")


_REPEATED = {
    "text_of(message).casefold()": "text",
    "text_of(message)": "text",
    "value_of(message)": "value",
    "type_of(message)": "kind",
}
"""What a condition may ask for several times, and its name then."""


def _named_once(code: str | Bracket | Joined) -> tuple[str, str | Bracket | Joined]:
    """The lines that name what the expression asks for several times, and the expression with the names."""
    lines = ""
    for asked, name in _REPEATED.items():
        whole = pretty.flat(code)
        number = whole.count(asked)
        if number > 1 and number == _outside_strings(whole).count(asked) and f"    {name} = " not in lines:
            lines += f"    {name} = {asked}\n"
            code = pretty.plain(pretty.replaced(code, asked, name))
    return lines, code


def waits(condition: Condition) -> bool:
    """Whether its function is a coroutine."""
    return condition.kind == "python" and is_async(condition.body)


_ROOTS = {"data": "{0}", "text": "text_of({0})", "value": "value_of({0})", "type": "type_of({0})", "state": "state"}
"""Names that a predicate may use, and what they are."""


def _python(
    module: Module, workflow: Workflow, name: str, owner: str, condition: Condition, parameters: list[str]
) -> str:
    """The body of a predicate, as written, inside of a function that gives it its names."""
    expression = _single_expression(condition.body)
    body = condition.body.strip()
    lines_of_result = f"result = (\n{body}\n)" if "\n" in body else f"result = {body}"
    code = lines_of_result if expression else condition.body
    code = written_in(module, workflow, code)
    used = names_in(condition.body)
    lines = [f"# condition: {owner}"]
    returns = _has_return(condition.body)
    head = f"{'async ' if waits(condition) else ''}def {name}"
    lines.append(pretty.signature(head, parameters, "Any" if returns else "bool"))
    for given, value in _ROOTS.items():
        if given in used and (given != "state" or len(parameters) == 1):
            function = value.partition("(")[0]
            if function.endswith("_of"):
                module.need(SUPPORT, function)
            lines.append(f"    {given} = {value.format('message') if given != 'state' else 'None'}")
    lines += [result_line(code) + region(owner, code, 1), f"    return {'result' if returns else 'bool(result)'}"]
    return "\n".join(lines)


def _has_return(body: str) -> bool:
    """Whether statements leave by ``return``."""
    try:
        return any(isinstance(node, ast.Return) for node in ast.walk(ast.parse(body)))
    except SyntaxError:
        return False


def _single_expression(body: str) -> bool:
    try:
        statements = ast.parse(body).body
    except SyntaxError:
        return False
    return len(statements) == 1 and isinstance(statements[0], ast.Expr)


def _rule(module: Module, rule: Rule | None) -> str | Bracket | Joined:
    if rule is None:
        return "False"
    match rule.op:
        case "always":
            return "True"
        case "and" | "or":
            parts = [_inner(module, r) for r in rule.rules]
            return Joined(rule.op, parts) if len(parts) > 1 else parts[0] if parts else "False"
        case "not":
            return _not(_inner(module, rule.rules[0])) if rule.rules else "False"
        case "type_is":
            return _type_is(module, [*rule.value] if isinstance(rule.value, list) else [rule.value])
    return _test(module, rule)


def _type_is(module: Module, wanted: Sequence[JsonValue]) -> Bracket | Joined:
    module.need(SUPPORT, "type_of")
    if len(wanted) == 1:
        return Joined("==", ["type_of(message)", literal(wanted[0])])
    return Bracket("type_of(message) in (", [pretty.value(w) for w in wanted], ")")


_OPPOSITE = {"in": "not in", "==": "!=", "!=": "=="}


def _not(code: str | Bracket | Joined) -> str | Bracket | Joined:
    match code:
        case str():
            return f"not ({code})" if " " in _outside_strings(code) and not code.endswith(")") else f"not {code}"
        case Bracket(opening, items, closing):
            return Bracket(f"not {opening}", items, closing)
        case Joined(word, parts) if word in _OPPOSITE:
            return Joined(_OPPOSITE[word], parts)
    return Bracket("not (", [Joined(code.word, code.parts)], ")", trailing=False)


def _outside_strings(code: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"', "s", code)


def _inner(module: Module, rule: Rule) -> str | Bracket | Joined:
    written = _rule(module, rule)
    grouped = isinstance(written, Joined) and written.word in ("and", "or")
    return Joined(written.word, written.parts, inner=True) if grouped and isinstance(written, Joined) else written


def _test(module: Module, rule: Rule) -> str | Bracket | Joined:
    found = _found(module, rule.path)
    if rule.path == "text" and isinstance(rule.value, str):
        written = _on_text(found, rule)
        if written is not None:
            return written
    wanted = pretty.value(rule.value)
    if rule.op in ("matches", "contains"):
        module.need(SUPPORT, rule.op)
        return Bracket(f"{rule.op}(", [found, wanted, *(["ignore_case=True"] if rule.ignore_case else [])])
    if rule.ignore_case and isinstance(rule.value, str):
        module.need(SUPPORT, "folded")
        found, wanted = f"folded({found})", pretty.value(rule.value.casefold())
    if rule.op == "compares":
        module.need(SUPPORT, "compares")
        return Bracket("compares(", [found, pretty.string(rule.compare), wanted])
    module.need(SUPPORT, "equals")
    return Bracket("equals(", [found, wanted])


def _on_text(found: str, rule: Rule) -> str | Joined | None:
    """The plain Python of a test of a text with a text; None where it needs more."""
    assert isinstance(rule.value, str)
    text = f"{found}.casefold()" if rule.ignore_case else found
    wanted = pretty.string(rule.value.casefold() if rule.ignore_case else rule.value)
    if rule.op == "contains":
        return Joined("in", [wanted, text]) if rule.value else "False"
    if rule.op == "equals":
        return Joined("==", [text, wanted])
    return Joined(rule.compare, [text, wanted]) if rule.op == "compares" else None


def _found(module: Module, path: str) -> str:
    """What a rule looks at, as code."""
    first, _, rest = path.partition(".")
    if first not in ("text", "value", "type", "state"):
        return "None"
    if first != "state":
        module.need(SUPPORT, f"{first}_of")
    root = "state" if first == "state" else f"{first}_of(message)"
    if not rest:
        return root
    module.need(SUPPORT, "field_of")
    return f"field_of({root}, {pretty.string(rest)})"


class _Translated:
    """An expression as Python on top of ``support``: missing fields are None, unlike types compare False."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def _call(self, name: str, *arguments: str) -> str:
        self._module.need(SUPPORT, name)
        return f"{name}({', '.join(arguments)})"

    def code(self, node: ast.expr, inner: bool = False) -> str:
        """The code of a node; ``inner``: as an operand, in brackets if it has operators itself."""
        match node:
            case ast.Constant():
                return literal(node.value)
            case ast.Name():
                return self._name(node.id)
            case ast.Attribute():
                return self._field(node)
            case ast.Subscript():
                return self._call("item_of", self.code(node.value), self.code(node.slice))
            case ast.Call():
                return self._called(node)
            case ast.List() | ast.Tuple():
                return "[" + ", ".join(self.code(item) for item in node.elts) + "]"
        written = self._operators(node)
        called = isinstance(node, ast.Compare) and len(node.ops) == 1 and written.startswith(_TESTS)
        return f"({written})" if inner and not called else written

    def operand(self, node: ast.expr) -> str:
        """A part of ``and``, ``or``, ``not``."""
        return self.code(node, isinstance(node, ast.BoolOp | ast.IfExp))

    def _operators(self, node: ast.expr) -> str:
        match node:
            case ast.BoolOp():
                word = " and " if isinstance(node.op, ast.And) else " or "
                return word.join(self.operand(value) for value in node.values)
            case ast.UnaryOp(op=ast.Not()):
                return f"not {self.operand(node.operand)}"
            case ast.UnaryOp():
                return f"-{self.code(node.operand, True)}"
            case ast.BinOp():
                return f"{self.code(node.left, True)} {_BINARY[type(node.op)]} {self.code(node.right, True)}"
            case ast.IfExp():
                parts = (self.code(part, True) for part in (node.body, node.test, node.orelse))
                return "{} if {} else {}".format(*parts)
            case ast.Compare():
                return self._compared(node)
        return "None"

    def _name(self, name: str) -> str:
        if name in ("text", "value", "type"):
            return self._call(f"{name}_of", "message")
        return {"true": "True", "false": "False", "null": "None"}.get(name, name)

    def _field(self, node: ast.Attribute) -> str:
        path = [node.attr]
        while isinstance(node.value, ast.Attribute):
            node = node.value
            path.insert(0, node.attr)
        return self._call("field_of", self.code(node.value), pretty.string(".".join(path)))

    def _called(self, node: ast.Call) -> str:
        arguments = [self.code(a) for a in node.args]
        if isinstance(node.func, ast.Attribute):
            target, method = node.func.value, node.func.attr
            if isinstance(target, ast.Name) and target.id == "text":
                return f"{self.code(target)}.{method}({', '.join(arguments)})"
            return self._call("text_method", self.code(target), pretty.string(method), *arguments)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "len" and node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == "text":
            return f"len({arguments[0]})"
        return self._call({"len": "length", "lower": "lowered", "number": "number"}.get(name, name), *arguments)

    def _compared(self, node: ast.Compare) -> str:
        items = [node.left, *node.comparators]
        tests = [self._one(op, items[i], items[i + 1]) for i, op in enumerate(node.ops)]
        return " and ".join(tests)

    def _one(self, op: ast.cmpop, a: ast.expr, b: ast.expr) -> str:
        left, right = self.code(a, True), self.code(b, True)
        if isinstance(op, ast.Is | ast.IsNot):
            return f"{left} {'is' if isinstance(op, ast.Is) else 'is not'} {right}"
        negated = "not " if isinstance(op, ast.NotIn | ast.NotEq) else ""
        if isinstance(op, ast.In | ast.NotIn):
            if isinstance(a, ast.Constant) and isinstance(a.value, str) and a.value and _is_text(b):
                return f"{left} {negated}in {right}"
            return negated + self._call("contains", right, left)
        if isinstance(op, ast.Eq | ast.NotEq):
            if isinstance(b, ast.Constant) and isinstance(b.value, str) and _is_text(a):
                return f"{left} {'!=' if negated else '=='} {right}"
            return negated + self._call("equals", left, right)
        if _is_count(a) and isinstance(b, ast.Constant) and isinstance(b.value, int | float):
            return f"{left} {_SIGNS[type(op)]} {right}"
        return self._call("compares", left, pretty.string(_SIGNS[type(op)]), right)


_TESTS = ("contains(", "equals(", "compares(")

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "text"


def _is_count(node: ast.expr) -> bool:
    """``len(text)``."""
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return called == "len" and isinstance(node, ast.Call) and len(node.args) == 1 and _is_text(node.args[0])


def _expression(module: Module, expression: str) -> str | Bracket | Joined:
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError:
        return "False"
    written: str | Joined = _Translated(module).code(tree)
    if isinstance(tree, ast.BoolOp):
        word = "and" if isinstance(tree.op, ast.And) else "or"
        written = Joined(word, [_Translated(module).operand(value) for value in tree.values])
    if _is_safe(tree):
        return written
    module.need(SUPPORT, "holds")
    return Bracket("holds(", [pretty.Pair("lambda: ", written)])


def _is_safe(tree: ast.expr) -> bool:
    """Whether an expression is a truth value and cannot fail: it compares, and neither calculates nor indexes."""
    unsafe = (ast.BinOp, ast.Subscript, ast.IfExp, ast.USub)
    if any(isinstance(node, unsafe) for node in ast.walk(tree)):
        return False
    return _is_truth(tree) and all(_is_safe_call(n) for n in ast.walk(tree) if isinstance(n, ast.Call))


def _is_truth(tree: ast.expr) -> bool:
    match tree:
        case ast.BoolOp():
            return all(_is_truth(value) for value in tree.values)
        case ast.UnaryOp(op=ast.Not()) | ast.Compare():
            return True
        case ast.Call(func=ast.Name(id="contains" | "matches")):
            return True
    return False


def _is_safe_call(node: ast.Call) -> bool:
    """A call with as many arguments as its function takes, of a function that does not fail."""
    takes = {"contains": 2, "matches": 2, "len": 1, "number": 1, "lower": 1}
    if isinstance(node.func, ast.Name):
        return not node.keywords and takes.get(node.func.id) == len(node.args)
    no_arguments = isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper", "strip", "casefold")
    return no_arguments and not node.args and not node.keywords
