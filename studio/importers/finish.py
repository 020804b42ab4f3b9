"""A draft as a document, with a layout, without secrets, and its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from studio.document import checks_graph, types
from studio.document.conditions import Condition
from studio.document.edits import Edit
from studio.document.facts import Facts
from studio.document.ids import condition_name, free_id, make_id
from studio.document.layout import arrange
from studio.document.model import FunctionNode, HumanInputNode, Place, Workflow
from studio.importers.draft import Case, Draft, DraftEdge, DraftNode, Rule
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.report import Counts, Entry, Report
from studio.importers.secrets import looking_like_keys, scrubbed
from studio.importers.tidy import tidied

UNNAMED = "Imported workflow"
"""The name of a workflow whose source has none."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A document that was made from something else, and what became of its source."""

    workflow: Workflow
    report: Report
    before: Workflow | None = None
    edits: tuple[Edit, ...] = ()
    """For our own exports: the document that was exported, and what the code changed in it since."""
    drawn: bool = False
    """Whether the positions are those of the source, where its cards have other sizes."""


class Refused(ImportProblem):
    """A recognised source that gives no workflow; ``report`` says what is lost."""

    def __init__(self, message: str, way_out: str, report: Report) -> None:
        super().__init__(message, way_out)
        self.report = report


def imported(draft: Draft, mode: Literal["static", "build"] = "static") -> Imported:
    """The result of a reader."""
    _find_keys(draft)
    report = _report(draft, mode)
    data = scrubbed(_workflow(draft), draft.secrets)
    data["name"] = data["name"] or UNNAMED
    try:
        workflow = Workflow.model_validate(data)
    except ValidationError as error:
        found = error.errors()[0]
        place = ".".join(str(part) for part in found["loc"])
        message = f"The result does not fit a workflow: {found['msg']} at {place}."
        raise ImportProblem(message, "Please report this with the file.") from None
    if not workflow.nodes:
        raise ImportProblem("There are no steps in this file.", WRONG_FILE)
    placed = _placed(_with_outputs(_loosened(workflow)), draft)
    return Imported(placed, report, drawn=bool(_given(draft)) and not draft.origin_kept)


def _find_keys(draft: Draft) -> None:
    for node in draft.nodes.values():
        for text in (*_texts(node.data), node.source):
            for found in looking_like_keys(text):
                if found not in draft.secrets:
                    draft.secret(node.id, found, node.line)
    for module, source in draft.modules.items():
        for found in looking_like_keys(source):
            if found not in draft.secrets:
                draft.secret(module, found)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list | tuple):
        return [text for inner in value for text in _texts(inner)]
    return []


def _report(draft: Draft, mode: str) -> Report:
    kinds = [node.kind for node in draft.nodes.values() if not node.added]
    placeholders, notes = kinds.count("placeholder"), kinds.count("note")
    explicit = draft.edges_in is not None
    counts = Counts(
        items_in=draft.items_in,
        nodes=len(kinds) - placeholders - notes,
        placeholders=placeholders,
        notes=notes,
        folded=len(draft.folded),
        lost=len(draft.lost),
        edges_in=draft.edges_in,
        edges=sum(edge.counted for edge in draft.edges) if explicit else 0,
        edges_folded=draft.edges_folded,
        edges_lost=draft.edges_lost,
    )
    entries = [
        Entry(e.code, scrubbed(e.item, draft.secrets), e.severity, scrubbed(e.text, draft.secrets), e.line)
        for e in draft.entries
    ]
    if not counts.balanced:
        text = "Not every item of the source has an outcome in this report. Compare the result with the original."
        entries.append(Entry("invalid_source", draft.name or "workflow", "warn", text))
    return Report(
        detected=draft.detected,
        mode=mode,
        counts=counts,
        entries=tuple(entries),
        folded=tuple(draft.folded),
        lost=tuple(draft.lost),
        added=frozenset(node.id for node in draft.nodes.values() if node.added),
        edited=tuple(draft.edited),
        choices=tuple(draft.choices),
        preface=draft.preface,
    )


# -------------------------------------------------------------------------------------------------- document


