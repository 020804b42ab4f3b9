"""Profiles that a document names: found everywhere, mapped as one edit."""

from __future__ import annotations

from studio.document.agent_options import RunnerAgent
from studio.document.model import AgentNode, RunnerNode, SubWorkflowNode, Workflow
from studio.document.profiles import map_profiles, named_profiles, probed_problems, unknown_profiles

INNER = Workflow(start="x", nodes=(AgentNode(id="x", name="Deep", profile="Team"),))
FLOW = Workflow(
    start="a",
    nodes=(
        AgentNode(id="a", name="Writer", profile="Team"),
        AgentNode(id="b", name="Free"),
        RunnerNode(
            id="r",
            name="Desk",
            profile="Other",
            agents=(RunnerAgent(id="y", name="Clerk", profile="Team"), RunnerAgent(id="z", name="Plain")),
        ),
        SubWorkflowNode(id="s", name="Inside", embedded=INNER),
    ),
)


def test_every_agent_that_names_one_is_found() -> None:
    assert named_profiles(FLOW) == {"Team": ["Writer", "Desk: Clerk", "Inside: Deep"], "Other": ["Desk"]}


def test_names_are_mapped_in_one_edit_that_can_be_taken_back() -> None:
    edit = map_profiles(FLOW, {"Team": "Mine", "Other": None})
    assert edit is not None
    made = edit.apply(FLOW)
    assert named_profiles(made.workflow) == {"Mine": ["Writer", "Desk: Clerk", "Inside: Deep"]}
    assert made.inverse.apply(made.workflow).workflow == FLOW
    assert map_profiles(FLOW, {"Unused": "Mine"}) is None


def test_what_is_not_here_is_a_problem_with_a_way_out() -> None:
    found = list(unknown_profiles(FLOW, {"Other"}))
    assert [p.place for p in found] == ["a", "r", "s"]
    assert found[0].message == "Writer uses the provider “Team”, which is not set up on this computer."
    workflow = FLOW
    for problem in found:
        assert problem.fix is not None
        workflow = problem.fix.edit.apply(workflow).workflow
    assert named_profiles(workflow) == {"Other": ["Desk"]}
    assert list(unknown_profiles(workflow, {"Other"})) == []


def test_what_a_probe_did_not_find_is_a_warning_where_it_is_needed() -> None:
    nodes = (
        AgentNode(id="a", name="A", profile="Team", tools=("t",), output_schema={"type": "object"}),
        AgentNode(id="b", name="B", mcp_servers=("s",)),
        AgentNode(id="c", name="C", profile="Team", model="another", tools=("t",)),
        AgentNode(id="d", name="D", profile="Team"),
    )
    found = {"Team": {"tools": "no", "json_schema": "no"}, None: {"tools": "no"}}
    problems = list(probed_problems(Workflow(nodes=nodes), found))
    assert [(p.code, p.place, p.severity) for p in problems] == [
        ("probed_tools", "a", "warning"),
        ("probed_schema", "a", "warning"),
        ("probed_tools", "b", "warning"),
    ]
    fine = {"Team": {"tools": "partly", "json_schema": "partly"}, None: {"tools": "yes"}}
    assert list(probed_problems(Workflow(nodes=nodes), fine)) == []
