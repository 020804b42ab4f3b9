"""The name or description of a node, where it stands in our exports: in the docstring of its function or class."""

from __future__ import annotations

import re
from typing import Any

from studio.document.model import AgentNode
from studio.files.code_blocks import Code, digest

_DOCSTRING = re.compile(r'^( {4}""")(.*)(""")$', re.MULTILINE)


def label_fields(code: Code, name: str, node: object, written: str) -> dict[str, Any] | None:
    """What a changed docstring of one line changes; None if there is none, or if more than that changed and the node is
    no agent, whose other lines are read by themselves. ``written``: the digest of the block as it was."""
    found = list(_DOCSTRING.finditer(code.blocks.get(name, "")))
    label = getattr(node, "name", "")
    if not found or not label:
        return None
    match = found[-1] if isinstance(node, AgentNode) else found[0]
    description = "" if isinstance(node, AgentNode) else getattr(node, "description", "")
    was, now = _sentence(description or label), match[2].strip()
    if now == was or not now:
        return None
    block = code.blocks[name]
    before = block[: match.start()] + match[1] + was + match[3] + block[match.end() :]
    if digest(before) != written and not isinstance(node, AgentNode):
        return None
    changed = now if (description or label).endswith(".") else now.removesuffix(".")
    return {"description" if description else "name": changed}


def _sentence(text: str) -> str:
    stripped = text.strip()
    return stripped if not stripped or stripped[-1] in ".!?:…" else f"{stripped}."
