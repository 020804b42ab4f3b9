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
_NOT_YET = "exported code does not do it yet."
_PROVIDER = "exported code reads its provider and key from the environment."

AGENT: Mapping[str, OptionFacts] = {
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
    "tool_choice": OptionFacts("whether the model must, may or may not call a tool.", "left to the provider", _NOT_YET),
    "parallel_tool_calls": OptionFacts(
        "whether one answer may ask for several calls.", "left to the provider", _NOT_YET
    ),
    "store_per_call": OptionFacts(
        "histories load and store around each model call, not around the run.", "off", _NOT_YET
    ),
}
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
