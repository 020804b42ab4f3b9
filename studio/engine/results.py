"""What one invocation did, as a value: recorded from a node that ran, or taken instead of running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio.engine.types import Type


@dataclass(frozen=True, slots=True)
class Invocation:
    """Which invocation it is. ``inside``: ids of the sub-workflow nodes around, outermost first."""

    node: str
    id: str
    """Unique within a run; the events of the invocation carry it."""
    superstep: int
    sources: tuple[str, ...]
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """A message for the next superstep, see :meth:`studio.engine.context.Context.send`."""

    data: Any
    target: str | None = None
    purpose: str = "send"


@dataclass(frozen=True, slots=True)
class Yielded:
    """An output. ``passed_on``: of a nested workflow, not counted as the node's own."""

    data: Any
    intermediate: bool = False
    passed_on: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that now waits for its answer."""

    id: str
    data: Any
    response_type: Type


@dataclass(frozen=True, slots=True)
class Wrote:
    """A key of shared state."""

    key: str
    value: Any


Effect = Sent | Yielded | Asked | Wrote


@dataclass(frozen=True, slots=True)
class NodeResult:
    """Everything an invocation did, in order, and what the node itself remembers afterwards.

    ``saved`` None leaves the node's own state as it is: right for a pinned or muted node, while the recorded result of
    a node with a conversation needs it. A pin is ``NodeResult((Sent(reply),))``, a mute ``NodeResult((Sent(data),))``.
    """

    effects: tuple[Effect, ...] = ()
    saved: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """The failed invocation runs again with ``data``, as if it had not run before."""

    data: Any
