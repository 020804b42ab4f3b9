"""An error problem exists exactly when assembly and the build of the engine refuse a document."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from studio.assembly import PlanError, Services, compile_plan
from studio.document.model import TemplateNode, Workflow
from studio.document.validate import problems
from studio.workers import Worker

from tests.document.strategies import workflows
from tests.fakes.scripted_client import ScriptedClient
from tests.fuzz.steps import OFTEN, STEPS, Chance, NothingThere

QUICK, ALL = 60, 1_000


def refused(workflow: Workflow) -> bool:
    """Whether no plan can be made; anything but a refusal with reasons is a fault."""
    services = Services(lambda _node: ScriptedClient([]), worker=Worker(), trusted=True)
    try:
        compile_plan(workflow, services)
    except PlanError as error:
        # A link leads out of the document: whether its file is there is not a question to the document.
        return not all(p.code == "sub_workflow" and p.field == "path" for p in error.problems)
    return False


def has_errors(workflow: Workflow) -> bool:
    return any(p.severity == "error" for p in problems(workflow))


def built_anyway(workflow: Workflow, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether assembly and engine make a plan of a document that nobody validated."""
    with monkeypatch.context() as patch:
        patch.setattr("studio.assembly.plan.validate.problems", lambda _workflow: ())
        try:
            return not refused(workflow)
        except (AssertionError, KeyError, ValueError, SyntaxError, TypeError):
            return False


def drawn(number: int) -> Workflow:
    """A document of some random commands: mostly sound, often unfinished."""
    chance = Chance(Random(number))
    workflow = Workflow(id="w")
    for _ in range(6 + number % 18):
        try:
            edit = STEPS[chance.of([*STEPS, *OFTEN, *OFTEN])](workflow, chance)
        except NothingThere:
            continue
        if edit is not None:
            workflow = edit.apply(workflow).workflow
    return workflow


def check_drawn(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = 0
    for number in range(count):
        workflow = sounder(drawn(number))
        errors, unbuilt = has_errors(workflow), not built_anyway(workflow, monkeypatch)
        assert refused(workflow) == errors, number
        assert errors or not unbuilt, number
        sound += not errors
    assert count * 0.05 < sound < count, f"{sound} of {count} can run: the documents say nothing"


def sounder(workflow: Workflow) -> Workflow:
    """With the quick fixes of half of its errors, so that documents close to sound ones are looked at."""
    for _ in range(4):
        fixes = [p.fix.edit for p in problems(workflow) if p.severity == "error" and p.fix is not None]
        if not fixes:
            break
        workflow = fixes[0].apply(workflow).workflow
    return workflow


@pytest.mark.parametrize("intermediate", [None, "all", "all_other"])
@pytest.mark.parametrize("outputs", [None, "all"])
def test_outputs_of_nodes_that_give_none(outputs: Any, intermediate: Any) -> None:
    node = TemplateNode(id="n", name="N", text="{text}")
    workflow = Workflow(id="w", start="n", nodes=(node,), outputs=outputs, intermediate=intermediate)
    assert refused(workflow) == has_errors(workflow) == ((outputs, intermediate) != (None, None))


def test_drawn_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    check_drawn(QUICK, monkeypatch)


@pytest.mark.long
def test_a_thousand_drawn_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    check_drawn(ALL, monkeypatch)


@seed(1)
@settings(max_examples=QUICK, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(workflows())
def test_any_documents(workflow: Workflow) -> None:
    assert refused(workflow) == has_errors(workflow)


@pytest.mark.long
@settings(max_examples=ALL, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(workflows())
def test_a_thousand_documents_of_any_kind(workflow: Workflow) -> None:
    assert refused(workflow) == has_errors(workflow)
