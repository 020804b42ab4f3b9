"""Functions and classes of an Agent Framework program as nodes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from studio.importers import py_types
from studio.importers.draft import Draft, DraftNode
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import Reading, decorators
from studio.importers.py_values import Class, Instance, Scope, Value, string
from studio.importers.python_source import PythonSource
from studio.importers.tidy import tidied

Def = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Types:
    """What a handler takes, sends and yields: as written in the program, and as names of the document."""

    accepts: list[str] = field(default_factory=list)
    sends: list[str] = field(default_factory=list)
    yields: list[str] = field(default_factory=list)
    accepts_names: list[str] = field(default_factory=list)
    sends_names: list[str] = field(default_factory=list)
    yields_names: list[str] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        yields = _joined(self.yields_names)
        return {
            "input": " | ".join(self.accepts) or None,
            "sends_types": self.sends or None,
            "yields_types": self.yields or None,
            "accepts": _joined(self.accepts_names) or "any",
            "sends": _joined(self.sends_names) or "nothing",
            "yields": yields or None,
        }


_Methods = list[tuple[Def, ast.Call | None, Class]]


def _joined(names: list[str]) -> str:
    parts = [part for name in names for part in name.split(" | ") if part != "nothing"]
    return "any" if "any" in parts else " | ".join(dict.fromkeys(parts))


def types_of(function: Def, call: ast.Call | None, scope: Scope, draft: Draft) -> Types:
    """From the annotations, or from ``input=``, ``output=``, ``workflow_output=`` of the decorator."""
    found = Types()
    given = {k.arg: k.value for k in (call.keywords if call else ()) if k.arg}
    parameters = [a for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")]
    context = next((a.annotation for a in parameters if _is_context(a.annotation)), None)
    sent, yielded = _context_types(context)
    first = parameters[0].annotation if parameters and not _is_context(parameters[0].annotation) else None
    accepted = given.get("input", first)
    sent, yielded = given.get("output", sent), given.get("workflow_output", yielded)
    found.accepts, found.accepts_names = py_types.written(accepted), [py_types.names(accepted, scope, draft)]
    if accepted is None:
        found.accepts_names = ["any"]
    found.sends, found.sends_names = py_types.written(sent), [py_types.names(sent, scope, draft)]
    found.yields, found.yields_names = py_types.written(yielded), [py_types.names(yielded, scope, draft)]
    return found


def _is_context(annotation: ast.expr | None) -> bool:
    return annotation is not None and "WorkflowContext" in ast.unparse(annotation)


def _context_types(annotation: ast.expr | None) -> tuple[ast.expr | None, ast.expr | None]:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None, None
    if not isinstance(annotation, ast.Subscript):
        return None, None
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return parts[0], parts[1] if len(parts) > 1 else None


def function_node(
    node_id: str, function: Def, call: ast.Call | None, scope: Scope, kept: KeptCode, draft: Draft
) -> DraftNode:
    """A decorated function."""
    data = types_of(function, call, scope, draft).data()
    data["body"] = kept.body(function)
    note_state(function, draft)
    doc = ast.get_docstring(function)
    if doc:
        data["description"] = doc
    return DraftNode(node_id, "function", node_id, data, line=function.lineno)


def note_state(code: ast.AST, draft: Draft) -> None:
    """Declares the shared variables that code reads or writes by literal keys."""
    for part in ast.walk(code):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.args:
            key = part.args[0]
            names = ("get_state", "set_state", "get_shared_state", "set_shared_state")
            if part.func.attr in names and isinstance(key, ast.Constant) and isinstance(key.value, str):
                draft.variable(key.value)


# ---------------------------------------------------------------------------------------------------- classes


def lineage(cls: Class) -> list[Class]:
    """The class and its bases in the program, nearest first."""
    found = [cls]
    for base in cls.node.bases if isinstance(cls.node, ast.ClassDef) else ():
        name = base.value if isinstance(base, ast.Subscript) else base
        parent = cls.scope.find(name.id) if isinstance(name, ast.Name) and cls.scope else None
        if isinstance(parent, Class) and parent is not cls and len(found) < 20:
            found += lineage(parent)
    return found


def is_executor(cls: Class) -> bool:
    """Whether a class has handlers."""
    return bool(_methods(cls, "handler"))


def _methods(cls: Class, decorator: str) -> list[tuple[Def, ast.Call | None, Class]]:
    found: dict[str, tuple[Def, ast.Call | None, Class]] = {}
    for part in lineage(cls):
        for statement in part.node.body if isinstance(part.node, ast.ClassDef) else ():
            if isinstance(statement, Def) and decorator in decorators(statement) and statement.name not in found:
                found[statement.name] = (statement, decorators(statement)[decorator], part)
    return list(found.values())


def class_id(made: Instance, reading: Reading) -> str:
    """The id of an executor: its argument, what ``__init__`` gives to ``super().__init__``, or its class's default."""
    assert made.cls is not None
    return _id_of(made.cls, made.args, made.kwargs, reading, 0)


