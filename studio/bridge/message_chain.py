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
        """The messages that were sent by invocations that this one started."""
        started = set(self.taken_by(view))
        return [one for one in self._messages if one.invocation in started]

    def causes(self, view: MessageView) -> list[MessageView]:
        """The messages that started the invocation that sent this one."""
        sender = self._invocations.get(view.invocation or "")
        if sender is None:
            return []
        near = [m for m in self._messages if any(target == sender.node for _, target, _, _ in m.routes)]
        near = [m for m in near if m.superstep < sender.superstep]
        return [m for m in near if m is not view and view.invocation in self.taken_by(m)]


def nodes_of(views: Sequence[MessageView]) -> tuple[str, ...]:
    """The nodes that messages come from, and that took them."""
    found: list[str] = []
    for view in views:
        found.append(view.source)
        found += [target for _, target, delivered, reason in view.routes if delivered or reason == "buffered"]
    return tuple(dict.fromkeys(found))
