"""Faults that nothing refuses: each is found where it is, and not where it is not."""

from __future__ import annotations

import pytest
from studio.document import commands
from studio.document.conditions import Condition, Rule
from studio.document.edits import SetWorkflow
from studio.document.model import ModuleDecl, StateDecl, Workflow
from studio.document.validate import problems

from tests.document.building import Drawing

YES = Condition(rule=Rule(value="yes"))


def codes(drawing: Drawing) -> list[str]:
    faults = ("join_may_starve", "endless_loop", "state_never_written", "output_unused")
    return [p.code for p in problems(drawing.workflow) if p.code in faults]


# --------------------------------------------------------------------------------------------- joins


def two_arms() -> Drawing:
    """A fan-out to two agents, both into a join, then an agent."""
    drawing = Drawing("agent", "fan_out", "agent", "agent", "join", "agent")
    drawing.connect("agent", "fan_out", "agent_2", "join", "agent_4")
    drawing.connect("fan_out", "agent_3", "join")
    return drawing


def test_arms_that_always_run_are_fine() -> None:
    assert codes(two_arms()) == []


def test_one_arm_behind_a_selection() -> None:
    drawing = two_arms()
    drawing.do(commands.set_condition(drawing.workflow, "fan_out:to:agent_2", YES))
    problem = drawing.problem("join_may_starve")
    assert problem.place == "join"
    assert "“Agent 2”" in problem.message


def test_one_arm_behind_a_condition() -> None:
    drawing = Drawing("agent", "agent", "join", "agent")
    drawing.connect("agent", "agent_2", "join", "agent_3")
    drawing.connect("agent", "join")
    assert codes(drawing) == []
    drawing.do(commands.set_condition(drawing.workflow, "agent_to_agent_2", YES))
    assert codes(drawing) == ["join_may_starve"]


def switched(*, same: bool) -> Drawing:
    """A switch whose two ways lead to both arms of a join, or each to one."""
    drawing = Drawing("agent", "switch", "agent", "agent", "join", "agent", "agent")
    drawing.connect("agent", "switch", "agent_2", "join", "agent_4")
    if same:
        drawing.connect("switch", "agent_5")
        drawing.connect("agent_2", "agent_3", "join")
    else:
        drawing.connect("switch", "agent_3", "join")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", YES))
    return drawing


def test_two_ways_of_one_switch_never_meet() -> None:
    assert "join_may_starve" in codes(switched(same=False))


def test_both_arms_behind_the_same_case_are_fine() -> None:
    assert "join_may_starve" not in codes(switched(same=True))


def test_ways_of_a_switch_that_come_together_before_the_join_are_fine() -> None:
    drawing = Drawing("agent", "switch", "agent", "agent", "function", "join", "agent")
    drawing.connect("agent", "switch", "agent_2", "function", "join", "agent_4")
    drawing.connect("switch", "agent_3", "function")
    drawing.connect("agent", "join")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", YES))
    assert "join_may_starve" not in codes(drawing)


def test_a_loop_before_the_join_is_taken_to_end() -> None:
    drawing = Drawing("agent", "agent", "switch", "agent", "join", "agent")
    drawing.connect("agent", "agent_2", "switch", "agent_3", "join", "agent_4")
    drawing.connect("switch", "agent")
    drawing.connect("agent_2", "join")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", YES))
    assert "join_may_starve" not in codes(drawing)


def test_a_join_behind_a_join_is_sure_only_if_the_first_is() -> None:
    drawing = two_arms()
    drawing.add("join")
    drawing.add("agent")
    drawing.connect("agent_4", "join_2", "agent_5")
    drawing.connect("agent_2", "join_2")
    assert codes(drawing) == []
    drawing.do(commands.set_condition(drawing.workflow, "fan_out:to:agent_3", YES))
    assert [p.place for p in problems(drawing.workflow) if p.code == "join_may_starve"] == ["join", "join_2"]


# --------------------------------------------------------------------------------------------- loops


def test_a_switch_whose_ways_all_lead_back_never_ends() -> None:
    drawing = Drawing("agent", "agent", "switch", "template", "template")
    drawing.connect("agent", "agent_2", "switch", "template", "agent_2")
    drawing.connect("switch", "template_2", "agent_2")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", YES))
    assert "endless_loop" in codes(drawing)


def test_a_switch_with_one_way_out_ends() -> None:
    drawing = Drawing("agent", "agent", "switch", "template", "agent")
    drawing.connect("agent", "agent_2", "switch", "template", "agent_2")
    drawing.connect("switch", "agent_3")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", YES))
    assert codes(drawing) == []


def test_a_loop_with_a_condition_or_a_person_ends() -> None:
    drawing = Drawing("agent", "human_input")
    drawing.connect("agent", "human_input", "agent")
    assert codes(drawing) == []
    plain = Drawing("agent", "template")
    plain.connect("agent", "template", "agent")
    assert codes(plain) == ["endless_loop"]
    plain.do(commands.set_condition(plain.workflow, "template_to_agent", YES))
    assert codes(plain) == []


