"""From a message back to its causes and forward to its effects."""

from __future__ import annotations

from studio.bridge.message_chain import MessageChain, nodes_of
from studio.bridge.run_views import InvocationView, MessageView


def sent(id: str, by: str, step: int, *routes: tuple[str, bool, str], invocation: str | None = None) -> MessageView:
    made = MessageView(id, by, None, step, "text", id, id, invocation=invocation)
    made.routes = [(f"{by}-{target}", target, delivered, reason) for target, delivered, reason in routes]
    return made


RAN = {
    key: InvocationView(key, node, step, float(at), at + 0.5, "done")
    for at, (key, node, step) in enumerate(
        [("a1", "a", 1), ("b1", "b", 2), ("c1", "c", 2), ("j1", "join", 4), ("a2", "a", 1), ("b2", "b", 2)]
    )
}
ALL = [
    sent("in", "start", 0, ("a", True, "")),
    sent("m1", "a", 1, ("b", True, ""), ("c", True, ""), ("d", False, "score 6 is not ≥ 8"), invocation="a1"),
    sent("m2", "b", 2, ("join", False, "buffered"), invocation="b1"),
    sent("m3", "c", 2, ("x", True, ""), invocation="c1"),
    sent("m4", "join", 4, invocation="j1"),
    sent("m5", "a", 1, ("b", True, ""), invocation="a2"),
    sent("m6", "b", 2, invocation="b2"),
]
CHAIN = MessageChain(ALL, RAN)
BY = {view.message: view for view in ALL}


def ids(found: list[MessageView]) -> list[str]:
    return [view.message for view in found]


def test_forward_to_what_it_caused_and_back() -> None:
    assert ids(CHAIN.effects(BY["m1"])) == ["m2", "m3"]
    assert ids(CHAIN.causes(BY["m2"])) == ["m1"]
    assert ids(CHAIN.causes(BY["m1"])) == ["in"]
    assert CHAIN.causes(BY["in"]) == []


def test_a_join_takes_what_it_kept() -> None:
    assert CHAIN.taken_by(BY["m2"]) == ["j1"]
    assert ids(CHAIN.effects(BY["m2"])) == ["m4"]
    assert ids(CHAIN.causes(BY["m4"])) == ["m2"]


def test_supersteps_of_a_second_input_count_anew() -> None:
    assert ids(CHAIN.effects(BY["m5"])) == ["m6"]
    assert ids(CHAIN.causes(BY["m6"])) == ["m5"]


def test_a_dropped_message_causes_nothing_and_marks_no_node() -> None:
    lost = sent("lost", "a", 1, ("b", False, "type"), invocation="a1")
    assert CHAIN.effects(lost) == []
    assert nodes_of([lost]) == ("a",)
    assert nodes_of([BY["m1"]]) == ("a", "b", "c")


def test_an_answer_leads_back_to_what_made_the_node_ask() -> None:
    ran = {
        key: InvocationView(key, "ask", step, float(step), step + 0.5, "done") for key, step in (("q1", 1), ("q2", 2))
    }
    first = sent("in", "start", 0, ("ask", True, ""))
    answer = MessageView("yes", "internal:ask", "ask", 1, "text", "yes", "yes", purpose="answer")
    answer.routes = [("internal", "ask", True, "")]
    after = sent("out", "ask", 2, invocation="q2")
    chain = MessageChain([first, answer, after], ran)
    assert (ids(chain.effects(first)), ids(chain.causes(answer))) == (["yes"], ["in"])
    assert (ids(chain.effects(answer)), ids(chain.causes(after))) == (["out"], ["yes"])
