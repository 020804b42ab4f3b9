"""What a workflow does on Durable Task that it does not do in one process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about a node or edge group (``item`` is its id, "" for the workflow). ``refused``: with it there is no
    export; else it is said beside the export."""

    item: str
    message: str
    refused: bool = True
