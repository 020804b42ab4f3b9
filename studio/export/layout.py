"""The layout file beside the code: positions, labels, and what the code was when it was written.

With it, code that was edited by hand comes back: what nobody touched is taken from ``document``, what was changed from
the code.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pydantic import JsonValue

from studio.document.model import SubWorkflowNode, Workflow
from studio.export.naming import Names
from studio.export.pretty import flat
from studio.export.source import Module
from studio.export.workflow_module import edge_calls
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
        "names": _variables(workflow, ""),
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
    names = Names.of(workflow)
    found: dict[str, JsonValue] = {
        f"{prefix}{edge.id}": [_spelled(flat(written)) for written in edge_calls(Module(""), edge, names)]
        for edge in workflow.edges
    }
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            found |= _calls(node.embedded, f"{prefix}{names.package(node)}/")
    return found


def _variables(workflow: Workflow, prefix: str) -> dict[str, JsonValue]:
    """``path of the package`` -> id of a node -> its name in the code, where they differ."""
    names = Names.of(workflow)
    differing: dict[str, JsonValue] = {item: name for item, name in names.variables.items() if item != name}
    found: dict[str, JsonValue] = {prefix: differing} if differing else {}
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            found |= _variables(node.embedded, f"{prefix}{names.package(node)}/")
    return found


def _spelled(written: str) -> str:
    """A call on the builder in one spelling: ``.add_edge(a, b)``."""
    return ast.unparse(ast.parse(f"x{written}", mode="eval"))[1:]
