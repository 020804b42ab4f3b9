"""What changed between two documents, as plain JSON, and the way back: the lines of the journal.

Documents are frozen, so an unchanged part is the same object: finding the difference costs a comparison of identities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studio.document.model import Workflow
from studio.files.plain import Plain, plain_model, plain_value

LISTS = ("nodes", "edges", "notes", "groups")


def difference(before: Workflow, after: Workflow) -> Plain:
    """Changed fields, changed items of the lists by id, changed places; empty if nothing changed."""
    delta: Plain = {}
    for name, field in Workflow.model_fields.items():
        old, new = getattr(before, name), getattr(after, name)
        if old is new or name == "places":
            continue
        if name in LISTS:
            changed = _list_difference(old, new)
            if changed:
                delta[name] = changed
        elif old != new:
            delta.setdefault("fields", {})[field.alias or name] = plain_value(new)
    extra = after.__pydantic_extra__ or {}
    if extra != (before.__pydantic_extra__ or {}):
        delta["extra"] = dict(extra)
    if before.places is not after.places:
        places = _place_difference(before, after)
        if places:
            delta["places"] = places
    return delta


def _list_difference(old: Sequence[Any], new: Sequence[Any]) -> Plain:
    had = {item.id: item for item in old}
    if len({item.id for item in new}) < len(new):
        return {"all": [plain_model(item) for item in new]}
    changed: Plain = {}
    put = [plain_model(item) for item in new if had.get(item.id) is not item]
    if put:
        changed["put"] = put
    order = [item.id for item in new]
    if order != [item.id for item in old]:
        changed["order"] = order
    return changed


def _place_difference(before: Workflow, after: Workflow) -> Plain:
    old, new = before.places, after.places
    moved = {i: plain_model(place) for i, place in new.items() if old.get(i) is not place}
    return {**moved, **{i: None for i in old if i not in new}}


def apply_difference(data: Plain, delta: Mapping[str, Any]) -> None:
    """Changes the plain form of a document (``plain_workflow``) in place. Raises for a line that is damaged."""
    for name in LISTS:
        if name in delta:
            data[name] = _changed_list(data.get(name, []), delta[name])
    data.update(delta.get("fields", {}))
    if "extra" in delta:
        known = {field.alias or name for name, field in Workflow.model_fields.items()} | {"geometry"}
        for name in [name for name in data if name not in known]:
            del data[name]
        data.update({k: v for k, v in delta["extra"].items() if k != "geometry"})
        unknown = delta["extra"].get("geometry", {})
        data["geometry"] = {"places": data.get("geometry", {}).get("places", {}), **unknown}
    if "places" in delta:
        places = data.setdefault("geometry", {}).setdefault("places", {})
        places.update(delta["places"])
        for item_id in [i for i, place in places.items() if place is None]:
            del places[item_id]


def _changed_list(items: Sequence[Plain], changed: Mapping[str, Any]) -> list[Plain]:
    if "all" in changed:
        return list(changed["all"])
    by_id = {item["id"]: item for item in (*items, *changed.get("put", ()))}
    order = changed["order"] if "order" in changed else [item["id"] for item in items]
    return [by_id[item_id] for item_id in order if item_id in by_id]
