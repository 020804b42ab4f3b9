"""What each option changes at run time, its default, and whether exported code honours it.

Shown where the option is: as tooltip and *What's this*, to screen readers as description, and, if exported code does
not honour it, as a word beside the label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studio.ui.text import tr


@dataclass(frozen=True, slots=True)
class OptionFacts:
    """``effect``: what changes at run time; ``default`` in words; ``not_exported``: why exported code does not do it,
    "" if it does."""

    effect: str
    default: str
    not_exported: str = ""

    @property
    def words(self) -> str:
        """Everything, for a tooltip."""
        exported = tr("Exported: yes.")
        if self.not_exported:
            exported = tr("Not exported: {reason}").format(reason=tr(self.not_exported))
        run = tr("At run time: {effect}").format(effect=tr(self.effect))
        return "\n".join((run, tr("Default: {default}.").format(default=tr(self.default)), exported))


_STUDIO = "it is a matter of this program."
_NOT_YET = "the export refuses it with a message."
_NO_LIMIT = "the framework has no such limit."
_PROVIDER = "exported code reads its provider and key from the environment."

AGENT: dict[str, OptionFacts] = {
    "instructions": OptionFacts("they are the first message of every model call.", "none"),
    "profile": OptionFacts("model calls of this node go to this provider.", "the one chosen for the run", _PROVIDER),
    "model": OptionFacts("model calls of this node name this model.", "the model of the profile"),
    "temperature": OptionFacts("it is sent with every model call; higher is more varied.", "left to the provider"),
    "max_tokens": OptionFacts("a reply ends after so many tokens.", "left to the provider"),
    "tools": OptionFacts("the model may call these functions.", "none"),
    "mcp_servers": OptionFacts("the model may call the tools of these servers.", "none"),
    "host": OptionFacts("it decides when the agent speaks and what it is told.", "Python"),
    "context": OptionFacts("how much of the conversation the agent sees.", "all that the node before passes on"),
    "context_filter": OptionFacts("what it leaves in result is what the agent sees.", "none"),
    "trailing_user_turn": OptionFacts(
        "a conversation that ends on an assistant message gets “please continue.” for one call.", "off"
    ),
    "session": OptionFacts("agents with the same name here remember the same conversation.", "a session of its own"),
    "output_schema": OptionFacts("the model must answer with such an object; conditions see its fields.", "plain text"),
    "tool_choice": OptionFacts("whether the model must, may or may not call a tool.", "left to the provider"),
    "parallel_tool_calls": OptionFacts("whether one answer may ask for several calls.", "left to the provider"),
    "store_per_call": OptionFacts("histories load and store around each model call, not around the run.", "off"),
}
_LOOP: Mapping[str, OptionFacts] = {
    "enabled": OptionFacts("calls of the model are carried out; off, they are for whoever runs the workflow.", "on"),
    "max_iterations": OptionFacts("after so many model calls with tools the model must answer.", "40"),
    "max_function_calls": OptionFacts("after so many tool calls the model must answer.", "no limit"),
    "max_duration_seconds": OptionFacts("after so long the model must answer.", "no limit"),
    "max_consecutive_errors": OptionFacts("after so many failing batches in a row the model must answer.", "3"),
    "terminate_on_unknown_calls": OptionFacts("a call of a tool that nobody knows fails the node.", "off"),
    "allow_concurrent_invocation": OptionFacts("several calls of one answer run at the same time.", "on"),
    "include_detailed_errors": OptionFacts("the model reads the text of an error, not only that there was one.", "off"),
    "additional_tools": OptionFacts("calls of these hidden tools wait for the caller.", "none", _NOT_YET),
    "max_repeats": OptionFacts("equal calls with equal results so often in a row end the loop.", "8", _NO_LIMIT),
}
_TURN: Mapping[str, OptionFacts] = {
    "emit_agent_update_events": OptionFacts("pieces of the reply are told, if the token leaves it open.", "left open"),
    "emit_agent_response_events": OptionFacts("the whole reply is told as an output.", "off"),
    "intercept_user_input_requests": OptionFacts("approvals go on as messages instead of asking.", "off"),
    "intercept_unterminated_function_calls": OptionFacts("open calls go on as messages instead of asking.", "off"),
    "reassign_other_agents_as_users": OptionFacts("the model reads other agents as users.", "on"),
    "forward_incoming_messages": OptionFacts("what came in goes on together with the reply.", "on"),
    "first_token": OptionFacts("whether the first turn asks for pieces of replies.", "as the way of running"),
}
AGENT |= {f"tool_loop.{name}": facts for name, facts in _LOOP.items()}
AGENT |= {f"turn_token.{name}": facts for name, facts in _TURN.items()}
FUNCTION: Mapping[str, OptionFacts] = {
    "body": OptionFacts("it runs for each message; what it leaves in result is sent on.", "none"),
    "call": OptionFacts("this function is called for each message; what it returns is sent on.", "none"),
    "accepts": OptionFacts("messages of other types do not reach it; text is anything with a text.", "text"),
    "sends": OptionFacts("its result is sent over its edges as this type.", "text"),
    "yields": OptionFacts("its result is an output of the workflow, too.", "nothing"),
}
HUMAN_INPUT: Mapping[str, OptionFacts] = {
    "question": OptionFacts("the run waits and asks this; fields in braces are filled.", "the text of the message"),
    "answer_type": OptionFacts("the answer is checked against it; a declared type makes a form.", "text"),
    "choices": OptionFacts("one of these is offered as the answer.", "any text"),
    "send": OptionFacts("what goes on: the answer, or an object with input and answer.", "the answer"),
}
TEMPLATE: Mapping[str, OptionFacts] = {
    "text": OptionFacts("it is sent on with its fields filled from the message.", "the text of the message"),
}
JOIN: Mapping[str, OptionFacts] = {
    "merge": OptionFacts("how the messages of all sources become one.", "texts, one after the other"),
    "separator": OptionFacts("it stands between the texts.", "an empty line"),
    "body": OptionFacts("it gets the list data; what it leaves in result is sent on.", "none"),
}
SUB_WORKFLOW: Mapping[str, OptionFacts] = {
    "path": OptionFacts("the workflow in this file runs inside; it is read when a run starts.", "none: embedded"),
    "direct_output": OptionFacts("outputs from inside are outputs of this workflow at once.", "off"),
    "propagate_requests": OptionFacts("questions from inside are asked at the outermost workflow.", "on"),
}
WORKFLOW: Mapping[str, OptionFacts] = {
    "start": OptionFacts("this node gets the input of a run.", "the first node"),
    "max_supersteps": OptionFacts("a run that needs more fails.", "100"),
    "budget_tokens": OptionFacts(
        "a model call that would bring the run over it is not made, and the run fails.", "no limit", _NO_LIMIT
    ),
    "budget_cost": OptionFacts(
        "the same by your prices; calls without a price count as nothing.", "no limit", _NO_LIMIT
    ),
    "budget_currency": OptionFacts("prices in another currency are not counted.", "USD", _NO_LIMIT),
    "outputs": OptionFacts("only what these nodes yield is an output of the workflow.", "what any node yields"),
    "sample_input": OptionFacts("it stands in the input field of a new run.", "empty"),
    "interpreter": OptionFacts("code of the workflow runs in a process of this Python.", "the program’s own", _STUDIO),
}
FACTS: Mapping[str, Mapping[str, OptionFacts]] = {
    "agent": AGENT,
    "function": FUNCTION,
    "human_input": HUMAN_INPUT,
    "template": TEMPLATE,
    "join": JOIN,
    "sub_workflow": SUB_WORKFLOW,
    "workflow": WORKFLOW,
}
"""By kind of node (``workflow``: the document itself) and field."""


def facts_of(kind: str, field: str) -> OptionFacts | None:
    """What is known of an option; None for what is no option (a name) or has its own words."""
    return FACTS.get(kind, {}).get(field)
