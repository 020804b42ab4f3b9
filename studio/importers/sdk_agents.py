"""Agents of the OpenAI Agents SDK as agent nodes."""

from __future__ import annotations

import ast
from typing import Any

from studio.importers import py_types
from studio.importers.draft import Draft
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import decorators
from studio.importers.py_values import Class, Const, Function, Imported, Instance, Items, Value, constant, string
from studio.importers.python_source import PythonSource
from studio.importers.secrets import is_literal, is_secret_name

Def = ast.FunctionDef | ast.AsyncFunctionDef
_HOSTED = {
    "WebSearchTool": "web_search",
    "FileSearchTool": "file_search",
    "CodeInterpreterTool": "code_interpreter",
    "ComputerTool": "computer",
    "ImageGenerationTool": "image_generation",
    "LocalShellTool": "local_shell",
    "ShellTool": "shell",
    "HostedMCPTool": "mcp",
}
_OPTIONS = (
    "temperature",
    "max_tokens",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "tool_choice",
    "parallel_tool_calls",
)
_SCHEMA_TYPES = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


class SdkAgents:
    """Makes the properties of agents; ``item`` is the id of the node that the entries are about."""

    def __init__(self, draft: Draft, kept: KeptCode, source: PythonSource) -> None:
        self._draft = draft
        self._kept = kept
        self._source = source

    def fields(self, agent: Instance) -> dict[str, Value]:
        """The arguments of an agent; a clone has those of its original, overwritten."""
        given = dict(zip(("name", "handoff_description"), agent.args, strict=False)) if agent.of == "Agent" else {}
        given |= agent.kwargs
        if agent.of == "clone" and isinstance(agent.owner, Instance):
            given = {**self.fields(agent.owner), **given}
        return {**given, **agent.attributes}

    def name(self, agent: Instance) -> str:
        """The name that people see."""
        return string(self.fields(agent).get("name")) or agent.name or "Agent"

    def data(self, agent: Instance, item: str) -> dict[str, Any]:
        """The properties by the names of the specification."""
        given = self.fields(agent)
        data: dict[str, Any] = {
            "agent": self.name(agent),
            "description": string(given.get("handoff_description")) or None,
        }
        instructions = given.get("instructions")
        if isinstance(instructions, Function):
            rule = self._kept.rule(instructions)
            data["context_provider"] = rule.text
            data["context_provider_code"] = self._source.code(instructions.node) if instructions.node else ""
            self._note(
                "code_kept", item, f"The instructions come from the function {rule.text}; its code is kept.", agent
            )
        elif string(instructions):
            data["instructions"] = string(instructions)
        elif instructions is not None and not isinstance(instructions, Const):
            data["instructions_code"] = self._text(instructions)
            self._note("expression_kept", item, "The instructions are made by code; its text is kept.", agent)
        model = given.get("model")
        data["model"] = string(model) or (self._model(model, item) if model is not None else None)
        data["options"] = self._options(given.get("model_settings")) or None
        data["tools"] = self.tools(given.get("tools"), item, agent) or None
        self._output(given.get("output_type"), data)
        self._servers(given.get("mcp_servers"), item, agent)
        return data

    def _note(self, code: str, item: str, text: str, agent: Instance) -> None:
        severity = "warn" if code == "code_kept" else None
        self._draft.note(code, item, text, severity, agent.line)  # type: ignore[arg-type]

    def _text(self, value: Value) -> str:
        return self._source.segment(value.node) if value.node is not None else value.name

    def _model(self, value: Value, item: str) -> str | None:
        if isinstance(value, Instance):
            for name, inner in value.kwargs.items():
                if is_secret_name(name) and is_literal(string(inner)):
                    self._draft.secret(value.name or item, string(inner), value.line)
            return string(value.kwargs.get("model")) or None
        return None

    def _options(self, settings: Value | None) -> dict[str, Any]:
        if not isinstance(settings, Instance):
            return {}
        found = {name: constant(settings.kwargs.get(name)) for name in _OPTIONS}
        reasoning = settings.kwargs.get("reasoning")
        if isinstance(reasoning, Instance):
            found["reasoning_effort"] = string(reasoning.kwargs.get("effort")) or None
        return {k: v for k, v in found.items() if v is not None}

    def _output(self, given: Value | None, data: dict[str, Any]) -> None:
        match given:
            case Class():
                data["output_schema_name"], data["output_schema"] = given.name, py_types.schema(given)
                data["output_type"] = given.name
            case Value() if given.node is not None and not (isinstance(given, Const) and given.value is None):
                data["output_type"] = self._text(given)

    def _servers(self, given: Value | None, item: str, agent: Instance) -> None:
        for server in given.items if isinstance(given, Items) else []:
            self._note("tool_unmapped", item, f"The tool server {self._text(server)} is kept as text only.", agent)

    # -------------------------------------------------------------------------------------------------- tools

    def tools(self, given: Value | None, item: str, agent: Instance) -> list[str]:
        """The names of the tools: functions are kept, hosted tools declared."""
        listed = given.items if isinstance(given, Items) else []
        return [name for value in listed if (name := self._tool(value, item, agent))]

    def _tool(self, value: Value, item: str, agent: Instance) -> str:
        if isinstance(value, Function) and isinstance(value.node, Def):
            return self._function(value, value.node)
        if isinstance(value, Instance) and value.of == "as_tool":
            inner = value.owner
            name = string(value.kwargs.get("tool_name")) or (
                self.name(inner) if isinstance(inner, Instance) else "agent"
            )
            description = string(value.kwargs.get("tool_description"))
            declared: dict[str, Any] = {"name": _tool_name(name), "description": description, "approval": "caller"}
            if isinstance(inner, Instance):
                declared["agent"] = self.data(inner, item)
            self._draft.tools.setdefault(_tool_name(name), declared)
            return _tool_name(name)
        name = ""
        if isinstance(value, Instance):
            name = _HOSTED.get(value.of, "") or string(value.kwargs.get("name")) or value.of
            if value.of == "HostedMCPTool":
                name = self._hosted_server(value, item) or name
        elif isinstance(value, Imported):
            name = value.last
        name = _tool_name(name or value.name or "tool")
        self._note("tool_unmapped", item, f"The tool {name} is not available here; it is kept as a declaration.", agent)
        self._draft.tools.setdefault(name, {"name": name, "approval": "caller"})
        return name

    def _hosted_server(self, value: Instance, item: str) -> str:
        config = constant(value.kwargs.get("tool_config"))
        if not isinstance(config, dict):
            return ""
        for key, inner in config.items():
            if is_secret_name(str(key)) and is_literal(inner):
                self._draft.secret(item, inner, value.line)
        return str(config.get("server_label") or "")

    def _function(self, value: Function, node: Def) -> str:
        call = next((c for d, c in decorators(node).items() if d == "function_tool" and c), None)
        given = {k.arg: k.value for k in (call.keywords if call else ())}
        override = given.get("name_override")
        name = override.value if isinstance(override, ast.Constant) else node.name
        name = _tool_name(str(name))
        declared: dict[str, Any] = {"name": name, "description": ast.get_docstring(node) or ""}
        skipped = tuple(a.arg for a in node.args.args[:1] if a.annotation and "Context" in ast.unparse(a.annotation))
        declared["parameters"] = py_types.parameters(node, skipped)
        if _is_empty(node):
            declared["approval"] = "caller"
        else:
            declared["call"] = self._kept.tool(value)
        self._draft.tools.setdefault(name, declared)
        return name


def _tool_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name)[:64] or "tool"


def _is_empty(node: Def) -> bool:
    """Whether a function does nothing: a tool that the caller runs."""
    return all(
        isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in node.body
    )


def transfer_name(name: str) -> str:
    """The default name of the tool that hands over to an agent."""
    return "transfer_to_" + "".join(c if c.isalnum() else "_" for c in name).lower()
