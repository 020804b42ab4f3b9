"""The recorded cases of the turn-token host, with the node made from a document: its six options arrive at the host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from studio.assembly import Services, compile_plan
from studio.document.agent_options import TurnTokenSettings
from studio.document.model import AgentNode
from studio.document.model import Workflow as Document
from studio.engine import ANY, Context, FunctionExecutor, Workflow, WorkflowBuilder
from studio.engine.hosts import TurnTokenHost

from tests.conformance.host_case import HostCase, run_case

FILE = Path(__file__).parents[1] / "conformance" / "host_cases" / "agent-host-cases.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"]


class NoClient:
    """The agent of the case answers; no model is asked."""

    model = "none"


class DocumentCase(HostCase):
    """The host of a compiled document in place of one made by hand."""

    def _workflow(self) -> Workflow:
        async def record(data: Any, ctx: Context) -> None:
            pass

        node = AgentNode(
            id=self.case["executor_id"],
            name="A",
            host="turn_token",
            turn_token=TurnTokenSettings(**self.case["options"]),
        )
        plan = compile_plan(Document(nodes=(node,), start=node.id), Services(client_for=lambda _: NoClient()))  # type: ignore[arg-type,return-value]
        host = plan.engine.executors[node.id]
        assert isinstance(host, TurnTokenHost)
        self.host, host.agent = host, self.agent
        recorder = FunctionExecutor("recorder", record, accepts=ANY, sends=())
        return WorkflowBuilder(host, name="case").edge(host, recorder).build()


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_a_host_from_a_document(case: dict[str, Any]) -> None:
    problems = await run_case(case, DocumentCase)
    assert problems == [], "\n".join([case["id"], *problems])
