"""How two drawings differ: by id first, then by likeness; in words that name what changed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from studio.debugger.drift import Drift, compare
from studio.document.conditions import Condition
from studio.document.model import AgentNode, DirectEdge, FunctionNode, Workflow

WRITER = AgentNode(id="writer", name="Writer", instructions="Write one good sentence about the topic you are given.")
CRITIC = AgentNode(id="critic", name="Critic", instructions="Say what is missing, in ten words.")
SHOUT = FunctionNode(id="shout", name="Shout", body="result = data.upper()")


def drawing(*nodes: Any, condition: Condition | None = None) -> Workflow:
    """The nodes in a row."""
    edges = tuple(
        DirectEdge(id=f"e{i}", source=a.id, target=b.id, condition=condition if i == 0 else None)
        for i, (a, b) in enumerate(pairwise(nodes))
    )
    return Workflow(id="w", start=nodes[0].id, nodes=nodes, edges=edges)


def drift(old: Workflow, new: Workflow) -> Drift:
    return compare(old, new, same_graph=True)


def test_the_same_drawing() -> None:
    found = drift(drawing(WRITER, CRITIC), drawing(WRITER, CRITIC))
    assert not found.differs
    assert found.sentences() == []
    assert found.note() == ""
    assert found.mapping == {"writer": "writer", "critic": "critic"}


def test_changed_prompts_models_code_and_conditions_are_named() -> None:
    other = WRITER.model_copy(update={"instructions": "Be brief.", "model": "gpt-5"})
    found = drift(
        drawing(WRITER, CRITIC, SHOUT),
        drawing(
            other,
            CRITIC.model_copy(update={"instructions": "Be kind."}),
            SHOUT.model_copy(update={"body": "result = data"}),
            condition=Condition(kind="expression", name="short", expression="len(text) < 5"),
        ),
    )
    assert found.sentences() == [
        "Code of Shout differs.",
        "1 condition differs: Writer.",
        "1 model differs: Writer.",
        "2 prompts differ: Writer, Critic.",
    ]
    assert [n.kind for n in found.nodes] == ["changed", "changed", "changed"]
    assert found.note() == "prompt, model, condition of Writer changed, prompt of Critic changed and 1 more"


def test_another_name_is_a_renaming() -> None:
    found = drift(drawing(WRITER, CRITIC), drawing(WRITER.model_copy(update={"name": "Author"}), CRITIC))
    assert [(n.kind, n.old, n.new) for n in found.nodes] == [
        ("renamed", "writer", "writer"),
        ("same", "critic", "critic"),
    ]
    assert found.sentences() == ["Writer is now called Author."]


def test_a_node_with_another_id_is_found_by_likeness() -> None:
    author = WRITER.model_copy(update={"id": "author", "name": "Author"})
    found = drift(drawing(WRITER, CRITIC), drawing(author, CRITIC))
    assert found.mapping == {"writer": "author", "critic": "critic"}
    assert found.of("renamed")[0].likeness > 0.8
    assert (found.edges_gone, found.edges_new) == (0, 0), "edges of mapped nodes are the same edges"
    assert found.of("removed", "added") == []
    assert found.sentences() == ["Writer is now called Author."]
    anew = drift(drawing(WRITER, CRITIC), drawing(WRITER.model_copy(update={"id": "w2"}), CRITIC))
    assert anew.sentences() == ["Writer was drawn anew, and is taken for the same node."]
    assert anew.note() == "Writer drawn anew"


def test_unlike_nodes_are_removed_and_added() -> None:
    other = AgentNode(id="checker", name="Checker", instructions="?" * 500, max_tokens=7, context="last_agent")
    found = drift(drawing(WRITER, CRITIC, SHOUT), drawing(WRITER, other, SHOUT))
    assert [(n.kind, n.old, n.new) for n in found.of("removed", "added")] == [
        ("removed", "critic", None),
        ("added", None, "checker"),
    ]
    assert "Critic was removed." in found.sentences()
    assert "Checker was added." in found.sentences()
    assert found.mapping["critic"] is None
    assert found.sentences()[-1] == "2 edges are gone, 2 edges are new."


def test_two_likely_nodes_get_the_best_partner_each() -> None:
    one = WRITER.model_copy(update={"id": "w1", "name": "W1"})
    two = WRITER.model_copy(update={"id": "w2", "name": "W2", "instructions": WRITER.instructions + " Use rhymes."})
    again = [n.model_copy(update={"id": n.id + "x"}) for n in (two, one)]
    found = drift(drawing(one, two), drawing(*again))
    assert found.mapping == {"w1": "w1x", "w2": "w2x"}
