"""The proof of an export: every step is run, and what was not run is called so."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from studio.agents.offline import serve
from studio.assembly import PlanError, served_model
from studio.document.model import Workflow
from studio.files import write_project
from studio.proof.expected import Sample, outcome_of
from studio.proof.interpreters import Interpreter, NoInterpreter, find_interpreter
from studio.proof.model import Outcome, Shape, Step, outcome_from, outcomes_differ, shape_from, shapes_differ
from studio.proof.process import ProcessEnded, told
from studio.proof.recorded import with_script, without_waits
from studio.workers import UserCodeError

NO_SMOKE_TEST = "The export has none."
ONE_SUPERSTEP = "The run has one superstep only, so there is no checkpoint in the middle of it."
TOO_LONG = "The run has more than 60 supersteps; to save and restore all that it keeps would take minutes."
KEYS = ("compiles", "lints", "builds", "smoke", "same", "restores", "secrets")
"""The steps in order."""
_SECONDS = 120.0
_FROM_CHILD = {key: key for key in KEYS if key not in ("same", "secrets")} | {"runs": "same"}
_SECRETS = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|Bearer\s+[A-Za-z0-9._-]{20,})"
)

OnStep = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Proof:
    """The steps as they ended. ``events``: how many were compared; ``interpreter`` None: none was found."""

    steps: tuple[Step, ...]
    seconds: float
    events: int = 0
    interpreter: Interpreter | None = None

    @property
    def proven(self) -> bool:
        """Whether the code was built, run, and gave the same result. A finding of the linter leaves it so, and so does
        what there is nothing of: a smoke test that is not wanted, a checkpoint between two supersteps of one."""
        return all(step.state == "passed" or step.key == "lints" or _has_none(step) for step in self.steps)

    @property
    def failed(self) -> Step | None:
        """The first step that failed."""
        found = [step for step in self.steps if step.state == "failed"]
        return next((step for step in found if step.key != "lints"), found[0] if found else None)


def _has_none(step: Step) -> bool:
    """Whether a step was not run because there is nothing that it could look at, or too much."""
    reasons = (("smoke", NO_SMOKE_TEST), ("restores", ONE_SUPERSTEP), ("restores", TOO_LONG))
    return step.state == "not_run" and (step.key, step.detail) in reasons


async def prove(
    document: Workflow,
    files: Mapping[str, str],
    sample: Sample | None = None,
    *,
    folder: Path | None = None,
    interpreters: Sequence[str | None] = (),
    on_step: OnStep = lambda _: None,
) -> Proof:
    """Runs all steps. Code of the document runs here and in the export: ask for trust before. May be cancelled."""
    proving = _Proving(document, files, sample or Sample(input=document.sample_input or "Hello"), folder, on_step)
    return await proving.run([*interpreters, document.interpreter])


class _Proving:
    def __init__(
        self, document: Workflow, files: Mapping[str, str], sample: Sample, folder: Path | None, on_step: OnStep
    ) -> None:
        script = sample.script
        self._document = without_waits(document if script is None else with_script(document, script))
        self._files = files
        self._sample = sample
        self._folder = folder
        self._on_step = on_step
        self._steps = {key: Step(key) for key in KEYS}
        self._started = self._begun = time.perf_counter()
        self._events = 0

    async def run(self, interpreters: Sequence[str | None]) -> Proof:
        """All steps in order; those after a failed one are not run."""
        for step in self._steps.values():
            self._on_step(step)
        found: Interpreter | None = None
        self._run("compiles")
        try:
            found = await find_interpreter(interpreters)
            with tempfile.TemporaryDirectory(prefix="proof-") as where:
                project = Path(where) / "project"
                await asyncio.to_thread(write_project, self._files, project)
                await self._in_child(found, project)
        except NoInterpreter as problem:
            self._end("compiles", "not_run", str(problem))
        except (OSError, TimeoutError, ProcessEnded) as problem:
            words = "It took too long." if isinstance(problem, TimeoutError) else f"The run ended early: {problem}"
            self._end(self._running(), "failed", words)
        self._secrets()
        for key, step in self._steps.items():
            if step.state in ("waiting", "running"):
                self._end(key, "not_run", "A step before this one did not pass.")
        return Proof(tuple(self._steps.values()), time.perf_counter() - self._started, self._events, found)

    # ------------------------------------------------------------------------------------------------- the steps

    async def _in_child(self, python: Interpreter, where: Path) -> None:
        try:
            shape, outcome, answers = await outcome_of(
                self._document, self._sample, self._folder, interpreter=python.path
            )
        except (PlanError, UserCodeError) as problem:
            self._end("compiles", "not_run", f"The canvas itself cannot run: {problem}")
            return
        server = await serve(served_model(self._document, self._folder))
        job = {
            "folder": str(where),
            "module": module_of(self._files),
            "input": self._sample.input,
            "answers": answers,
            "steps": ["compiles", "lints", "smoke", "restores"],
            "environment": {
                "OPENAI_API_KEY": server.key,
                "OPENAI_BASE_URL": server.url,
                "OPENAI_CHAT_COMPLETION_MODEL": "offline",
                "OPENAI_CHAT_MODEL": "offline",
            },
        }
        try:
            async with aclosing(told(python.path, [job], _SECONDS)) as lines:
                async for line in lines:
                    if not self._took(line, shape, outcome):
                        return
        finally:
            await server.close()

    def _took(self, line: dict[str, Any], shape: Shape, outcome: Outcome) -> bool:
        """Takes a line of the process; False if nothing more is wanted."""
        key = _FROM_CHILD.get(line["step"])
        if key is None:
            return False
        if "error" in line:
            missing = line.get("missing")
            way_out = f" Install {missing} into this Python, or choose another." if missing else ""
            self._end(key, "failed", f"{line['error']}.{way_out}" if way_out else str(line["error"]))
            return False
        match key:
            case "compiles":
                self._end(key, "passed", str(line["files"]))
            case "lints":
                self._linted(line)
            case "smoke":
                self._end(key, *(("not_run", NO_SMOKE_TEST) if "missing" in line else ("passed", "")))
            case "builds":
                return self._built(line, shape)
            case "same":
                if not self._compared(line, outcome):
                    return False
            case "restores":
                self._restored(line, outcome)
        following = KEYS[KEYS.index(key) + 1]
        if following != "secrets":
            self._run(following)
        return True

    def _linted(self, line: dict[str, Any]) -> None:
        if "missing" in line:
            self._end("lints", "not_run", "ruff is not installed in this Python.")
        elif "finding" in line:
            self._end("lints", "failed", str(line["finding"]))
        else:
            self._end("lints", "passed")

    def _built(self, line: dict[str, Any], shape: Shape) -> bool:
        difference = shapes_differ(shape, shape_from(line))
        if difference is not None:
            self._end("builds", "failed", difference.text, difference.node)
            return False
        self._end("builds", "passed", f"{len(shape.nodes)}")
        self._run("smoke")
        return True

    def _compared(self, line: dict[str, Any], outcome: Outcome) -> bool:
        difference = outcomes_differ(outcome, outcome_from(line))
        self._events = outcome.events
        if difference is not None:
            self._end("same", "failed", difference.text, difference.node)
        elif outcome.failed is not None:
            node, words = outcome.failed
            self._end("same", "failed", f"Both runs failed in the same way, so the result says little: {words}", node)
        else:
            self._end("same", "passed", str(outcome.events))
            return True
        return False

    def _restored(self, line: dict[str, Any], outcome: Outcome) -> None:
        """The run that was ended at a checkpoint and continued is the run of the canvas, event by event."""
        if "skipped" in line:
            self._end("restores", "not_run", TOO_LONG if line["skipped"] == "long" else ONE_SUPERSTEP)
            return
        difference = outcomes_differ(outcome, outcome_from(line))
        if difference is None:
            self._end("restores", "passed", str(line["after"]))
        else:
            words = f"Restored after superstep {line['after']}, the run is another one: {difference.text}"
            self._end("restores", "failed", words, difference.node)

    def _secrets(self) -> None:
        """No key, token or folder of this machine in any file."""
        self._run("secrets")
        home = str(Path.home())
        for path, text in self._files.items():
            found = _SECRETS.search(text)
            if found:
                self._end("secrets", "failed", f"{path} has what looks like a key: {found[0][:6]}…")
                return
            if len(home) > 5 and home in text:
                self._end("secrets", "failed", f"{path} names a folder of this computer.")
                return
        self._end("secrets", "passed", str(len(self._files)))

    # ---------------------------------------------------------------------------------------------------- states

    def _running(self) -> str:
        return next((key for key, step in self._steps.items() if step.state == "running"), "same")

    def _run(self, key: str) -> None:
        self._begun = time.perf_counter()
        self._steps[key] = replace(self._steps[key], state="running")
        self._on_step(self._steps[key])

    def _end(self, key: str, state: Any, detail: str = "", node: str = "") -> None:
        seconds = time.perf_counter() - self._begun if self._steps[key].state == "running" else 0.0
        self._steps[key] = Step(key, state, detail, seconds, node)
        self._on_step(self._steps[key])


def module_of(files: Mapping[str, str]) -> str:
    """The module that builds the workflow: the outermost ``workflow.py`` of a project, or the one file."""
    found = [path for path in files if path.endswith("/workflow.py")] or [p for p in files if p.endswith(".py")]
    return min(found, key=lambda path: path.count("/")).removesuffix(".py").replace("/", ".") if found else ""
