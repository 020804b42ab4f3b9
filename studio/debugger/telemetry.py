"""Whether runs are traced: off until a person switches it on; then one tracer for the program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from studio.agents import telemetry
from studio.agents.telemetry import Spans
from studio.debugger.tracing import AgentFacts, RunTrace
from studio.document.fingerprint import document_fingerprint
from studio.document.model import SubWorkflowNode, Workflow
from studio.document.runners import all_agents
from studio.engine import events as ev
from studio.settings.preferences import Preferences
from studio.settings.profiles import Profiles
from studio.settings.secrets import Secrets


class Telemetry:
    """One per program. ``told`` hears, once, why spans cannot be sent."""

    def __init__(
        self,
        preferences: Callable[[], Preferences],
        profiles: Callable[[], Profiles],
        secrets: Secrets,
        told: Callable[[str], object],
        opening: Callable[[], Spans] = telemetry.open_spans,
    ) -> None:
        self._preferences = preferences
        self._profiles = profiles
        self._secrets = secrets
        self._told = told
        self._opening = opening
        self._spans: Spans | None = None

    async def prepare(self) -> None:
        """Opens the exporters if telemetry is switched on; nothing is imported while it is off."""
        if self._preferences().telemetry and self._spans is None:
            self._spans = await asyncio.to_thread(self._opening)
            if self._spans.problem:
                self._told(self._spans.problem)

    def sink(self, sink: ev.EventSink, workflow: Workflow, run: str) -> ev.EventSink:
        """The sink of a run, with spans made in front of it if they are wanted and can be."""
        return _Late(sink, lambda: self._traced(sink, workflow, run)) if self._preferences().telemetry else sink

    def _traced(self, sink: ev.EventSink, workflow: Workflow, run: str) -> ev.EventSink:
        if self._spans is None or self._spans.tracer is None:
            return sink
        return RunTrace(
            sink,
            self._spans.tracer,
            workflow.name,
            run,
            agents=self._facts(workflow),
            fingerprint=document_fingerprint(workflow),
            content=self._preferences().telemetry_content,
            known=lambda: self._secrets.known,
        )

    async def close(self) -> None:
        """Sends what is left."""
        spans, self._spans = self._spans, None
        if spans is not None:
            await asyncio.to_thread(telemetry.close_spans, spans)

    def _facts(self, workflow: Workflow, inside: str = "") -> dict[str, AgentFacts]:
        found: dict[str, AgentFacts] = {}
        for agent in all_agents(workflow):
            attributes: dict[str, Any] = {}
            profile = self._profiles().find(agent.profile)
            if profile is not None:
                attributes[telemetry.PROVIDER] = telemetry.PROVIDERS.get(profile.kind, profile.kind)
                address = urlsplit(profile.base_url)
                if address.hostname:
                    attributes[telemetry.SERVER_ADDRESS] = address.hostname
                    attributes[telemetry.SERVER_PORT] = address.port or (443 if address.scheme == "https" else 80)
            if agent.temperature is not None:
                attributes[telemetry.TEMPERATURE] = agent.temperature
            if agent.max_tokens is not None:
                attributes[telemetry.MAX_TOKENS] = agent.max_tokens
            found[inside + agent.id] = AgentFacts(agent.name or agent.id, attributes)
        for node in workflow.nodes:
            if isinstance(node, SubWorkflowNode) and node.embedded is not None:
                found |= self._facts(node.embedded, f"{inside}{node.id}/")
        return found


class _Late:
    """Decides at the first event: a run's sink is made before the run is prepared, and with it the exporters."""

    def __init__(self, sink: ev.EventSink, make: Callable[[], ev.EventSink]) -> None:
        self._sink = sink
        self._make: Callable[[], ev.EventSink] | None = make

    def append(self, event: ev.Event) -> None:
        """The next event of the run."""
        if self._make is not None:
            self._sink, self._make = self._make(), None
        self._sink.append(event)
