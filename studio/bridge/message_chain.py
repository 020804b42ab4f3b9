"""Messages as causes and effects: what a message was made from, and what was made from it. No Qt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from studio.bridge.run_views import InvocationView, MessageView


class MessageChain:
    """The messages and invocations of a run as they are now; made anew when it went on."""

    def __init__(self, messages: Sequence[MessageView], invocations: Mapping[str, InvocationView]) -> None:
        self._messages = messages
        self._invocations = invocations
        self._places = {key: at for at, key in enumerate(invocations)}
        self._by_node: dict[str, list[str]] = {}
        for key, view in invocations.items():
            if not view.inside:
                self._by_node.setdefault(view.node, []).append(key)

    def taken_by(self, view: MessageView) -> list[str]:
        """The invocations that a message started or helped to start: of each node that took it the first one in the
        superstep after it was sent; of a join that kept it, the first one from then on."""
        after = self._places.get(view.invocation or "", -1) + 1
        found: list[str] = []
        for _, target, delivered, reason in view.routes:
            if not delivered and reason != "buffered":
                continue
            keys = self._by_node.get(target, [])
            for key in keys[bisect_left(keys, after, key=self._places.__getitem__) :]:
                step = self._invocations[key].superstep
                if step == view.superstep + 1 or (not delivered and step > view.superstep):
                    if key not in found:
                        found.append(key)
                    break
        return found

    def effects(self, view: MessageView) -> list[MessageView]:
        """The messages that were sent by invocations that this one started, and answers to what those asked."""
        started = set(self.taken_by(view))
        return [one for one in self._messages if self._sender(one) in started]

    def causes(self, view: MessageView) -> list[MessageView]:
        """The messages that started the invocation that sent this one; of an answer, the one that asked for it."""
        key = self._sender(view)
        sender = self._invocations.get(key or "")
        if sender is None:
            return []
        near = [m for m in self._messages if any(target == sender.node for _, target, _, _ in m.routes)]
        near = [m for m in near if m.superstep < sender.superstep]
        return [m for m in near if m is not view and key in self.taken_by(m)]

    def _sender(self, view: MessageView) -> str | None:
        """The invocation that a message is of. An answer comes from a person: the last invocation of its node before
        it was taken has asked for it."""
        if view.purpose != "answer":
            return view.invocation
        keys, taken = self._by_node.get(view.target or "", []), self.taken_by(view)
        until = self._places[taken[0]] if taken else len(self._places)
        earlier = keys[: bisect_left(keys, until, key=self._places.__getitem__)]
        return earlier[-1] if earlier else None


def nodes_of(views: Sequence[MessageView]) -> tuple[str, ...]:
    """The nodes that messages come from, and that took them."""
    found: list[str] = []
    for view in views:
        found.append(view.source)
        found += [target for _, target, delivered, reason in view.routes if delivered or reason == "buffered"]
    return tuple(dict.fromkeys(found))
