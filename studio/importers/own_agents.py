"""The function of an agent in one of our exports, read back."""

from __future__ import annotations

import ast
from typing import Any

from studio.document.model import AgentNode, Workflow
from studio.importers.sdk_rules import literal

_KNOWN = {"name", "description", "tools", "default_options"}


def agent_fields(block: str, node: AgentNode | None, workflow: Workflow) -> dict[str, Any] | None:
    """The fields of an agent from its block; None if the block holds more than an export writes."""
    call = _agent_call(block)
    if call is None or len(call.args) != 2 or any(k.arg not in _KNOWN for k in call.keywords):
        return None
    given = {k.arg: k.value for k in call.keywords}
    instructions = literal(call.args[1])
    description = literal(given["description"]) if "description" in given else ""
    options: Any = literal(given["default_options"]) if "default_options" in given else {}
    tools = _tools(given.get("tools"), workflow)
    known = isinstance(instructions, str) and isinstance(description, str) and isinstance(options, dict)
    if not known or tools is None or set(options) - {"model", "temperature", "max_tokens", "response_format"}:
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


def _agent_call(block: str) -> ast.Call | None:
    """``Agent(client, "…", …)`` of a function that does nothing else."""
    try:
        tree = ast.parse(block)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    if len(tree.body) != 1 or len(functions) != 1:
        return None
    body = [s for s in functions[0].body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return None
    call = body[0].value
    return call if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Agent" else None


def _tools(given: ast.expr | None, workflow: Workflow) -> tuple[str, ...] | None:
    if given is None:
        return ()
    variables: dict[str, str] = {}
    for tool in workflow.tools:
        plain = "".join(c if c.isalnum() else "_" for c in tool.name)
        variables |= {plain: tool.name, f"{plain}_tool": tool.name}
    names = [getattr(item, "id", "") for item in given.elts] if isinstance(given, ast.List) else [""]
    return tuple(variables[n] for n in names) if all(n in variables for n in names) else None
