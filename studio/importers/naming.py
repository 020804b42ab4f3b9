"""Ids of imported nodes (import rules, number 1)."""

from __future__ import annotations

import re

from studio.document.ids import slug

_FITS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_NUMBER = re.compile(r"\d+\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\Z")


def snake(kind: str) -> str:
    """``InvokeAzureAgent`` -> ``invoke_azure_agent``."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_") or "node"


def from_name(name: str, fallback: str = "node") -> str:
    """An id made from a displayed name."""
    made = slug(name) or snake(fallback)
    return f"{snake(fallback)}_{made}" if made[0].isdigit() else made


def is_opaque(item_id: str) -> bool:
    """Whether an id says nothing to people: a number or a UUID."""
    return bool(_NUMBER.match(item_id) or _UUID.match(item_id))


def node_id(item_id: str, name: str = "", kind: str = "node", number: int = 1) -> str:
    """The id of a node from the id in the source; from its name where that is a number, a UUID or missing."""
    if item_id and not is_opaque(item_id):
        if _FITS.match(item_id):
            return item_id
        made = re.sub(r"[^A-Za-z0-9_]", "_", item_id)
        if made.strip("_"):
            return made if not made[0].isdigit() else f"_{made}"
    made = slug(name)
    if made:
        return made if not made[0].isdigit() else f"{snake(kind)}_{made}"
    return f"{snake(kind)}_{number}"
