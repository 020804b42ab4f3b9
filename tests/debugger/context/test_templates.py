"""The templates are what a newcomer runs first: nothing that a provider would refuse, nothing left in a join."""

from __future__ import annotations

from pathlib import Path

import pytest
from studio.debugger.context.inspection import Inspection
from studio.document.model import HumanInputNode
from studio.files import loads
from studio.settings.places import resource

from tests.assembly.running import Bench

TEMPLATES = sorted(resource("templates").glob("*.workflow.json"))


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name.partition(".")[0])
async def test_no_template_sends_half_a_call_or_leaves_something_in_a_join(file: Path) -> None:
    flow = loads(file.read_text(encoding="utf-8"))
    flow = flow.model_copy(update={"offline": flow.offline.model_copy(update={"delay_ms": 0})})
    answers = {n.id: (n.choices or ("fine",))[0] for n in flow.nodes if isinstance(n, HumanInputNode)}
    bench = Bench()
    ran = await bench.run(flow, flow.sample_input, answers or {"": ""}, stream=True)
    await bench.source.close()
    inspection = Inspection(flow)
    for event in ran.events:
        inspection.fold(event)
    assert ran.outputs
    found = [f"{one.rule} {one.text}" for one in inspection.findings() if one.severity == "error" or one.rule == "W10"]
    assert found == []
