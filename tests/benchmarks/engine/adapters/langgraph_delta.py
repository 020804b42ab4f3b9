# ruff: noqa
"""LangGraph with the beta DeltaChannel for the message list (writes only deltas, a full snapshot every 100 updates)."""

from typing import Annotated

from bench_sub import sibling
from typing_extensions import TypedDict

lg = sibling("langgraph")
from langgraph.channels.delta import DeltaChannel


def reduce(state, writes):
    out = list(state or [])
    for w in writes:
        out.extend(w if isinstance(w, list) else [w])
    return out


class MsgS(TypedDict):
    messages: Annotated[list, DeltaChannel(reduce)]


class A(lg.A):
    name = "langgraph_delta"
    msg_schema = MsgS


ADAPTER = A()
