"""Agents of a program: instructions, model, options, tools."""

from __future__ import annotations

import ast
from typing import Any

from studio.importers import py_types
from studio.importers.draft import Draft
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import decorators
from studio.importers.py_values import (
    Class,
    Const,
    Function,
    Imported,
    Instance,
    Items,
    Mapping_,
    Value,
    constant,
    string,
)
from studio.importers.python_source import PythonSource
from studio.importers.secrets import is_literal, is_secret_name

AGENTS = ("Agent", "ChatAgent", "create_agent", "as_agent")
_OPTIONS = (
    "temperature",
    "max_tokens",
    "top_p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "tool_choice",
    "store",
)
_APPROVALS = {"always_require": "always"}


def is_agent(value: Value | None) -> bool:
    """Whether a value is an agent of the framework."""
    return isinstance(value, Instance) and value.cls is None and (value.of in AGENTS or value.of.endswith("Agent"))


class Agents:
    """Makes the properties of agent nodes; keeps the code of their tools."""

    def __init__(self, draft: Draft, kept: KeptCode, source: PythonSource) -> None:
        self._draft = draft
        self._kept = kept
        self._source = source

    def name(self, agent: Instance) -> str:
        """The name of an agent, if the program says it."""
        return string(agent.kwargs.get("name")) or string(agent.kwargs.get("id"))

    def data(self, agent: Instance, node_id: str) -> dict[str, Any]:
        """The properties by the names of the specification."""
        client = agent.owner or agent.kwargs.get("client") or agent.kwargs.get("chat_client")
        rest = list(agent.args)
        if client is None and rest:
            client, *rest = rest
        self.secrets(client, node_id)
        given = agent.kwargs.get("instructions") or (rest[0] if rest and agent.owner is None else None)
        data: dict[str, Any] = {
            "agent": self.name(agent) or None,
            "description": string(agent.kwargs.get("description")) or None,
        }
        data.update(self._instructions(given, node_id, agent.line))
        options = self._options(agent)
        data["model"] = options.pop("model", None) or self.model(client)
        data["options"] = options or None
        data["tools"] = self.tools(agent.kwargs.get("tools"), node_id, agent.line) or None
        schema = agent.kwargs.get("response_format") or self._option(agent, "response_format")
        if isinstance(schema, Class):
            data["output_schema_name"], data["output_schema"] = schema.name, py_types.schema(schema)
        self._extensions(agent, data)
        return data

    def _instructions(self, given: Value | None, node_id: str, line: int | None) -> dict[str, Any]:
        known = constant(given)
        if isinstance(known, list) and all(isinstance(part, str) for part in known):
            known = "\n".join(known)
        if isinstance(known, str):
            return {"instructions": known}
        if given is None or isinstance(given, Const):
            return {}
        text = self._source.segment(given.node) if given.node is not None else given.name
        self._draft.note("expression_kept", node_id, f"The instructions are made by code: {text}", line=line)
        return {"instructions_code": text}

    def _option(self, agent: Instance, name: str) -> Value | None:
        given = agent.kwargs.get("default_options") or agent.kwargs.get("options")
        return given.items.get(name) if isinstance(given, Mapping_) else None

    def _options(self, agent: Instance) -> dict[str, Any]:
        found: dict[str, Any] = {}
        given = agent.kwargs.get("default_options") or agent.kwargs.get("options")
        if isinstance(given, Mapping_):
            found.update({k: constant(v) for k, v in given.items.items() if k != "response_format"})
        for name in (*_OPTIONS, "model", "model_id"):
            if name in agent.kwargs and constant(agent.kwargs[name]) is not None:
                found["model" if name == "model_id" else name] = constant(agent.kwargs[name])
        return {k: v for k, v in found.items() if v is not None}

    def model(self, client: Value | None) -> str | None:
        """The model that a client was made for."""
        if not isinstance(client, Instance):
            return None
        for name in ("model", "model_id", "deployment_name", "ai_model_id", "model_deployment_name"):
            if string(client.kwargs.get(name)):
                return string(client.kwargs.get(name))
        return string(client.args[0]) or None if client.args else None

    def secrets(self, client: Value | None, node_id: str) -> None:
        """Reports literal keys given to a client, once, under the name of its variable."""
        if not isinstance(client, Instance):
            return
        for name, value in client.kwargs.items():
            if is_secret_name(name) and is_literal(string(value)):
                self._draft.secret(client.name or node_id, string(value), client.line)
            headers = constant(value) if isinstance(value, Mapping_) else None
            for key, inner in (headers or {}).items():
                if is_secret_name(str(key)) and is_literal(inner):
                    self._draft.secret(client.name or node_id, inner, client.line)

    # -------------------------------------------------------------------------------------------------- tools

    def tools(self, given: Value | None, node_id: str, line: int | None) -> list[str]:
        """The names of the tools; functions are kept, everything else is declared."""
        items = (
            given.items if isinstance(given, Items) else [] if given is None or constant(given) is not None else [given]
        )
        if isinstance(given, Const):
            items = []
        return [name for item in items if (name := self._tool(item, node_id, line))]

    def _tool(self, item: Value, node_id: str, line: int | None) -> str:
        if isinstance(item, Function) and isinstance(item.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return self._function(item, item.node)
        if isinstance(item, Instance) and item.of == "FunctionTool":
            function = item.kwargs.get("func")
            if isinstance(function, Function) and isinstance(function.node, ast.FunctionDef | ast.AsyncFunctionDef):
                return self._function(function, function.node, string(item.kwargs.get("name")))
        name = ""
        if isinstance(item, Instance):
            name = string(item.kwargs.get("name")) or item.of
        elif isinstance(item, Imported):
            name = item.last
        name = name or item.name or "tool"
        name = "".join(c if c.isalnum() or c in "_-" else "_" for c in name)[:64]
        self._draft.note(
            "tool_unmapped", node_id, f"The tool {name} is not available here; it is kept as a declaration.", line=line
        )
        self._draft.tools.setdefault(name, {"name": name, "approval": "caller"})
        return name

    def _function(self, item: Function, node: ast.FunctionDef | ast.AsyncFunctionDef, renamed: str = "") -> str:
        call = next((c for d, c in decorators(node).items() if d in ("tool", "ai_function") and c), None)
        given = {k.arg: k.value for k in (call.keywords if call else ())}

        def literal(name: str) -> str:
            found = given.get(name)
            return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else ""

        name = renamed or literal("name") or node.name
        if item.source is not self._source and item.source is not None:
            declared: dict[str, Any] = {"name": name, "approval": "caller"}
        else:
            declared = {"name": name, "call": self._kept.tool(item)}
            declared["approval"] = _APPROVALS.get(literal("approval_mode"), "never")
        declared["description"] = literal("description") or ast.get_docstring(node) or ""
        declared["parameters"] = py_types.parameters(node)
        self._draft.tools.setdefault(name, declared)
        return name

    def _extensions(self, agent: Instance, data: dict[str, Any]) -> None:
        for name in ("context_providers", "middleware"):
            given = agent.kwargs.get(name)
            items = given.items if isinstance(given, Items) else [given] if given is not None else []
            found = [self._source.segment(item.node) or item.name for item in items if item.node is not None]
            if found:
                data["context_provider" if name == "context_providers" else name] = found
