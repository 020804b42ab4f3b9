"""Settings of clients that record, or that are answered from a cassette."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from studio.agents.cassettes.cassette import Cassette
from studio.agents.cassettes.tape import Policy, Tape
from studio.agents.connection import ClientSettings

__all__ = ["Policy", "recording", "replaying"]


def recording(settings: ClientSettings, tape: Cassette | Tape) -> ClientSettings:
    """The same provider; everything it answers goes onto the cassette. Clients of one run share one :class:`Tape`."""
    shared = _tape(tape)

    def around(inner: Any, in_process: bool) -> object:
        from studio.agents.cassettes.transport import RecordingTransport

        return RecordingTransport(inner, shared, in_process=in_process)

    return replace(settings, around=around, name_node=True)


def replaying(
    settings: ClientSettings, tape: Cassette | Tape, policy: Policy = "strict", speed: float = 0
) -> ClientSettings:
    """Answers from the cassette instead of the provider; only with the policy "new" is the provider ever asked."""
    shared = _tape(tape, policy)

    def around(inner: Any, in_process: bool) -> object:
        from studio.agents.cassettes.transport import RecordingTransport, ReplayTransport

        recorder = RecordingTransport(inner, shared, in_process=in_process)
        return ReplayTransport(shared, speed, recorder if shared.policy == "new" else None)

    return replace(settings, around=around, name_node=True, api_key=settings.api_key or "replayed")


def _tape(tape: Cassette | Tape, policy: Policy = "strict") -> Tape:
    return tape if isinstance(tape, Tape) else Tape(tape, policy)
