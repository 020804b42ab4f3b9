"""Every edit and every command: apply, then the inverse, gives an equal document; and nothing ever crashes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from studio.document import commands
from studio.document.conditions import Condition
from studio.document.edits import Batch, Edit, Insert, Remove, ReplaceAll, SetFields, SetPlaces, SetWorkflow
from studio.document.lines import lines
from studio.document.model import Note, Place, Workflow
from studio.document.problems import Problem
from studio.document.validate import problems
from studio.files.format import dumps, loads

from tests.document.strategies import workflows

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def undone(workflow: Workflow, edit: Edit | Problem | tuple[Edit, str]) -> Workflow | None:
    """Applies an edit, checks its inverse both ways, and gives the new document; None if it was refused."""
    if isinstance(edit, tuple):
        edit = edit[0]
    if isinstance(edit, Problem):
        assert edit.message.endswith(".")
        if edit.fix is None:
            return None
        edit = edit.fix.edit
    done = edit.apply(workflow)
    back = done.inverse.apply(done.workflow)
    assert back.workflow == workflow
    again = back.inverse.apply(back.workflow)
    assert again.workflow == done.workflow
    assert list(again.workflow.places) or not done.workflow.places
    return done.workflow


@quick
@given(workflows(), st.data())
def test_primitive_edits(workflow: Workflow, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(workflow.nodes))
    edits: list[Edit] = [
        Insert("notes", Note(id="fresh", text="x"), data.draw(st.none() | st.just(0))),
        Remove("nodes", node.id),
        SetFields("nodes", node.id, {"name": "Other", "description": "d"}),
        SetWorkflow({"name": "Other", "start": node.id}),
        SetPlaces({node.id: Place(x=1, y=2), "nobody": None}),
        ReplaceAll(Workflow(id="other")),
    ]
    for edit in edits:
        undone(workflow, edit)
    undone(workflow, Batch((edits[0], *edits[2:5], edits[1])))


def _ids(workflow: Workflow) -> list[str]:
    items = (*workflow.nodes, *workflow.edges, *workflow.notes, *workflow.groups)
    return list(dict.fromkeys([*(i.id for i in items), *(found.id for found in lines(workflow))]))


@quick
@given(workflows(), st.data())
def test_delete_takes_every_mention_along(workflow: Workflow, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(_ids(workflow)), max_size=4))
    left = undone(workflow, commands.delete_items(workflow, chosen))
    assert left is not None
    gone = {n.id for n in workflow.nodes} & set(chosen)
    assert not gone & {n.id for n in left.nodes}
    assert not gone & {end for found in lines(left) for end in (found.source, found.target)}
    assert not gone & ({left.start} | set(left.places) | set(left.offline.nodes))
    assert not any(gone & set(listed) for listed in (left.outputs, left.intermediate) if isinstance(listed, tuple))
    assert not any(gone & set(group.members) for group in left.groups)
    problems(left)


@quick
@given(workflows(), st.data())
def test_connect_and_reconnect(workflow: Workflow, data: st.DataObject) -> None:
    items = [i.id for i in (*workflow.nodes, *workflow.edges, *workflow.notes)]
    source, target = data.draw(st.sampled_from(items)), data.draw(st.sampled_from(items))
    case = data.draw(st.sampled_from([None, commands.DEFAULT]))
    connected = undone(workflow, commands.connect(workflow, source, target, case=case))
    drawn = list(lines(connected or workflow))
    assume(drawn)
    line = data.draw(st.sampled_from(drawn))
    end = data.draw(st.sampled_from(["source", "target"]))
    undone(connected or workflow, commands.reconnect(connected or workflow, line.id, **{end: source}))


@quick
@given(workflows(), st.data())
def test_connecting_never_adds_a_refusal(workflow: Workflow, data: st.DataObject) -> None:
    items = [i.id for i in (*workflow.nodes, *workflow.edges)]
    source, target = data.draw(st.sampled_from(items)), data.draw(st.sampled_from(items))
    edit = commands.connect(workflow, source, target)
    assume(not isinstance(edit, Problem))
    assert not isinstance(edit, Problem)
    before = _refusals(workflow)
    assert _refusals(edit.apply(workflow).workflow) <= before


def _refusals(workflow: Workflow) -> set[tuple[str, str]]:
    codes = ("duplicate_edge", "type_mismatch", "fan_in_agent", "direct_into_join", "duplicate_id", "dangling_edge")
    return {(p.code, p.place) for p in problems(workflow) if p.code in codes}


@quick
@given(workflows(), st.data())
def test_the_other_commands(workflow: Workflow, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(workflow.nodes)).id
    kind = data.draw(st.sampled_from(sorted(commands.NEW_NAMES)))
    place = data.draw(st.none() | st.just(Place(x=0, y=0)))
    undone(workflow, commands.new_node(workflow, kind, data.draw(st.none() | st.text(max_size=5)), place))
    undone(workflow, commands.rename(workflow, node, "Renamed"))
    undone(workflow, commands.set_start(workflow, node))
    undone(workflow, commands.set_output(workflow, node, data.draw(st.booleans())))
    undone(workflow, commands.new_frame(workflow, [node]))
    undone(workflow, commands.arrange_items(workflow, data.draw(st.none() | st.just([node]))))
    undone(workflow, commands.change_id(workflow, node, data.draw(st.sampled_from(["fresh", "n0", "1x", "N0"]))))
    undone(workflow, commands.to_fan_out(workflow, node))


@quick
@given(workflows(), st.data())
def test_commands_on_lines(workflow: Workflow, data: st.DataObject) -> None:
    drawn = list(lines(workflow))
    assume(drawn)
    line = data.draw(st.sampled_from(drawn))
    kind = data.draw(st.sampled_from(["agent", "template", "join", "switch", "fan_out"]))
    undone(workflow, commands.insert_on_edge(workflow, line.id, kind))
    undone(workflow, commands.drop_on_edge(workflow, line.id, data.draw(st.sampled_from(workflow.nodes)).id))
    if line.kind in ("direct", "case", "leg"):
        condition = Condition(kind="expression", expression="text == 'x'")
        changed = undone(workflow, commands.set_condition(workflow, line.id, condition))
        assert changed is not None
        assert next(found for found in lines(changed) if found.id == line.id).condition is not None
    if line.kind in ("direct", "case", "default"):
        undone(workflow, commands.set_label(workflow, line.id, "yes"))
    if line.kind == "direct":
        undone(workflow, commands.to_switch(workflow, line.edge))


@quick
@given(workflows(), workflows(), st.data())
def test_copy_paste_duplicate(workflow: Workflow, other: Workflow, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(_ids(workflow)), max_size=6))
    text = commands.copy_items(workflow, chosen)
    for into in (workflow, other):
        pasted = undone(into, commands.paste_items(into, text, Place(x=0, y=0)))
        if pasted is None:
            assert not {i.id for i in (*workflow.nodes, *workflow.notes, *workflow.groups)} & set(chosen)
            continue
        ids = [i.id for i in (*pasted.nodes, *pasted.edges, *pasted.notes, *pasted.groups)]
        assert len(set(ids)) == len(ids)
        assert len(pasted.nodes) == len(into.nodes) + len({n.id for n in workflow.nodes} & set(chosen))
    undone(workflow, commands.duplicate(workflow, chosen))


@quick
@given(workflows())
def test_problems_and_their_fixes(workflow: Workflow) -> None:
    for problem in problems(workflow):
        assert problem.message.endswith(".")
        assert problem.severity in ("error", "warning", "info")
        if problem.fix is not None:
            fixed = undone(workflow, problem.fix.edit)
            assert fixed is not None
            assert problem not in problems(fixed)


@quick
@given(workflows())
def test_file_round_trip(workflow: Workflow) -> None:
    text = dumps(workflow)
    assert loads(text) == workflow
    assert dumps(loads(text)) == text


@pytest.mark.parametrize("text", ["", "{}", "[]", "nodes", '{"format": "superstep-clipping", "nodes": 3}', "[" * 9999])
def test_paste_of_something_else(text: str) -> None:
    found: Any = commands.paste_items(Workflow(), text)
    assert isinstance(found, Problem)
    assert found.code == "not_a_clipping"