# --------------------------------------------------------------------------------------------- state


def reading(text: str = "{state.draft}") -> Drawing:
    drawing = Drawing("function", "template", "agent")
    drawing.connect("function", "template", "agent")
    drawing.set("template", text=text)
    drawing.set_workflow(state=(StateDecl(key="draft"),))
    return drawing


def test_a_key_that_is_read_but_never_written() -> None:
    problem = reading().problem("state_never_written")
    assert (problem.place, problem.field) == ("template", "text")


def test_keys_that_are_not_read_or_have_a_first_value_are_fine() -> None:
    assert codes(reading("{text}")) == []
    drawing = reading()
    drawing.set_workflow(state=(StateDecl(key="draft", initial=""),))
    assert codes(drawing) == []


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ('ctx.set_state("draft", data)\nresult = data', True),
        ("ctx.set_state('draft', data)\nresult = data", True),
        ("ctx.set_state(key='draft', value=data)\nresult = data", True),
        ('ctx.set_state("other", data)\nresult = data', False),
        ("name = 'dr' + 'aft'\nctx.set_state(name, data)\nresult = data", True),
        ("result = ctx.get_state('draft')", False),
    ],
)
def test_what_writes_a_key(body: str, written: bool) -> None:
    drawing = reading()
    drawing.set("function", body=body)
    assert (codes(drawing) == []) == written
    module = reading()
    module.do(
        SetWorkflow(
            {"modules": (ModuleDecl(name="m", source=f"async def f(data, ctx):\n    {body.splitlines()[0]}\n"),)}
        )
    )
    if "set_state" in body.splitlines()[0]:
        assert (codes(module) == []) == written


@pytest.mark.parametrize(
    "condition",
    [
        Condition(rule=Rule(op="compares", path="state.draft.score", compare=">", value=1)),
        Condition(rule=Rule(op="and", rules=(Rule(value="x"), Rule(op="equals", path="state.draft", value="y")))),
        Condition(kind="expression", expression="state.draft == 'x'"),
        Condition(kind="python", body="return state['draft'] == 1"),
    ],
)
def test_conditions_read_keys_too(condition: Condition) -> None:
    drawing = Drawing("agent", "switch", "agent", "agent")
    drawing.connect("agent", "switch", "agent_2")
    drawing.connect("switch", "agent_3")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", condition))
    drawing.set_workflow(state=(StateDecl(key="draft"),))
    assert drawing.problem("state_never_written").place == "switch_case_1"


# ------------------------------------------------------------------------------------------- outputs


def test_a_last_node_that_is_no_output() -> None:
    drawing = Drawing("agent", "template")
    drawing.connect("agent", "template")
    assert drawing.problem("output_unused").place == "template"


def test_what_an_agent_or_a_yielding_function_gives_is_an_output() -> None:
    drawing = Drawing("agent", "agent", "function")
    drawing.connect("agent", "agent_2")
    drawing.connect("agent", "function")
    assert drawing.problem("output_unused").place == "function"
    fix = drawing.problem("output_unused").fix
    assert fix is not None
    drawing.do(fix.edit)
    assert codes(drawing) == []


def test_a_last_agent_beside_the_chosen_outputs() -> None:
    drawing = Drawing("agent", "agent", "agent")
    drawing.connect("agent", "agent_2")
    drawing.connect("agent", "agent_3")
    drawing.set_workflow(outputs=("agent_2",))
    problem = drawing.problem("output_unused")
    assert problem.place == "agent_3"
    assert problem.fix is not None
    drawing.do(problem.fix.edit)
    assert drawing.workflow.outputs == ("agent_2", "agent_3")
    assert codes(drawing) == []


def test_intermediate_outputs_and_silent_functions_are_taken() -> None:
    drawing = Drawing("agent", "agent", "agent", "function")
    for node in ("agent_2", "agent_3", "function"):
        drawing.connect("agent", node)
    drawing.set("function", sends="nothing")
    drawing.set_workflow(outputs=("agent_2",), intermediate=("agent_3",))
    assert codes(drawing) == []
    drawing.set_workflow(intermediate="all_other")
    assert codes(drawing) == []


def test_a_sub_workflow_at_the_end_gives_its_outputs_only_directly() -> None:
    drawing = Drawing("agent", "sub_workflow")
    drawing.connect("agent", "sub_workflow")
    inner = Drawing("function")
    inner.set("function", yields="text")
    drawing.set("sub_workflow", embedded=inner.workflow)
    problem = drawing.problem("output_unused")
    assert problem.fix is not None
    drawing.do(problem.fix.edit)
    assert codes(drawing) == []


def test_what_takes_no_part_in_a_run_is_left_alone() -> None:
    drawing = Drawing("agent", "template")
    assert codes(drawing) == []


def test_an_empty_document_has_no_design() -> None:
    assert [p.code for p in problems(Workflow())] == ["empty"]
