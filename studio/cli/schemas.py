"""``schema``: the JSON Schema of a workflow file or of the lines of ``run --json``."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from typing import Any, get_args

from studio.cli.exits import DONE
from studio.cli.lines import VERSION, type_of
from studio.engine.events import Event


def command(options: argparse.Namespace) -> int:
    """Prints the schema."""
    if options.of == "events":
        found = event_schema()
    else:
        from studio.files import json_schema

        found = json_schema()
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return DONE


def event_schema() -> dict[str, Any]:
    """Of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of superstep-studio run --json",
        "anyOf": [*(_event(cls) for cls in get_args(Event)), _result()],
    }


def _event(cls: type) -> dict[str, Any]:
    names = [f.name for f in fields(cls)]
    properties: dict[str, Any] = {
        "v": {"const": VERSION},
        "seq": {"type": "integer", "minimum": 1},
        "t": {"type": "number", "description": "seconds since the run started"},
        "run": {"type": "string", "description": "id of the branch"},
        "type": {"const": type_of(cls)},
    }
    required = list(properties)
    if "superstep" in names:
        properties["superstep"] = {"type": "integer", "minimum": 0}
        required.append("superstep")
    if "node" in names:
        properties["node"] = {"type": "string"}
    further: dict[str, Any] = {
        "value" if name == "data" else name: {} for name in names if name not in ("t", "superstep", "node")
    }
    if further:
        properties["data"] = {"type": "object", "properties": further, "additionalProperties": False}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _result() -> dict[str, Any]:
    request = {"type": "object", "required": ["request", "node", "data", "response_type"]}
    properties = {
        "type": {"const": "result"},
        "state": {"enum": ["completed", "failed", "waiting", "cancelled"]},
        "outputs": {"type": "array"},
        "requests": {"type": "array", "items": request},
        "checkpoint": {"type": ["string", "null"], "description": "the last one; give it to --resume"},
        "usage": {"type": ["object", "null"], "description": "token counts of all model calls"},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
