"""A loop over items as what it is here: a step that counts in shared state, and a switch that leads back to it."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping
from typing import Any

from studio.document.conditions import Condition
from studio.document.lines import pairs
from studio.document.model import Edge, FunctionNode, GenericNode, SwitchEdge, Workflow
from studio.importers.step_code import Code, state_expression


def counted_loop(workflow: Workflow, node: GenericNode, known: Collection[str]) -> FunctionNode | None:
    """The function of a loop whose items are known or stand in shared state; None if they are something else, or if
    it is entered again after it was left in the middle: its count would not begin anew."""
    extra: Mapping[str, Any] = node.model_extra or {}
    code = Code()
    items, counts = _items(code, extra, known)
    if items is None or _left_and_entered_again(workflow, node.id):
        return None
    at, following = (f"{node.id}.{name}" for name in ("at", "next"))
    lines = [
        f"items = {items}",
        "if not isinstance(items, list | tuple | range):",
        "    items = [] if items is None else [items]",
        f"at = ctx.get_state({at!r}) or 0",
        f"ctx.set_state({following!r}, at < len(items))",
        f"ctx.set_state({at!r}, at + 1 if at < len(items) else 0)",
        "result = data",
        "if at < len(items):",
        *(f"    ctx.set_state({key!r}, {value})" for key, value in _told(extra)),
    ]
    if not counts:
        lines = ["import json", "", *lines]
        lines.append("    result = items[at] if isinstance(items[at], str) else json.dumps(items[at])")
    return FunctionNode(
        id=node.id, name=node.name, description=node.description, accepts="any", sends="any", body=code.body(lines)
    )


def keys_of(node: GenericNode) -> tuple[str, ...]:
    """The keys of shared state that its function sets."""
    told = _told(node.model_extra or {})
    return (f"{node.id}.at", f"{node.id}.next", *(key for key, _ in told))


def _told(extra: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs_ = ((extra.get("item"), "items[at]"), (extra.get("index"), "at"))
    return [(key, value) for key, value in pairs_ if isinstance(key, str) and key]


def asking_state(edge: Edge, loops: Collection[str]) -> Edge:
    """The switch of a loop decides on what its step says in shared state, so that the step can send the item."""
    if not isinstance(edge, SwitchEdge) or edge.source not in loops or not edge.cases:
        return edge
    first, *others = edge.cases
    name = first.condition.name if first.condition is not None else ""
    asks = Condition(kind="expression", name=name, expression=f"state['{edge.source}.next'] == True")
    return edge.model_copy(update={"cases": (first.model_copy(update={"condition": asks}), *others)})


def _items(code: Code, extra: Mapping[str, Any], known: Collection[str]) -> tuple[str | None, bool]:
    """The Python for the items, and whether they are only a count."""
    given, lang = extra.get("items"), extra.get("items_lang")
    rounds = extra.get("max_rounds")
    if given is None and isinstance(rounds, int) and rounds > 0 and not extra.get("break_conditions"):
        return f"range({rounds})", True
    if not isinstance(given, str):
        return None, False
    match lang:
        case "key":
            return (f"ctx.get_state({given!r})" if given in known else None), False
        case "powerfx":
            return _listed(given) or code.value(given, "powerfx"), False
        case "json" | None:
            return _listed(given), False
        case "python" if str(extra.get("item") or "").isidentifier():
            return _python(given)
    return None, False


def _listed(given: str) -> str | None:
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        return None
    return repr(found) if isinstance(found, list) else None


def _python(given: str) -> tuple[str | None, bool]:
    """``range(...)`` of numbers and state, or a list."""
    try:
        tree = ast.parse(given, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, False
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "range" and not tree.keywords:
        limits = [state_expression(ast.unparse(part)) for part in tree.args]
        known = [limit for limit in limits if limit is not None]
        return (f"range({', '.join(known)})" if known and len(known) == len(limits) else None), True
    found = state_expression(given) if isinstance(tree, ast.List | ast.Tuple | ast.Subscript) else None
    return found, False


def _left_and_entered_again(workflow: Workflow, loop: str) -> bool:
    """Whether a way leads from its body, without the loop, to where the loop is entered from."""
    following: dict[str, set[str]] = {}
    for source, target, _ in pairs(workflow):
        following.setdefault(source, set()).add(target)
    switch = next((e for e in workflow.edges if isinstance(e, SwitchEdge) and e.source == loop), None)
    if switch is None or not switch.cases or workflow.start is None:
        return False
    entering = {n for n in _reached(following, workflow.start, loop) if loop in following.get(n, ())}
    return bool(entering & _reached(following, switch.cases[0].target, loop))


def _reached(following: Mapping[str, set[str]], start: str, stop: str) -> set[str]:
    """What is reached from a step without going through another one."""
    found, waiting = set(), [start]
    while waiting:
        item = waiting.pop()
        if item not in found and item != stop:
            found.add(item)
            waiting += following.get(item, ())
    return found
