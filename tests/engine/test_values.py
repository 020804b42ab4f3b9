"""Types, records, the codec, validation of graphs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from studio.agents.messages import AgentReply, AgentResponse, Data, Message, Text, ToolCall, Usage, assistant, user
from studio.checkpoints import Checkpoint, QueuedMessage, UnknownType
from studio.engine import (
    ANY,
    CONTENT,
    BuildArgumentError,
    Case,
    Codec,
    EdgeDuplicationError,
    GraphConnectivityError,
    ListOf,
    OutputDesignationError,
    Record,
    RecordType,
    TypeCompatibilityError,
    UnionOf,
    WorkflowBuilder,
    compatible,
    decode,
    encode,
    fits,
)
from studio.engine.types import coerced, parse_type, type_name

from tests.engine.nodes import ending, node, passing


async def nothing(data: Any, ctx: Any) -> None: ...


def test_fits() -> None:
    assert fits(True, int)
    assert not fits(1, float)
    assert fits([], ListOf(str))
    assert not fits(["a", 1], ListOf(str))
    assert fits(["a", user("b")], ListOf(UnionOf(str, Message)))
    assert fits(Record("Order", {}), RecordType("Order"))
    assert not fits(Record("Order", {}), RecordType("Bill"))
    assert not fits(Record("Order", {}), dict)
    assert fits(object(), ANY)
    assert fits(Text("x"), CONTENT)


def test_compatible() -> None:
    assert compatible(bool, int)
    assert not compatible(int, float)
    assert compatible(ListOf(Message), ListOf(UnionOf(str, Message)))
    assert not compatible(ListOf(UnionOf(str, int)), ListOf(str))
    assert not compatible(UnionOf(str, int), str)
    assert compatible(UnionOf(str, int), UnionOf(int, str, float))
    assert compatible(ListOf(str), list)
    assert compatible(list, ListOf(str))
    assert compatible(ANY, RecordType("Order"))
    assert not compatible(RecordType("Order"), RecordType("Bill"))


@pytest.mark.parametrize(
    "kind",
    [
        str,
        dict,
        ListOf(ListOf(int)),
        UnionOf(str, ListOf(Message)),
        ListOf(UnionOf(str, int)),
        RecordType("A"),
        CONTENT,
    ],
)
def test_names_of_types_can_be_read(kind: Any) -> None:
    assert parse_type(type_name(kind)) == kind


def test_answers_are_taken_as_they_were_meant() -> None:
    assert (coerced(1, float), type(coerced(1, float))) == (1.0, float)
    assert coerced({"a": 1}, RecordType("A")) == Record("A", {"a": 1})
    assert coerced("x", CONTENT) == Text("x")
    assert coerced([{"a": 1}], ListOf(RecordType("A"))) == [Record("A", {"a": 1})]
    assert coerced("1", int) == "1"


def test_records_are_equal_by_content_and_cannot_change() -> None:
    inside: dict[str, Any] = {"list": [{"k": 1}]}
    record = Record("A", inside)
    inside["list"][0]["k"] = 2
    assert record == Record("A", {"list": [{"k": 1}]})
    assert hash(record) == hash(Record("A", {"list": [{"k": 1}]}))
    assert record != Record("B", {"list": [{"k": 1}]})
    assert record["list"][0]["k"] == 1
    with pytest.raises(TypeError):
        record["list"][0]["k"] = 3
    assert record.plain() == {"list": [{"k": 1}]}


@dataclass(frozen=True)
class Own:
    x: int
    items: tuple[int, ...] = ()


@pytest.mark.parametrize(
    "value",
    [
        {"$": "x", "k": [1, None]},
        {1: "a"},
        (1, (2, "x")),
        b"bytes",
        [Record("A", {"d": {"e": [1]}})],
        AgentResponse("a", AgentReply((assistant("x", "a"),), Usage(1, 2)), (user("q"), assistant("x", "a"))),
        Message("user", (Text("x"), Data("data:,x", "text/plain", "data"), ToolCall("1", "t", "{}", {"a": 1}))),
        Checkpoint("c", messages=(QueuedMessage("m", "a", None, (1, 2)),)),
        Checkpoint("c", fan_in={"k": (QueuedMessage("n", "b", "c", 1),)}),
        Own(1, (2, 3)),
    ],
)  # fmt: skip
def test_the_codec_gives_back_what_it_got(value: Any) -> None:
    codec = Codec(Own)
    assert decode(json.loads(json.dumps(encode(value, codec))), codec) == value


def test_the_codec_refuses_what_it_does_not_know() -> None:
    with pytest.raises(UnknownType, match="Own"):
        encode([Own(1)])
    with pytest.raises(UnknownType, match="'strange'"):
        decode({"$": "strange"})


def test_graphs_that_are_refused() -> None:
    a, b, c = passing("a"), ending("b"), ending("c")
    with pytest.raises(BuildArgumentError):
        WorkflowBuilder(a, name="w").fan_out(a, [b])
    with pytest.raises(BuildArgumentError):
        WorkflowBuilder(a, name="w").fan_in([a], b)
    with pytest.raises(BuildArgumentError, match="default"):
        WorkflowBuilder(a, name="w").switch(a, [Case(bool, b), Case(bool, c)])
    with pytest.raises(BuildArgumentError, match="two cases"):
        WorkflowBuilder(a, name="w").switch(a, [], default=b)
    with pytest.raises(BuildArgumentError):
        WorkflowBuilder(a, name="w").chain([a])
    with pytest.raises(BuildArgumentError) as raised:
        WorkflowBuilder(a, name="w").edge(a, b).edge(a, ending("b"))
    assert raised.value.nodes == ("b",)
    with pytest.raises(BuildArgumentError):
        WorkflowBuilder(ending(""), name="w")
    with pytest.raises(EdgeDuplicationError) as duplicate:
        WorkflowBuilder(a, name="w").edge(a, b).fan_out(a, [b, c]).build()
    assert duplicate.value.nodes == ("a", "b")
    number = node("n", nothing, int)
    with pytest.raises(TypeCompatibilityError) as types:
        WorkflowBuilder(a, name="w").edge(a, number).build()
    assert (types.value.nodes, "sends str" in str(types.value)) == (("a", "n"), True)
    with pytest.raises(GraphConnectivityError) as reach:
        WorkflowBuilder(a, name="w").edge(b, c).build()
    assert reach.value.nodes == ("a", "b", "c")


@pytest.mark.parametrize(
    ("outputs", "intermediate"), [([], None), (["b", "b"], None), (["b"], ["b"]), (["zz"], None), (["a"], None)]
)
def test_designations_that_are_refused(outputs: Any, intermediate: Any) -> None:
    a, b = node("a", nothing, yields=()), ending("b")
    with pytest.raises(OutputDesignationError):
        WorkflowBuilder(a, name="w", outputs=outputs, intermediate=intermediate).edge(a, b).build()


async def test_roles() -> None:
    def graph(**designation: Any) -> Any:
        a, b = node("a", _send_and_yield), ending("b")
        return WorkflowBuilder(a, name="w", **designation).edge(a, b).build()

    async def given(**designation: Any) -> tuple[Any, Any]:
        result = await graph(**designation).run("x")
        return result.outputs, result.intermediate

    assert await given() == (("a", "x"), ())
    assert await given(outputs=["b"]) == (("x",), ())
    assert await given(outputs=["b"], intermediate="all_other") == (("x",), ("a",))
    assert await given(intermediate=["a"]) == ((), ("a",))
    assert await given(outputs="all") == (("a", "x"), ())


async def _send_and_yield(data: str, ctx: Any) -> None:
    ctx.yield_output("a")
    ctx.send(data)
