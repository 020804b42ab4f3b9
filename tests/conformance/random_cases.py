"""Random cases: graphs of all edge kinds, function nodes with the ops of the suite, scripted agents, sub-workflows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

Form = dict[str, Any]
Draw = Any

STATEFUL = frozenset({"remember", "recall", "call_count", "get_state", "append_state", "fail", "request_info"})
"""Ops whose effect depends on the order of what happens in one superstep."""

_WORDS = ("a", "b", "go", "stop", "x y")
_TYPES = ("str", "str", "str", "any", "any", "int", "object", "list", "list[str]", "response", "bool", "request")
_INPUTS: tuple[Any, ...] = ("go", "a", "stop", 3, {"n": 1, "text": "a", "to": ["n1", "n2"]}, ["a", "b"], [], True)


def _condition(draw: Draw, depth: int = 0) -> Form:
    kind = draw(st.integers(0, 12 if depth < 2 else 9))
    word = draw(st.sampled_from(_WORDS))
    match kind:
        case 0:
            return {"always": True}
        case 1:
            return {"never": True}
        case 2 | 3:
            return {"text_contains": word}
        case 4:
            return {"text_equals": word}
        case 5 | 6:
            return {"text_longer_than": draw(st.integers(0, 9))}
        case 7:
            return {"field_at_least": {"field": "n", "value": draw(st.integers(0, 3))}}
        case 8:
            return {"number_at_least": draw(st.integers(0, 4))}
        case 9:
            return {"type_is": draw(st.sampled_from(("str", "int", "object", "list", "response")))}
        case 10:
            return {"not": _condition(draw, depth + 1)}
    return {("all" if kind == 11 else "any"): [_condition(draw, depth + 1), _condition(draw, depth + 1)]}


def _op(draw: Draw, accepts: str, ids: Sequence[str], calm: bool) -> Form:
    word = draw(st.sampled_from(_WORDS))
    at = draw(st.integers(0, 8 if calm else 15))
    match at:
        case 0 | 1:
            return {"op": "append", "text": word}
        case 2:
            return {"op": "upper"}
        case 3:
            return {"op": "set", "value": draw(st.sampled_from((word, 2, {"n": 2, "text": word}, [word, word])))}
        case 4:
            return {"op": "send"}
        case 5:
            return {"op": "send", "target": draw(st.sampled_from((*ids, "nowhere")))}
        case 6:
            return {"op": "yield"}
        case 7:
            branch = [_op(draw, accepts, ids, True)]
            return {"op": "if", "when": _condition(draw), "then": branch, "else": [{"op": "prepend", "text": "-"}]}
        case 8:
            return {"op": "sources"} if draw(st.booleans()) else {"op": "to_request"}
        case 9:
            return {"op": "set_state", "key": draw(st.sampled_from(("k", "l")))}
        case 10:
            return {"op": "get_state", "key": draw(st.sampled_from(("k", "l"))), "default": "none"}
        case 11:
            return {"op": "append_state", "key": "list"}
        case 12:
            return {"op": "remember"}
        case 13:
            return {"op": draw(st.sampled_from(("recall", "call_count")))}
        case 14:
            return {"op": "request_info", "response": "str"}
    return {"op": "fail", "message": "on purpose", "times": 1}


def _typed_op(draw: Draw, accepts: str) -> list[Form]:
    """An op that only suits the type, first of all."""
    if not draw(st.booleans()):
        return []
    if accepts == "int":
        return [{"op": "add", "n": 1}]
    if accepts == "object":
        return [{"op": "bump_field", "name": "n"}]
    if accepts.startswith("list"):
        return [{"op": "join", "sep": ","}] if draw(st.booleans()) else [{"op": "count"}]
    if accepts == "response":
        return [{"op": "conversation"}] if draw(st.booleans()) else [{"op": "with_text", "text": "new"}]
    return []


def _handler(draw: Draw, accepts: str, ids: Sequence[str], calm: bool) -> Form:
    ops = _typed_op(draw, accepts)
    ops += [_op(draw, accepts, ids, calm) for _ in range(draw(st.integers(0, 3)))]
    ops.append({"op": draw(st.sampled_from(("send", "send", "send", "yield")))})
    form: Form = {"accepts": accepts, "do": ops, "sends": [], "yields": ["any"]}
    if draw(st.integers(0, 24)) == 0:
        form["sends"] = [draw(st.sampled_from(("str", "int", "object")))]
    return form


def _function(draw: Draw, id: str, ids: Sequence[str], calm: bool) -> Form:
    kinds = list(dict.fromkeys(draw(st.sampled_from(_TYPES)) for _ in range(draw(st.integers(1, 3)))))
    if draw(st.integers(0, 11)):
        kinds = [*(k for k in kinds if k != "any"), "any"]
    node: Form = {"id": id, "kind": "function", "handlers": [_handler(draw, k, ids, calm) for k in kinds]}
    if not calm:
        answer = [{"op": "append", "text": "!"}, {"op": draw(st.sampled_from(("send", "yield")))}]
        node["responses"] = [{"request": "any", "response": "str", "do": answer, "sends": [], "yields": ["any"]}]
    return node


def _agent(draw: Draw, id: str) -> Form:
    replies: list[Form] = []
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.integers(0, 3))
        word = draw(st.sampled_from(_WORDS))
        replies.append(
            ({"text": word}, {"chunks": [word, " and ", word]}, {"echo": "> "}, {"text": f"{id}: {word}"})[kind]
        )
    node: Form = {"id": id, "kind": "agent", "replies": replies, "then": "repeat_last"}
    mode = draw(st.integers(0, 5))
    if mode:
        node["context"] = ("full", "full", "last_agent", {"keep_last": 1}, {"keep_roles": ["user"]})[mode - 1]
    if draw(st.integers(0, 4)) == 0:
        node["ensure_trailing_user_turn"] = True
    return node


def _node(draw: Draw, id: str, ids: Sequence[str], calm: bool, depth: int) -> Form:
    kind = draw(st.integers(0, 9))
    if kind >= 7 and not (depth and kind == 9):
        return _agent(draw, id)
    if kind == 6 and depth == 0:
        inner = _graph(draw, 1, calm, f"{id}_")
        options = {"direct_output": draw(st.booleans()), "propagate_requests": True}
        return {"id": id, "kind": "workflow", "graph": inner, **options}
    return _function(draw, id, ids, calm)


def _some(draw: Draw, ids: Sequence[str], least: int) -> list[str]:
    return draw(st.lists(st.sampled_from(list(ids)), min_size=least, max_size=3, unique=True))  # type: ignore[no-any-return]


def _edge(draw: Draw, source: str, target: str, ids: Sequence[str]) -> Form:
    """A group that leads from ``source`` to ``target``, perhaps to others as well."""
    kind = draw(st.integers(0, 6))
    if kind <= 2 or len(ids) < 3:
        edge: Form = {"kind": "direct", "from": source, "to": target}
        return {**edge, "when": _condition(draw)} if draw(st.integers(0, 2)) == 0 else edge
    others = list(dict.fromkeys([target, *_some(draw, ids, 2)]))[:3]
    if kind <= 4:
        edge = {"kind": "fan_out", "from": source, "to": others}
        select = draw(st.integers(0, 4))
        if select == 0:
            edge["select"] = {"fixed": others[: draw(st.integers(1, len(others)))]}
        elif select == 1:
            edge["select"] = {"rules": [{"when": _condition(draw), "to": others[1:]}], "otherwise": others[:1]}
        return edge
    cases: list[Form] = [{"when": _condition(draw), "to": to} for to in others[:-1]]
    cases.insert(draw(st.integers(0, len(cases))) if kind == 6 else len(cases), {"default": True, "to": others[-1]})
    return {"kind": "switch", "from": source, "cases": cases}


def pairs(edge: Form) -> set[tuple[str, str]]:
    """All (source, target) of a group."""
    sources = edge["from"] if isinstance(edge["from"], list) else [edge["from"]]
    if edge["kind"] == "switch":
        return {(edge["from"], case["to"]) for case in edge["cases"]}
    targets = edge["to"] if isinstance(edge["to"], list) else [edge["to"]]
    return {(s, t) for s in sources for t in targets}


def _graph(draw: Draw, depth: int, calm: bool, prefix: str) -> Form:
    count = draw(st.integers(1, 3) if depth else st.integers(2, 6))
    ids = [f"{prefix}n{at}" for at in range(count)]
    nodes = [_node(draw, id, ids, calm, depth) for id in ids]
    edges: list[Form] = []
    taken: set[tuple[str, str]] = set()

    def add(edge: Form) -> None:
        found = pairs(edge)
        if not found & taken:
            taken.update(found)
            edges.append(edge)

    for at in range(1, count):
        reached = ids[:at]
        source = draw(st.sampled_from(reached))
        if at >= 3 and draw(st.integers(0, 3)) == 0:
            add({"kind": "fan_in", "from": _some(draw, reached, 2), "to": ids[at]})
        else:
            add(_edge(draw, source, ids[at], ids))
        if not any(target == ids[at] for _, target in taken):
            add({"kind": "direct", "from": source, "to": ids[at]})
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.integers(0, 2)) == 0 and count > 2:
            add({"kind": "fan_in", "from": _some(draw, ids, 2), "to": draw(st.sampled_from(ids))})
        else:
            add(_edge(draw, draw(st.sampled_from(ids)), draw(st.sampled_from(ids)), ids))
    graph: Form = {"start": ids[0], "nodes": nodes, "edges": edges, "max_iterations": draw(st.integers(3, 6))}
    designation = draw(st.integers(0, 7))
    if designation == 0:
        graph["outputs"] = _some(draw, ids, 1)
    elif designation == 1:
        graph["intermediate"] = "all_other" if draw(st.booleans()) else "all"
        graph["outputs"] = _some(draw, ids, 1)
    return graph


@st.composite
def cases(draw: Draw) -> Form:
    """A whole case: a graph, one or two inputs, perhaps answers."""
    calm = draw(st.booleans())
    graph = _graph(draw, 0, calm, "")
    actions: list[Form] = []
    for _ in range(draw(st.integers(1, 2))):
        data = draw(st.sampled_from(_INPUTS)) if draw(st.integers(0, 2)) == 0 else "go"
        actions.append({"do": "run", "input": data, "stream": draw(st.booleans())})
        if not calm and draw(st.booleans()):
            actions.append({"do": "respond", "responses": {"r1": "yes"}, "stream": draw(st.booleans())})
    return {"name": "random", "why": "random", "graph": graph, "actions": actions, "expect": {}}


def sees_order(graph: Form) -> bool:
    """Whether the order in which messages arrive may show in what comes out: something waits for several, remembers,
    or counts, or several nodes write one key of shared state (the last write of a superstep wins, and which that is, is
    a matter of time), also inside a nested workflow."""
    written: Counter[str] = Counter()

    def keys(list_: list[Form]) -> set[str]:
        inner = [key for op in list_ for part in ("then", "else") for key in keys(op.get(part, []))]
        return {op["key"] for op in list_ if op["op"] == "set_state"} | set(inner)

    def ops(list_: list[Form]) -> bool:
        return any(op["op"] in STATEFUL or ops(op.get("then", [])) or ops(op.get("else", [])) for op in list_)

    def node(form: Form) -> bool:
        if form["kind"] == "workflow":
            return sees_order(form["graph"])
        if form["kind"] != "function":
            return True
        written.update({key for part in (*form["handlers"], *form.get("responses", [])) for key in keys(part["do"])})
        return any(ops(handler["do"]) for handler in form["handlers"])

    if any(map(node, graph["nodes"])):
        return True
    return any(edge["kind"] == "fan_in" for edge in graph["edges"]) or any(count > 1 for count in written.values())
