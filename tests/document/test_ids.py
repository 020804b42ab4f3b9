"""Ids from any name, unique names."""

from __future__ import annotations

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studio.document.commands import new_node
from studio.document.ids import MAX_LENGTH, is_valid, make_id, unique_name
from studio.document.model import Workflow


@given(st.text(max_size=400), st.sets(st.sampled_from(["writer", "WRITER", "node", "node_2", "class_"])))
def test_every_name_gives_a_free_valid_id(name: str, taken: set[str]) -> None:
    made = make_id(name, taken)
    assert is_valid(made)
    assert made.isidentifier()
    assert not keyword.iskeyword(made)
    assert made not in {i.casefold() for i in taken}


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("Writer", "writer_2"),
        ("", "node"),
        ("Élan vital!", "elan_vital"),
        ("a\"b'c", "a_b_c"),
        ("日本語", "node"),
        ("🙂 🙂", "node"),
        ("מחבר", "node"),
        ("class", "class_"),
        ("3 ideas", "node_3_ideas"),
        ("x" * 300, "x" * MAX_LENGTH),
    ],
)
def test_ids(name: str, made: str) -> None:
    assert make_id(name, ["Writer"]) == made


def test_a_long_taken_id_gets_a_number_within_the_limit() -> None:
    first = make_id("y" * 300, [])
    second = make_id("y" * 300, [first])
    assert second.endswith("_2")
    assert len(second) == MAX_LENGTH


@pytest.mark.parametrize("name", ["", "  ", "x" * 300, '"quoted"', "🙂", "日本語", "שלום", "lambda", "\n"])
def test_a_node_of_any_name(name: str) -> None:
    edit, new_id = new_node(Workflow(), "agent", name)
    node = edit.apply(Workflow()).workflow.node(new_id)
    assert node is not None
    assert node.name == (name.strip() or "Agent")
    assert is_valid(new_id)


def test_names_are_numbered() -> None:
    workflow = Workflow()
    for _ in range(3):
        edit, _ = new_node(workflow, "agent")
        workflow = edit.apply(workflow).workflow
    assert [n.name for n in workflow.nodes] == ["Agent", "Agent 2", "Agent 3"]
    assert unique_name("Agent 2", workflow) == "Agent 4"
