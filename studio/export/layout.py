"""The layout file beside the code: positions, labels, and what the code was when it was written.

With it, code that was edited by hand comes back: what nobody touched is taken from ``document``, what was changed from
the code.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pydantic import JsonValue

from studio.document.model import SubWorkflowNode, Workflow
from studio.export.source import Module, identifier
from studio.export.workflow_module import condition_names, edge_calls
from studio.files.code_blocks import digest, taken_apart
from studio.files.format import to_text
from studio.files.plain import plain_workflow


def layout_file(workflow: Workflow, files: Mapping[str, str]) -> str:
    """The text of the file. ``files`` are those of the package: path in it -> text."""
    blocks: dict[str, JsonValue] = {}
    regions: dict[str, JsonValue] = {}
    for path, text in sorted(files.items()):
        if path.endswith(".py"):
            code = taken_apart(text)
            blocks |= {f"{path}:{name}": digest(block) for name, block in code.blocks.items()}
            regions |= {f"{path}:{name}": digest(region) for name, region in code.regions.items()}
    data: dict[str, JsonValue] = {
        "format": "layout/1",
        "blocks": blocks,
        "regions": regions,
        "calls": _calls(workflow, ""),
        "nodes": {node.id: _placed(workflow, node.id, node.name) for node in workflow.nodes},
        "notes": [_placed(workflow, n.id, "") | {"id": n.id, "text": n.text, "color": n.color} for n in workflow.notes],
        "document": plain_workflow(workflow),
    }
    return to_text(data) + "\n"


def _placed(workflow: Workflow, item: str, label: str) -> dict[str, JsonValue]:
    place = workflow.places.get(item)
    found: dict[str, JsonValue] = {} if place is None else {"x": place.x, "y": place.y}
    return found | ({"label": label} if label else {})


def _calls(workflow: Workflow, prefix: str) -> dict[str, JsonValue]:
    """``path of the package + id of the edge group`` -> the calls that build it."""
    module = Module("")
    names = condition_names(module, workflow)
    found: dict[str, JsonValue] = {
        f"{prefix}{edge.id}": [*_separate(edge_calls(module, workflow, edge, names))] for edge in workflow.edges
    }
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            found |= _calls(node.embedded, f"{prefix}{identifier(node.id)}/")
    return found


def _separate(lines: list[str]) -> list[str]:
    """Chained calls in one spelling each: ``.add_edge(a, b)``."""
    if not lines:
        return []
    calls: list[str] = []
    tree: ast.expr = ast.parse("(x" + "\n".join(lines) + ")", mode="eval").body
    while isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        inner = tree.func.value
        tree.func.value = ast.Name("x")
        calls.append(ast.unparse(tree)[1:])
        tree = inner
    return calls[::-1]
