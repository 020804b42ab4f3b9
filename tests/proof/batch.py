"""Many documents in one process of the real framework, each compared with the embedded engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.agents.offline import serve
from studio.assembly import ServiceSource, served_model
from studio.document.model import Workflow
from studio.export import export_project
from studio.files import write_project
from studio.proof.expected import Sample, offline_source, outcome_of
from studio.proof.model import Outcome, Shape, outcome_from, outcomes_differ, shape_from, shapes_differ
from studio.proof.process import told
from studio.proof.proving import module_of
from studio.proof.recorded import without_waits

_BATCH = 40

Export = Callable[[str, Workflow, str], dict[str, str]]
"""Name of a document, the document, name of the package -> the files."""


def as_project(_name: str, flow: Workflow, package: str) -> dict[str, str]:
    return export_project(flow, package)


async def differences(
    documents: Mapping[str, Workflow],
    folder: Path,
    *,
    export: Export = as_project,
    restored: Callable[[str], bool] = lambda _: True,
    samples: Mapping[str, Sample] | None = None,
    outcomes: dict[str, Outcome] | None = None,
) -> dict[str, str]:
    """Name -> where code and canvas differ; nothing for those that do not. Those with a name that is ``restored`` are
    interrupted and restored from a checkpoint, too."""
    names = list(documents)
    found: dict[str, str] = {}
    source = offline_source()
    try:
        for at in range(0, len(names), _BATCH):
            part = {name: documents[name] for name in names[at : at + _BATCH]}
            jobs = _Batch(folder / str(at), source, export, restored, samples or {})
            found |= await jobs.run(part)
            if outcomes is not None:
                outcomes |= {name: outcome for name, _, outcome in jobs.expected}
    finally:
        await source.close()
    return found


@dataclass(slots=True)
class _Batch:
    """Some documents in one process."""

    folder: Path
    source: ServiceSource
    export: Export
    restored: Callable[[str], bool]
    samples: Mapping[str, Sample]
    expected: list[tuple[str, Shape, Outcome]] = field(default_factory=list)

    async def run(self, documents: Mapping[str, Workflow]) -> dict[str, str]:
        async with AsyncExitStack() as servers:
            jobs = [await self._job(name, flow, servers) for name, flow in documents.items()]
            return await _compared(jobs, self.expected)

    async def _job(self, name: str, flow: Workflow, servers: AsyncExitStack) -> dict[str, Any]:
        flow = without_waits(flow)
        sample = self.samples.get(name) or Sample(flow.sample_input or "Hello there")
        shape, outcome, answers = await outcome_of(flow, sample, source=self.source)
        package = f"flow_{len(self.expected)}"
        files = self.export(name, flow, package)
        write_project(files, self.folder / package)
        server = await serve(served_model(flow))
        servers.push_async_callback(server.close)
        self.expected.append((name, shape, outcome))
        return {
            "folder": str(self.folder / package),
            "module": module_of(files),
            "input": sample.input,
            "answers": answers,
            "steps": ["restores"] if self.restored(name) else [],
            "environment": {
                "OPENAI_API_KEY": server.key,
                "OPENAI_BASE_URL": server.url,
                "OPENAI_CHAT_COMPLETION_MODEL": "offline",
                "OPENAI_CHAT_MODEL": "offline",
            },
        }


async def _compared(
    jobs: Sequence[Mapping[str, Any]], expected: Sequence[tuple[str, Shape, Outcome]]
) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    async with aclosing(told(sys.executable, jobs, 120)) as lines:
        async for line in lines:
            if line["step"] == "done":
                at += 1
                continue
            name, shape, outcome = expected[at]
            difference: Any = None
            if "error" in line:
                found[name] = f"{line['step']}: {line['error']}"
            elif line["step"] == "builds":
                difference = shapes_differ(shape, shape_from(line))
            elif "outputs" in line:
                difference = outcomes_differ(outcome, outcome_from(line))
            if difference is not None:
                found[name] = f"{line['step']}: {difference.text}"
    return found