def _workflow(draft: Draft) -> dict[str, Any]:
    notes = [n for n in draft.nodes.values() if n.kind == "note"]
    nodes = [n for n in draft.nodes.values() if n.kind != "note"]
    taken = {n.id.casefold() for n in draft.nodes.values()}
    data: dict[str, Any] = {
        "name": draft.name,
        "description": draft.description,
        "start": draft.start,
        "nodes": [_node(node, draft) for node in nodes],
        "edges": [_edge(edge, taken, draft) for edge in draft.edges],
        "outputs": draft.outputs,
        "intermediate": draft.intermediate,
        "state": [
            {"key": name, "type": v.type if v.type in types.BUILT_IN else "any", "initial": v.initial}
            for name, v in draft.variables.items()
            if name and not name.startswith("_")
        ],
        "tools": list(draft.tools.values()),
        "modules": [{"name": name, "source": source} for name, source in draft.modules.items()],
        "types": [{"name": name, "schema": schema} for name, schema in draft.types.items()],
        "notes": [{"id": n.id, "text": n.data.get("text", ""), "name": n.label} for n in notes],
        "groups": list(draft.groups),
        **draft.extra,
    }
    if draft.inputs:
        data["inputs"] = draft.inputs
    if draft.max_iterations is not None:
        data["max_supersteps"] = draft.max_iterations
    if draft.pattern:
        members = [n.id for n in nodes]
        group = {"id": make_id(draft.pattern, taken), "name": draft.name or draft.pattern, "kind": draft.pattern}
        data["groups"].append({**group, "members": members})
    return data


def _node(node: DraftNode, draft: Draft) -> dict[str, Any]:
    data = {k: v for k, v in node.data.items() if v is not None}
    made: dict[str, Any] = {"id": node.id, "kind": node.kind, "name": node.label or node.id, **data}
    if node.kind == "placeholder":
        made.update(original=node.source, original_lang=node.lang)
    elif node.source:
        made.update(original=node.source)
    if node.line is not None:
        made["source_line"] = node.line
    if "middleware" in made:  # names and texts of foreign code: kept, but nothing that this program could run
        made["foreign_middleware"] = made.pop("middleware")
    match node.kind:
        case "agent":
            _agent(made, draft)
        case "function":
            _function(made)
        case "human_input":
            made["question"] = made.pop("prompt", None) or made.get("question") or "{text}"
        case "sub_workflow":
            made["embedded"] = made.pop("inner", None) or _unknown_inside(made)
    return made


def _unknown_inside(made: dict[str, Any]) -> dict[str, Any]:
    """A workflow for a sub-workflow whose inside is not in the source: one placeholder."""
    inside = {"id": "inside", "kind": "placeholder", "name": f"Inside of {made['name']}", "original": ""}
    return {"id": f"{made['id']}_workflow", "name": made["name"], "start": "inside", "nodes": [inside]}


def _agent(made: dict[str, Any], draft: Draft) -> None:
    schema = made.get("output_schema")
    if schema is not None and not (isinstance(schema, dict) and schema.get("type") == "object"):
        made["output_schema_name"] = made.pop("output_schema")
    options = made.get("options")
    if isinstance(options, dict):
        for name in ("temperature", "max_tokens"):
            if isinstance(options.get(name), int | float) and not isinstance(options[name], bool):
                made[name] = options[name]
        if not isinstance(made.get("max_tokens"), int) or made["max_tokens"] < 1:
            made.pop("max_tokens", None)
        if not 0 <= made.get("temperature", 0) <= 2:
            made.pop("temperature", None)
    for name in made.get("tools", ()):
        draft.tools.setdefault(name, {"name": name, "approval": "caller"})


def _function(made: dict[str, Any]) -> None:
    made["accepts"] = made.get("accepts") or "any"
    sends = made.get("sends")
    if isinstance(sends, list | tuple):
        made["sends"] = " | ".join(sends)
    made["sends"] = made.get("sends") or "any"
    yields = made.get("yields")
    if isinstance(yields, list | tuple):
        made["yields"] = " | ".join(yields) or None
    if not made.get("body") and not made.get("call"):
        what = made.get("missing", "The code of this step was not in the imported file.")
        made["body"] = tidied(f"raise NotImplementedError({what!r})")


def _edge(edge: DraftEdge, taken: set[str], draft: Draft) -> dict[str, Any]:
    target = edge.targets[0] if edge.targets else edge.source
    named = {"switch": f"{edge.source}_cases", "fan_out": f"{edge.source}_fan_out"}
    edge_id = free_id(named.get(edge.kind, f"{edge.source}_to_{target}"), taken, "edge")
    taken.add(edge_id)
    made: dict[str, Any] = {"id": edge_id, "kind": edge.kind, **edge.data}
    match edge.kind:
        case "switch":
            made.update(source=edge.source)
            made["cases"] = [_case(case, taken) for case in edge.cases]
            if edge.default is not None:
                made.update(default=edge.default.target, default_label="else")
        case "fan_in":
            made.update(sources=edge.sources, target=target)
        case "fan_out":
            made.update(source=edge.source, targets=edge.targets)
            if edge.rule is not None:
                condition = _condition(edge.rule, edge_id)
                made["rule"] = _rule(edge.rule)
                made["selection"] = {t: _for_target(condition, edge.rule, t) for t in edge.targets}
        case _:
            made.update(source=edge.source, target=target)
            if edge.kind == "handoff":
                made.update(tool=edge.tool)
            if edge.rule is not None:
                made["rule"] = _rule(edge.rule)
                if edge.kind == "direct":
                    made["condition"] = _condition(edge.rule, edge_id)
    return made


