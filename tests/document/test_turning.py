"""Drawings from top to bottom: places of what is new, groups and copies from drawings that run the other way."""

from __future__ import annotations

from studio.document import commands
from studio.document.geometry import at_port, behind, bounds, free_place
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    Group,
    JoinNode,
    Note,
    Place,
    SubWorkflowNode,
    Workflow,
)
from studio.document.ready_groups import add_ready_group, size_with_frame
from studio.document.turning import turned_to
from studio.export.dot import dot
from studio.export.mermaid import mermaid


def agent(node_id: str) -> AgentNode:
    return AgentNode(id=node_id, name=node_id.upper())


def wide() -> Workflow:
    """a -> bar -> (b, c) -> join -> d from left to right, a note above a and one below d, b and c in a frame."""
    return Workflow(
        id="w",
        nodes=(agent("a"), agent("b"), agent("c"), JoinNode(id="join", name="Join"), agent("d")),
        edges=(
            FanOutEdge(id="bar", name="Bar", source="a", targets=("b", "c")),
            FanInEdge(id="in", sources=("b", "c"), target="join"),
            DirectEdge(id="out", source="join", target="d"),
        ),
        notes=(Note(id="over", text="Over"), Note(id="under", text="Under")),
        groups=(Group(id="g", name="G", members=("b", "c")),),
        places={
            "a": Place(x=0, y=80),
            "bar": Place(x=224, y=80),
            "b": Place(x=256, y=32),
            "c": Place(x=256, y=136),
            "join": Place(x=504, y=18),
            "d": Place(x=560, y=80, width=208),
            "out": Place(x=530, y=100, bends=((530, 100),)),
            "over": Place(x=0, y=-120, width=160, height=80),
            "under": Place(x=560, y=240, width=160, height=80),
            "g": Place(x=232, y=-8, width=248, height=232),
        },
    )


DOWN = {"flow": "down"}


def middle(workflow: Workflow, item: str) -> float:
    left, _, right, _ = bounds(workflow, (item,)) or (0, 0, 0, 0)
    return (left + right) / 2


def test_a_drawing_is_turned_as_it_stands_and_back() -> None:
    down = turned_to(wide(), "down")
    places = down.places
    assert down.flow == "down"
    assert turned_to(down, "down") is down
    assert [places[i].y for i in ("a", "bar", "b", "c", "join", "d")] == [16, 152, 232, 232, 368, 448]
    assert (places["b"].x, places["c"].x) == (8, 248)
    assert {middle(down, i) for i in ("a", "bar", "join", "d")} == {228}
    assert bounds(down, ("join",)) == (92, 368, 364, 376)
    assert "out" not in places
    assert (places["g"].x, places["g"].y, places["g"].width, places["g"].height) == (-16, 192, 488, 128)
    assert (places["over"].x, places["over"].y) == (-192, 16)
    assert (places["under"].x, places["under"].y) == (488, 448)
    back = turned_to(down, "right")
    assert [back.places[i].x for i in ("a", "bar", "b", "join", "d")] == [8, 280, 360, 632, 712]
    assert back.places["b"].y < back.places["c"].y


def test_ready_groups_and_copies_run_as_the_drawing_that_takes_them() -> None:
    below = Workflow(id="other", flow="down")
    edit, group = add_ready_group(below, wide(), "concurrent", Place(x=100, y=100))
    done = edit.apply(below).workflow
    frame, inside = done.places[group], bounds(done, [n.id for n in done.nodes])
    assert inside is not None
    assert (frame.width, frame.height) == size_with_frame(turned_to(wide(), "down"))
    assert (frame.x, frame.y) == (100, 100)
    assert inside[0] > frame.x
    assert inside[3] < frame.y + (frame.height or 0)
    text = commands.copy_items(wide(), ("a", "b", "c", "bar"))
    pasted = commands.paste_items(below, text, Place(x=0, y=0))
    assert not hasattr(pasted, "message")
    copied = pasted.apply(below).workflow  # type: ignore[union-attr]
    assert copied.places["a"].y < copied.places["bar"].y < copied.places["b"].y == copied.places["c"].y
    assert middle(copied, "a") == middle(copied, "bar")


def test_what_was_extracted_runs_on_as_it_did_and_comes_back() -> None:
    down = turned_to(wide(), "down")
    found = commands.extract(down, ("b", "c", "join", "a", "bar", "d"))
    assert isinstance(found, tuple)
    outer = found[0].apply(down).workflow
    node = outer.node(found[1])
    assert isinstance(node, SubWorkflowNode)
    assert node.embedded is not None
    assert node.embedded.flow == "down"
    turned = outer.model_copy(update={"flow": "right"})
    edit = commands.inline(turned, found[1])
    assert not hasattr(edit, "message")
    again = edit.apply(turned).workflow  # type: ignore[union-attr]
    assert again.places["a"].x < again.places["b"].x < again.places["join"].x < again.places["d"].x


def test_new_things_go_below_and_give_way_to_the_right() -> None:
    lone = Workflow(id="w", nodes=(agent("a"),), places={"a": Place(x=0, y=0)}, **DOWN)  # type: ignore[arg-type]
    assert free_place(lone) == Place(x=0, y=136)
    assert free_place(lone, wanted=Place(x=40, y=8)) == Place(x=240, y=8)
    side = lone.model_copy(update={"flow": "right"})
    assert free_place(side) == Place(x=272, y=0)
    assert free_place(side, wanted=Place(x=40, y=8)) == Place(x=40, y=88)
    assert behind((0, 0, 200, 64), (188, 8), down=True) == Place(x=6, y=136)
    assert behind((0, 0, 200, 64), (40, 40), down=False, before=True) == Place(x=-112, y=12)
    assert at_port((101, 300), (200, 64), down=True) == Place(x=0, y=304)
    assert at_port((101, 300), (200, 64), down=True, out=True) == Place(x=0, y=240)
    assert at_port((304, 101), (200, 64), down=False, out=True) == Place(x=104, y=72)


def test_a_switch_and_a_fan_out_come_right_below_their_source() -> None:
    base = Workflow(
        id="w",
        nodes=(agent("a"), agent("b"), agent("c")),
        edges=(DirectEdge(id="ab", source="a", target="b"), DirectEdge(id="ac", source="a", target="c")),
        places={"a": Place(x=120, y=0), "b": Place(x=0, y=200), "c": Place(x=240, y=200)},
        flow="down",
    )
    switch = commands.to_switch(base, "ab")
    bar = commands.to_fan_out(base, "a")
    assert isinstance(switch, tuple)
    assert isinstance(bar, tuple)
    assert switch[0].apply(base).workflow.places[switch[1]] == Place(x=200, y=112)
    assert bounds(bar[0].apply(base).workflow, (bar[1],)) == (188, 112, 252, 120)


def test_arranging_the_other_way_takes_notes_along_and_pictures_as_text_follow() -> None:
    start = wide()
    done = commands.arrange_items(start, None, "down").apply(start)
    boxes = [bounds(done.workflow, (i,)) for i in ("over", "under")]
    drawing = bounds(done.workflow, ("a", "b", "c", "join", "d", "bar"))
    assert drawing is not None
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0][2] < drawing[0]
    assert boxes[1][0] > drawing[2]
    assert done.inverse.apply(done.workflow).workflow == start
    assert "flowchart TB" in mermaid(done.workflow)
    assert "rankdir=TB" in dot(done.workflow)
    assert "flowchart LR" in mermaid(start)
