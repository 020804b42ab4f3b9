"""Every command that changes a document, as a step with random arguments: ``(workflow, chance) -> edit``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, TypeVar

from studio.document import commands
from studio.document.aligning import Axis, Side
from studio.document.conditions import Condition, Rule
from studio.document.edits import Batch, Edit, SetFields
from studio.document.geometry import drawn
from studio.document.layout import Flow
from studio.document.lines import lines
from studio.document.model import Place, StateDecl, SubWorkflowNode, SwitchEdge, TypeDecl, Workflow
from studio.document.problems import Problem
from studio.document.references import KINDS, names_of, renamed
from studio.document.searching import Query, find, replaced
from studio.document.text_slots import CannotHold
from studio.document.validate import problems

T = TypeVar("T")
Step = Callable[[Workflow, "Chance"], Edit | None]
NAMES = ("Writer", "", "a b", "'\"\\", "日本", "ﷺ", "class", "con", "..", "x" * 300, "Ａ", "a", "A")
TEXTS = ("", "Say {text}.", "two\nlines", "{state.k} {nothing}", "\u202ertl", "a\r\nb")


class Chance:
    """Random choices; an empty list to choose from ends the step without a change."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def of(self, items: Iterable[T]) -> T:
        listed = list(items)
        if not listed:
            raise NothingThere
        return self._random.choice(listed)

    def some(self, items: Iterable[T], most: int = 5) -> list[T]:
        listed = list(items)
        return self._random.sample(listed, min(len(listed), self._random.randint(0, most)))

    def shuffled(self, items: Iterable[T]) -> list[T]:
        listed = list(items)
        self._random.shuffle(listed)
        return listed

    def often(self) -> bool:
        return self._random.random() < 0.5

    def place(self) -> Place:
        return Place(x=self._random.randint(-2000, 2000), y=self._random.randint(-2000, 2000))


class NothingThere(Exception):
    """The document has nothing for this step."""


def _ids(workflow: Workflow) -> list[str]:
    return [i.id for i in (*workflow.nodes, *workflow.edges, *workflow.notes, *workflow.groups)]


def _junction_or_node(workflow: Workflow) -> list[str]:
    return [n.id for n in workflow.nodes] + [e.id for e in workflow.edges if e.kind in ("switch", "fan_out")]


def _anything(workflow: Workflow) -> list[str]:
    return list(dict.fromkeys([*_ids(workflow), *(found.id for found in lines(workflow))]))


def _made(found: Edit | Problem | tuple[Edit, str] | None) -> Edit | None:
    """The edit; of a refusal its quick fix, as a person might choose it."""
    if isinstance(found, tuple):
        return found[0]
    if isinstance(found, Problem):
        assert found.message.endswith("."), found.message
        return found.fix.edit if found.fix is not None else None
    return found


def _condition(chance: Chance) -> Condition | None:
    return chance.of((
        None,
        Condition(rule=Rule(value="yes")),
        Condition(rule=Rule(op="compares", path="state.k", compare=">", value=3)),
        Condition(kind="expression", expression="value.score >= 8"),
        Condition(kind="python", body="return True"),
    ))  # fmt: skip


# ------------------------------------------------------------------------------------------------ adding


def new_node(workflow: Workflow, chance: Chance) -> Edit | None:
    kind = chance.of(sorted(commands.NEW_NAMES))
    name = chance.of((None, *NAMES))
    return commands.new_node(workflow, kind, name, chance.place() if chance.often() else None)[0]


def connect(workflow: Workflow, chance: Chance) -> Edit | None:
    ends = _junction_or_node(workflow)
    source, target = chance.of(ends), chance.of(ends)
    switch = workflow.edge(source)
    cases: Sequence[str | None] = (None, commands.DEFAULT)
    if isinstance(switch, SwitchEdge):
        cases = (*cases, *(c.id for c in switch.cases))
    return _made(commands.connect(workflow, source, target, case=chance.of(cases)))


def insert_on_edge(workflow: Workflow, chance: Chance) -> Edit | None:
    line = chance.of(lines(workflow))
    kind = chance.of([k for k in sorted(commands.NEW_NAMES) if k != "note"])
    return _made(commands.insert_on_edge(workflow, line.id, kind, place=chance.place() if chance.often() else None))


def drop_on_edge(workflow: Workflow, chance: Chance) -> Edit | None:
    line = chance.of(lines(workflow))
    return _made(commands.drop_on_edge(workflow, line.id, chance.of(_junction_or_node(workflow))))


def paste(workflow: Workflow, chance: Chance) -> Edit | None:
    text = commands.copy_items(workflow, chance.some(_anything(workflow)))
    place = chance.place() if chance.often() else None
    return _made(commands.paste_items(workflow, text, place, keep_outer=chance.often()))