def _id_of(cls: Class, args: list[Value], kwargs: dict[str, Value], reading: Reading, depth: int) -> str:
    init = (
        next((s for s in cls.node.body if isinstance(s, Def) and s.name == "__init__"), None)
        if isinstance(cls.node, ast.ClassDef)
        else None
    )
    if init is None or depth > 10:
        parents = lineage(cls)[1:2]
        if parents and depth <= 10:
            return _id_of(parents[0], args, kwargs, reading, depth + 1)
        return string(kwargs.get("id")) or (string(args[0]) if args else "")
    scope = Scope(parent=cls.scope, source=cls.source)
    given = ast.arguments(**{**{f: getattr(init.args, f) for f in init.args._fields}, "args": init.args.args[1:]})
    reading.parameters(given, args, kwargs, scope)
    for part in ast.walk(init):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "__init__":
            inner_args, inner_kwargs = reading.arguments(part, scope)
            parents = lineage(cls)[1:2]
            if parents:
                return _id_of(parents[0], inner_args, inner_kwargs, reading, depth + 1)
            return string(inner_kwargs.get("id")) or (string(inner_args[0]) if inner_args else "")
    return string(kwargs.get("id"))


def _types_of_class(handlers: _Methods, answers: _Methods, scope: Scope, draft: Draft) -> Types:
    """What a class takes in its handlers, and what it sends and yields in all of its methods."""
    types = Types()
    for function, call, _ in [*handlers, *answers]:
        one = types_of(function, call, scope, draft)
        if (function, call) in [(f, c) for f, c, _ in handlers]:
            types.accepts += one.accepts
            types.accepts_names += one.accepts_names
        types.sends += [s for s in one.sends if s not in types.sends]
        types.yields += [y for y in one.yields if y not in types.yields]
        types.sends_names += one.sends_names
        types.yields_names += one.yields_names
        note_state(function, draft)
    return types


def class_node(node_id: str, made: Instance, kept: KeptCode, source: PythonSource, draft: Draft) -> DraftNode:
    """An instance of an executor class: a function, or a question to a person where it does little else."""
    cls = made.cls
    assert cls is not None
    handlers, answers = _methods(cls, "handler"), _methods(cls, "response_handler")
    scope = cls.scope or Scope()
    data = {**_types_of_class(handlers, answers, scope, draft).data(), "class": cls.name}
    asked = [c for f, _, _ in handlers for c in _calls(f, "request_info")]
    if asked:
        data.update(asks=_asked(asked[0]), answer=_answer(asked[0]))
    agents = _agents_used(cls)
    if agents:
        data["uses_agents"] = agents
    owner = cls.source or source
    node = DraftNode(
        node_id,
        "function",
        node_id,
        data,
        line=made.line,
        source=owner.code(cls.node) if cls.node else "",
        lang="python",
    )
    plain_sends = any(_calls(f, "send_message") or _calls(f, "yield_output") for f, _, _ in handlers)
    if asked and answers and len(handlers) == 1 and not plain_sends:
        node.kind = "human_input"
        data.update(answer_type=_answer_type(data.get("answer"), scope, draft))
        for name in ("accepts", "sends", "yields"):
            data.pop(name, None)
        text = "Asks a person and sends the answer on; the code of the class is kept with the node."
        draft.note("code_kept", node_id, text, line=node.line)
        return node
    _class_body(node, handlers, cls, kept, draft)
    return node


def _class_body(node: DraftNode, handlers: _Methods, cls: Class, kept: KeptCode, draft: Draft) -> None:
    used = {p.attr for f, _, _ in handlers for p in ast.walk(f) if isinstance(p, ast.Attribute) and _is_self(p.value)}
    if len(handlers) == 1 and used <= {"id"} and not node.data.get("asks"):
        first = ""
        if used:
            first = tidied(f"from types import SimpleNamespace\n\nself = SimpleNamespace(id={node.id!r})") + "\n"
        node.data["body"] = kept.body(handlers[0][0], first)
        return
    node.data["missing"] = (
        f"The class {cls.name} keeps a state of its own or has several handlers: rewrite it as a function."
    )
    text = f"The code of the class {cls.name} is kept with the node; it has to be rewritten before it can run here."
    draft.note("code_kept", node.id, text, "warn", node.line)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _calls(function: Def, method: str) -> list[ast.Call]:
    return [
        part
        for part in ast.walk(function)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == method
    ]


def _asked(call: ast.Call) -> str:
    given = {k.arg: k.value for k in call.keywords}
    request = call.args[0] if call.args else given.get("request_data")
    if isinstance(request, ast.Call):
        return ast.unparse(request.func)
    return ast.unparse(request) if request is not None else ""


def _answer(call: ast.Call) -> str:
    given = {k.arg: k.value for k in call.keywords}
    answer = call.args[1] if len(call.args) > 1 else given.get("response_type")
    return ast.unparse(answer) if answer is not None else ""


def _answer_type(answer: object, scope: Scope, draft: Draft) -> str:
    try:
        return py_types.names(ast.parse(str(answer), mode="eval").body, scope, draft)
    except SyntaxError:
        return "any"


def _agents_used(cls: Class) -> list[str]:
    found = [
        part.func.value.attr
        for part in ast.walk(cls.node or ast.Pass())
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in ("run", "run_stream")
        and isinstance(part.func.value, ast.Attribute)
        and _is_self(part.func.value.value)
    ]
    return list(dict.fromkeys(found))
