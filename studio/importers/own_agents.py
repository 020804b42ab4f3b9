"""The function of an agent in one of our exports, read back."""

from __future__ import annotations

import ast
from typing import Any

from studio.document.model import AgentNode, Workflow
from studio.importers.sdk_rules import literal

_KNOWN = {"name", "description", "tools", "default_options"}


def agent_fields(block: str, node: AgentNode | None, workflow: Workflow) -> dict[str, Any] | None:
    """The fields of an agent from its block; None if the block holds more than an export writes."""
    call, constants = _agent_call(block)
    if call is None or len(call.args) != 2 or any(k.arg not in _KNOWN for k in call.keywords):
        return None
    given = {k.arg: k.value for k in call.keywords}
    instructions = _value(call.args[1], constants)
    description = _value(given["description"], constants) if "description" in given else ""
    options: Any = _options(given["default_options"]) if "default_options" in given else {}
    tools = _tools(given.get("tools"), workflow)
    known = isinstance(instructions, str) and isinstance(description, str) and isinstance(options, dict)
    if not known or tools is None or set(options) - {"model", "temperature", "max_tokens", "response_format", "store"}:
        return None
    schema = options.get("response_format")
    inner = schema.get("json_schema") if isinstance(schema, dict) else None
    fields = {
        "instructions": instructions,
        "description": description,
        "tools": tools,
        "model": options.get("model"),
        "temperature": options.get("temperature"),
        "max_tokens": options.get("max_tokens"),
        "output_schema": inner.get("schema") if isinstance(inner, dict) else None,
    }
    if node is None:
        return fields
    return {name: value for name, value in fields.items() if getattr(node, name) != value}


def _value(node: ast.expr, constants: dict[str, ast.expr]) -> Any:
    """A literal, or a constant of the block."""
    return literal(constants.get(node.id, node) if isinstance(node, ast.Name) else node)


def _options(node: ast.expr) -> Any:
    """``ChatOptions(…)``, or the dict that it is."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ChatOptions" and not node.args:
        return {k.arg: literal(k.value) for k in node.keywords if k.arg is not None}
    return literal(node)


def _agent_call(block: str) -> tuple[ast.Call | None, dict[str, ast.expr]]:
    """``Agent(client, "…", …)`` of a function that does nothing else, and the constants in front of it."""
    try:
        tree = ast.parse(block)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, {}
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    constants = {
        s.targets[0].id: s.value for s in tree.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
    }
    functions = (
        functions[-1:] if len(functions) == 2 and functions[0].name == f"{functions[1].name}_context" else functions
    )
    others = [s for s in tree.body if not isinstance(s, ast.FunctionDef | ast.Assign)]
    if others or len(functions) != 1:
        return None, {}
    body = [s for s in functions[0].body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return None, {}
    call = body[0].value
    return (call if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Agent" else None), constants


def _tools(given: ast.expr | None, workflow: Workflow) -> tuple[str, ...] | None:
    if given is None:
        return ()
    variables: dict[str, str] = {}
    for tool in workflow.tools:
        plain = "".join(c if c.isalnum() else "_" for c in tool.name)
        variables |= {plain: tool.name, f"{plain}_tool": tool.name}
    names = [getattr(item, "id", "") for item in given.elts] if isinstance(given, ast.List) else [""]
    return tuple(variables[n] for n in names) if all(n in variables for n in names) else None
