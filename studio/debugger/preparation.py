"""A document becomes ready to run: pinned as it is, its code loaded, its clients at hand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from studio.agents.client import ChatRequest, ChunkSink, RunHooks
from studio.agents.messages import AgentReply
from studio.assembly import Plan, PlanError, Services, ServiceSource, compile_plan
from studio.document.model import Workflow
from studio.engine import Workflow as Graph
from studio.files import dumps
from studio.workers import Worker


class PinnedPlan:
    """A plan for one session. Clients and workers belong to the source it was made with."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.document_text = dumps(plan.document)
        """The document as it is pinned."""

    @property
    def workflow(self) -> Graph:
        """The graph that runs."""
        return self.plan.engine

    @property
    def fingerprint(self) -> str:
        """Of the document, linked files included."""
        return self.plan.fingerprint

    @property
    def linked(self) -> Mapping[str, Workflow]:
        """The workflows of linked files as they were read, by the path of their node."""
        return self.plan.linked

    def try_now(self) -> None:
        """Ends all waits for a further try of a refused model call."""
        self.plan.try_now()

    async def close(self) -> None:
        """Nothing of its own to give up: a cancelled call has closed its connection and ended its worker."""


async def prepare(document: Workflow, source: ServiceSource, folder: Path | None) -> PinnedPlan:
    """Makes the plan, in a thread, and loads the code. Raises :class:`PlanError`,
    :class:`studio.workers.UserCodeError`."""
    services = source.services(document, folder)
    pinned = await asyncio.to_thread(lambda: PinnedPlan(compile_plan(document, services)))
    await source.learn_keys(document)
    await pinned.plan.prepare()
    return pinned


async def signature_of(document: Workflow, folder: Path | None) -> str:
    """The graph signature that decides which checkpoints can go on; "" if the document cannot run. Made in a thread."""
    plan = await asyncio.to_thread(_plan, document, folder)
    return plan.engine.signature if plan is not None else ""


async def fingerprint_of(document: Workflow, folder: Path | None) -> str:
    """What a run of this document would be recorded with, linked files included; "" if it cannot run."""
    plan = await asyncio.to_thread(_plan, document, folder)
    return plan.fingerprint if plan is not None else ""


def _plan(document: Workflow, folder: Path | None) -> Plan | None:
    services = Services(lambda _node: _NoClient(), Worker(), trusted=True, folder=folder)
    try:
        return compile_plan(document, services)
    except PlanError:
        return None


class _NoClient:
    """Stands for a client in a plan that is never run."""

    model = ""

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        raise AssertionError("This plan is not run.")

    async def close(self) -> None: ...