def _case(case: Case, taken: set[str]) -> dict[str, Any]:
    case_id = free_id(case.id or "case", taken, "case")
    taken.add(case_id)
    rule = case.rule or Rule(None, None, "unknown")
    made: dict[str, Any] = {"id": case_id, "target": case.target, "rule": _rule(rule)}
    made["condition"] = _condition(rule, case_id)
    label = rule.text or case.id
    made["label"] = label if len(label) <= 60 else f"{label[:57]}…"
    return made


def _rule(rule: Rule) -> dict[str, Any]:
    made: dict[str, Any] = {"text": rule.text, "lang": rule.lang, "state": rule.state}
    if rule.labels:
        made["labels"] = dict(rule.labels)
    return made


def _condition(rule: Rule, owner: str) -> dict[str, Any]:
    """The translation; a rule without one stops the run until somebody writes it."""
    condition = rule.condition
    if condition is None:
        what = (
            f"The rule of this edge was not translated: {rule.text}" if rule.text else "The rule was not in the file."
        )
        condition = Condition(kind="python", body=tidied(f"raise NotImplementedError({what!r})"))
    if not condition.name:
        condition = condition.model_copy(update={"name": condition_name(owner)})
    return condition.model_dump(mode="json", exclude_none=True, exclude_defaults=True) | {"kind": condition.kind}


def _for_target(condition: dict[str, Any], rule: Rule, target: str) -> dict[str, Any]:
    """The part of a selection that is about one target."""
    label = (rule.labels or {}).get(target, target)
    body = condition.get("body", "")
    return {
        **condition,
        "body": body.replace("{target}", tidied(repr(label))),
        "name": f"{condition['name']}_{target}"[:128],
    }


# ---------------------------------------------------------------------------------------- types and positions


def _loosened(workflow: Workflow) -> Workflow:
    """Types that the checks cannot follow in foreign code become ``any``, so that the document opens without errors."""
    for _ in range(3):
        wrong = {p.place for p in checks_graph.edge_problems(Facts.of(workflow)) if p.code == "type_mismatch"}
        sources = {s for e in workflow.edges if e.id in {w.partition(":")[0] for w in wrong} for s in _ends(e)}
        if not sources:
            break
        workflow = workflow.model_copy(update={"nodes": tuple(_loose(n, sources) for n in workflow.nodes)})
    return workflow


def _with_outputs(workflow: Workflow) -> Workflow:
    """Only nodes that give an output are outputs."""
    able = {n.id for n in workflow.nodes if types.yields(n)}
    changed: dict[str, Any] = {}
    for name in ("outputs", "intermediate"):
        listed = getattr(workflow, name)
        if isinstance(listed, tuple) and not set(listed) <= able:
            changed[name] = tuple(i for i in listed if i in able) or None
    return workflow.model_copy(update=changed)


def _ends(edge: Any) -> tuple[str, ...]:
    found = getattr(edge, "sources", None) or (getattr(edge, "source", None),)
    targets = (getattr(edge, "target", None), *getattr(edge, "targets", ()))
    return tuple(i for i in (*found, *targets) if isinstance(i, str))


def _loose(node: Any, chosen: set[str]) -> Any:
    if node.id not in chosen:
        return node
    if isinstance(node, FunctionNode):
        return node.model_copy(update={"sends": "any", "accepts": "any"})
    if isinstance(node, HumanInputNode):
        return node.model_copy(update={"answer_type": "any"})
    return node


def _given(draft: Draft) -> dict[str, tuple[float, float]]:
    """The positions of the source; none if all of them are one."""
    found = {n.id: (n.x, n.y) for n in draft.nodes.values() if n.x is not None and n.y is not None}
    return found if draft.placed and (len(set(found.values())) > 1 or len(found) == 1) else {}


def _placed(workflow: Workflow, draft: Draft) -> Workflow:
    """Positions of the source where it has them, else a layout; what has none in a placed source is marked."""
    given = _given(draft)
    made = dict(arrange(workflow))
    if given:
        left = 0.0 if draft.origin_kept else min(x for x, _ in given.values())
        top = 0.0 if draft.origin_kept else min(y for _, y in given.values())
        for item, (x, y) in given.items():
            made[item] = Place(x=x - left, y=y - top)
        for node in workflow.nodes:
            if node.id not in given:
                old = made.get(node.id, Place(x=0, y=0))
                made[node.id] = Place.model_validate({"x": old.x, "y": old.y, "placed": "auto"})
    bottom = max((p.y for p in made.values()), default=0.0)
    for number, note in enumerate(workflow.notes):
        if note.id not in made:
            made[note.id] = Place(x=number * 240.0, y=bottom + 140)
    return workflow.model_copy(update={"places": made})