def duplicate(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.duplicate(workflow, chance.some(_ids(workflow)), keep_outer=chance.often())


def new_frame(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.new_frame(workflow, chance.some(n.id for n in workflow.nodes), chance.of(NAMES))[0]


# ---------------------------------------------------------------------------------------------- changing


def delete(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.delete_items(workflow, chance.some(_anything(workflow), 3))


def ungroup(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.ungroup(workflow, chance.of(workflow.groups).id)


def reconnect(workflow: Workflow, chance: Chance) -> Edit | None:
    line = chance.of(lines(workflow))
    end: dict[str, Any] = {chance.of(("source", "target")): chance.of(_junction_or_node(workflow))}
    return _made(commands.reconnect(workflow, line.id, **end))


def rename(workflow: Workflow, chance: Chance) -> Edit | None:
    named = [*workflow.nodes, *workflow.groups, *(e for e in workflow.edges if e.kind in ("switch", "fan_out"))]
    return commands.rename(workflow, chance.of(named).id, chance.of(NAMES))


def change_id(workflow: Workflow, chance: Chance) -> Edit | None:
    return _made(commands.change_id(workflow, chance.of(workflow.nodes).id, chance.of(("fresh", "a", "A", "1x", ""))))


def set_start(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.set_start(workflow, chance.of(workflow.nodes).id)


def set_output(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.set_output(workflow, chance.of(workflow.nodes).id, chance.often())


def set_condition(workflow: Workflow, chance: Chance) -> Edit | None:
    line = chance.of(found for found in lines(workflow) if found.kind in ("direct", "case", "leg"))
    return commands.set_condition(workflow, line.id, _condition(chance))


def set_label(workflow: Workflow, chance: Chance) -> Edit | None:
    line = chance.of(found for found in lines(workflow) if found.kind in ("direct", "case", "default"))
    return commands.set_label(workflow, line.id, chance.of(NAMES))


def order_cases(workflow: Workflow, chance: Chance) -> Edit | None:
    switch = chance.of(e for e in workflow.edges if isinstance(e, SwitchEdge))
    return commands.order_cases(workflow, switch.id, chance.shuffled(c.id for c in switch.cases))


def order_sources(workflow: Workflow, chance: Chance) -> Edit | None:
    fan_in = chance.of(e for e in workflow.edges if e.kind == "fan_in")
    return commands.order_sources(workflow, fan_in.id, chance.shuffled(getattr(fan_in, "sources", ())))


def to_switch(workflow: Workflow, chance: Chance) -> Edit | None:
    return _made(commands.to_switch(workflow, chance.of(workflow.edges).id))


def to_fan_out(workflow: Workflow, chance: Chance) -> Edit | None:
    return _made(commands.to_fan_out(workflow, chance.of(workflow.nodes).id))


def move(workflow: Workflow, chance: Chance) -> Edit | None:
    chosen = chance.some(i for i in (*drawn(workflow), *(g.id for g in workflow.groups)) if i in workflow.places)
    return commands.move_items({i: chance.place() for i in chosen})


def arrange(workflow: Workflow, chance: Chance) -> Edit | None:
    flows: Sequence[Flow | None] = (None, "right", "down")
    chosen = chance.some(_junction_or_node(workflow)) if chance.often() else None
    return commands.arrange_items(workflow, chosen, chance.of(flows))


def keep_places(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.keep_places(workflow, chance.some(_anything(workflow)), chance.often())


def align(workflow: Workflow, chance: Chance) -> Edit | None:
    sides: Sequence[Side] = ("left", "right", "up", "down", "across", "along")
    return commands.align(workflow, chance.some(_ids(workflow)), chance.of(sides))


def distribute(workflow: Workflow, chance: Chance) -> Edit | None:
    axes: Sequence[Axis] = ("x", "y")
    return commands.distribute(workflow, chance.some(_ids(workflow)), chance.of(axes))


def make_room(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.make_room(workflow, chance.of(_junction_or_node(workflow)))


def delete_and_join(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.delete_and_join(workflow, chance.some(_anything(workflow), 3))


def take_out(workflow: Workflow, chance: Chance) -> Edit | None:
    return _made(commands.take_out(workflow, chance.of(workflow.nodes).id))


def set_bends(workflow: Workflow, chance: Chance) -> Edit | None:
    points = [(p.x, p.y) for p in (chance.place(), chance.place(), chance.place())]
    return commands.set_bends(chance.of(lines(workflow)).id, chance.some(points, 3))


def set_collapsed(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.set_collapsed(workflow, chance.of(workflow.groups).id, chance.often())


def set_fields(workflow: Workflow, chance: Chance) -> Edit | None:
    node = chance.of(workflow.nodes)
    values: dict[str, object] = {"description": chance.of(TEXTS)}
    match node.kind:
        case "agent":
            values = {"instructions": chance.of(TEXTS), "context": chance.of(("full", "last_agent"))}
        case "function":
            values = {"body": chance.of(("result = data", "if", "")), "sends": chance.of(("text", "nothing", "Odd"))}
        case "human_input":
            values = {"question": chance.of(TEXTS), "answer_type": chance.of(("text", "boolean", "choice"))}
        case "join":
            values = {"merge": chance.of(("texts", "messages", "code"))}
        case "sub_workflow":
            values = {"path": chance.of((None, "other.workflow.json")), "direct_output": chance.often()}
    return commands.set_fields(workflow, node.id, values)


def set_note(workflow: Workflow, chance: Chance) -> Edit | None:
    return SetFields("notes", chance.of(workflow.notes).id, {"text": chance.of(TEXTS)})


def set_workflow(workflow: Workflow, chance: Chance) -> Edit | None:
    return commands.set_workflow(
        chance.of(
            (
                {"name": chance.of(NAMES)},
                {"max_supersteps": chance.of((0, 7))},
                {"state": (StateDecl(key="k"),) if chance.often() else ()},
                {"types": (TypeDecl(name="Score", json_schema={"type": "object"}),) if chance.often() else ()},
            )
        )
    )


def embed(workflow: Workflow, chance: Chance) -> Edit | None:
    """A copy of a part of the drawing becomes the content of a sub-workflow node."""
    node = chance.of(n for n in workflow.nodes if isinstance(n, SubWorkflowNode))
    inner = Workflow(id="inner", name=chance.of(NAMES))
    added, new_id = commands.new_node(inner, chance.of(("agent", "template", "function")))
    inner = Batch((added, commands.set_workflow({"start": new_id}))).apply(inner).workflow
    return commands.set_fields(workflow, node.id, {"embedded": inner, "path": None})


def extract(workflow: Workflow, chance: Chance) -> Edit | None:
    return _made(commands.extract(workflow, chance.some(_junction_or_node(workflow), 4), chance.of(NAMES)))


def inline(workflow: Workflow, chance: Chance) -> Edit | None:
    return _made(commands.inline(workflow, chance.of(n for n in workflow.nodes if isinstance(n, SubWorkflowNode)).id))


def replace_texts(workflow: Workflow, chance: Chance) -> Edit | None:
    """Replace all or some of the hits of a text, as the find panel does."""
    query = Query(chance.of(("a", "e", "text", "Writer", "{", ".", "state")), words=chance.often())
    hits = list(find(workflow, query))
    try:
        return replaced(workflow, query, hits if chance.often() else chance.some(hits), chance.of(NAMES))
    except CannotHold:
        return None


def rename_all(workflow: Workflow, chance: Chance) -> Edit | None:
    """Rename something with what mentions it."""
    kind = chance.of(KINDS)
    name, _ = chance.of(names_of(workflow, kind))
    return _made(renamed(workflow, kind, name, chance.of(("x", "rounds", *NAMES))))


def quick_fix(workflow: Workflow, chance: Chance) -> Edit | None:
    return chance.of(p.fix.edit for p in problems(workflow) if p.fix is not None)


STEPS: dict[str, Step] = {
    "new_node": new_node,
    "connect": connect,
    "insert_on_edge": insert_on_edge,
    "drop_on_edge": drop_on_edge,
    "paste_items": paste,
    "duplicate": duplicate,
    "new_frame": new_frame,
    "delete_items": delete,
    "ungroup": ungroup,
    "reconnect": reconnect,
    "rename": rename,
    "change_id": change_id,
    "set_start": set_start,
    "set_output": set_output,
    "set_condition": set_condition,
    "set_label": set_label,
    "order_cases": order_cases,
    "order_sources": order_sources,
    "to_switch": to_switch,
    "to_fan_out": to_fan_out,
    "move_items": move,
    "arrange_items": arrange,
    "keep_places": keep_places,
    "align": align,
    "distribute": distribute,
    "make_room": make_room,
    "delete_and_join": delete_and_join,
    "take_out": take_out,
    "set_bends": set_bends,
    "set_collapsed": set_collapsed,
    "set_fields": set_fields,
    "set_workflow": set_workflow,
    "note text": set_note,
    "extract": extract,
    "inline": inline,
    "embed a workflow": embed,
    "quick fix": quick_fix,
    "replace texts": replace_texts,
    "rename with references": rename_all,
}
OFTEN = ("new_node", "new_node", "connect", "connect", "connect")
"""More of these: an empty drawing tests nothing."""
