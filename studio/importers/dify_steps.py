"""The steps of Dify apps as nodes."""

from __future__ import annotations

import json
from typing import Any

from studio.importers.draft import Draft, DraftNode
from studio.importers.reading import first, items, mapping, text
from studio.importers.tidy import tidied

_COMPATIBLE = (
    "openai",
    "azure_openai",
    "openai_api_compatible",
    "ollama",
    "openrouter",
    "localai",
    "vllm",
    "xinference",
)


class Steps:
    """Fills nodes from the data of steps; ``ids`` are the ids that the steps got."""

    def __init__(self, draft: Draft, ids: dict[str, str]) -> None:
        self._draft = draft
        self._ids = ids

    def fill(self, node: DraftNode, kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "note":
                node.kind, node.data["text"] = "note", _note_text(text(data.get("text")))
                node.label = text(data.get("title")) or node.data["text"][:60] or node.id
            case "start":
                node.kind = "input"
                node.data["inputs"] = [text(mapping(v).get("variable")) for v in items(data.get("variables"))]
                self._draft.inputs = {
                    text(mapping(v).get("variable")): mapping(v) for v in items(data.get("variables"))
                }
            case "llm":
                self._agent(node, data)
            case "agent":
                self._agent_node(node, data)
            case "question-classifier":
                self._classifier(node, data)
            case "parameter-extractor":
                self._extractor(node, data)
            case "if-else":
                node.kind = "switch"
            case "code" if text(data.get("code_language")) in ("python3", "python"):
                self._code(node, data)
            case "iteration" | "loop":
                self._loop(node, data)
            case "assigner":
                self._assigner(node, data)
            case _:
                self._fill_plain(node, kind, data)

    def _fill_plain(self, node: DraftNode, kind: str, data: dict[str, Any]) -> None:
        """Kinds whose settings are taken over as they are."""
        match kind:
            case "template-transform":
                node.kind, node.data["template"] = "transform", text(data.get("template"))
                node.data["template_lang"] = "jinja"
                node.data["arguments"] = {
                    text(mapping(v).get("variable")): self.path(mapping(v).get("value_selector"))
                    for v in items(data.get("variables"))
                }
            case "variable-aggregator" | "variable-assigner":
                node.kind = "transform"
                node.data["value"] = [self.path(s) for s in items(data.get("variables"))]
            case "http-request":
                node.kind = "function"
                node.data.update(
                    preset="http", url=text(data.get("url")), method=text(data.get("method")).upper() or "GET"
                )
                node.data["headers"] = text(data.get("headers")) or None
                open_to_all = text(mapping(data.get("authorization")).get("type")) in ("", "no-auth")
                node.data["whole"] = (open_to_all and not text(data.get("params")).strip()) or None
            case "human-input":
                node.kind = "human_input"
                node.data["prompt"] = text(first(data, "form_content", "prompt", "question")) or None
            case "end" | "answer":
                node.kind = "output"
                node.data["text"] = text(data.get("answer")) or None
                outputs = {
                    text(mapping(o).get("variable")): self.path(mapping(o).get("value_selector"))
                    for o in items(data.get("outputs"))
                }
                node.data["value"] = outputs or None

    def _agent(self, node: DraftNode, data: dict[str, Any]) -> None:
        node.kind = "agent"
        given = data.get("prompt_template")
        parts = items(given) or ([{"role": "system", **mapping(given)}] if isinstance(given, dict) else [])
        system = [text(mapping(p).get("text")) for p in parts if mapping(p).get("role") == "system"]
        user = [text(mapping(p).get("text")) for p in parts if mapping(p).get("role") != "system"]
        node.data["instructions"] = "\n\n".join(filter(None, system)) or None
        node.data["prompt"] = "\n\n".join(filter(None, user)) or None
        set_model(self._draft, node, mapping(data.get("model")))

    def _agent_node(self, node: DraftNode, data: dict[str, Any]) -> None:
        node.kind = "agent"
        given = {k: mapping(v).get("value") for k, v in mapping(data.get("agent_parameters")).items()}
        node.data["instructions"] = text(given.get("instruction")) or None
        node.data["prompt"] = text(given.get("query")) or None
        model = mapping(given.get("model"))
        set_model(self._draft, node, {"name": model.get("model"), "provider": model.get("provider"), **model})
        names = [text(first(mapping(t), "tool_name", "name")) for t in items(given.get("tools"))]
        for name in filter(None, names):
            self._draft.note("tool_unmapped", node.id, f"The tool {name} is kept as a declaration.", line=node.line)
        node.data["tools"] = [n for n in names if n] or None

    def _classifier(self, node: DraftNode, data: dict[str, Any]) -> None:
        node.kind = "agent"
        names = [text(mapping(c).get("name")) for c in items(data.get("classes"))]
        given = text(first(data, "instruction", "instructions"))
        node.data["classes"] = names
        node.data["instructions"] = f"{given}\n\nAnswer with one of these words alone: {', '.join(names)}.".strip()
        set_model(self._draft, node, mapping(data.get("model")))

    def _extractor(self, node: DraftNode, data: dict[str, Any]) -> None:
        node.kind = "agent"
        fields = {
            text(mapping(p).get("name")): text(mapping(p).get("type")) or "string"
            for p in items(data.get("parameters"))
        }
        node.data["output_schema_name"] = fields
        kinds = {"string": "string", "number": "number", "boolean": "boolean", "bool": "boolean"}
        properties = {n: {"type": kinds[t]} if t in kinds else {} for n, t in fields.items()}
        required = [text(mapping(p).get("name")) for p in items(data.get("parameters")) if mapping(p).get("required")]
        node.data["output_schema"] = {"type": "object", "properties": properties, "required": required}
        node.data["instructions"] = text(data.get("instruction")) or "Extract the fields from the text."
        set_model(self._draft, node, mapping(data.get("model")))

    def _code(self, node: DraftNode, data: dict[str, Any]) -> None:
        node.kind = "function"
        code = text(data.get("code")).rstrip()
        given = {
            text(mapping(v).get("variable")): self.path(mapping(v).get("value_selector"))
            for v in items(data.get("variables"))
        }
        arguments = ", ".join(f"{name}=ctx.get_state({path!r})" for name, path in given.items() if name.isidentifier())
        node.data["body"] = f"{code}\n\n" + tidied(
            f"found = main({arguments})\nfor key, value in found.items():\n"
            f"    ctx.set_state({node.id + '.'!r} + key, value)\nresult = data"
        )
        self._draft.note("code_kept", node.id, "The code is kept and was not run.", line=node.line)

    def _assigner(self, node: DraftNode, data: dict[str, Any]) -> None:
        node.kind = "set_variable"
        written = [mapping(i) for i in items(data.get("items"))] or [data]
        pairs = [
            {
                "variable": self.path(first(i, "variable_selector", "assigned_variable_selector")),
                "value": self.path(first(i, "value", "input_variable_selector")),
                "operation": text(first(i, "operation", "write_mode")) or None,
                "constant": None if isinstance(first(i, "value", "input_variable_selector"), list) else True,
            }
            for i in written
        ]
        node.data.update(pairs[0])
        node.data["assignments"] = pairs if len(pairs) > 1 else None

    def _loop(self, node: DraftNode, data: dict[str, Any]) -> None:
        node.kind = "loop"
        node.data["items"] = self.path(data.get("iterator_selector")) or None
        node.data["items_lang"] = "key" if node.data["items"] else None
        node.data["item"] = f"{node.id}.item"
        node.data["max_rounds"] = data.get("loop_count")
        if data.get("is_parallel"):
            self._draft.note("semantics_differ", node.id, "Items run one after the other here.", line=node.line)
        if items(data.get("break_conditions")):
            words = "The condition that ends the loop is kept as text."
            node.data["break_conditions"] = data["break_conditions"]
            self._draft.note("expression_kept", node.id, words, line=node.line)

    def path(self, selector: Any) -> str:
        """``[node, field]`` as the name of a variable; other values as text."""
        parts = [text(p) for p in items(selector)]
        if len(parts) > 1:
            return ".".join([self._ids.get(parts[0], parts[0]), *parts[1:]])
        return text(selector) if not isinstance(selector, list) else ".".join(parts)


def set_model(draft: Draft, node: DraftNode, model: dict[str, Any]) -> None:
    node.data["model"] = text(model.get("name")) or None
    node.data["options"] = mapping(model.get("completion_params")) or None
    provider = text(model.get("provider")).rpartition("/")[2]
    if provider and provider not in _COMPATIBLE:
        words = f"The provider {provider} is not available here; choose one for the model {text(model.get('name'))}."
        draft.note("model_unmapped", node.id, words, line=node.line)


def _note_text(written: str) -> str:
    """The text of a note; newer versions store a tree of the editor."""
    if not written.startswith("{"):
        return written
    try:
        tree = json.loads(written)
    except (ValueError, RecursionError):
        return written
    found: list[str] = []

    def collect(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("text"), str):
                found.append(part["text"])
            for inner in items(part.get("children")) or [part.get("root")]:
                collect(inner)

    collect(tree)
    return "\n".join(found)
