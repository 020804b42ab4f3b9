"""What the rules are called, why they matter and what helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studio.debugger.context.items import ContextRecord, Finding, Item, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """The fixed words of a rule."""

    id: str
    title: str
    severity: Severity
    why: str
    fix: str


_RULES = (
    Rule("W1", "Duplicate in context", "warning",
         "A message that stands there twice costs tokens twice, and the model may answer it again.",
         "Set the context to last reply only, or give the nodes sessions of their own."),
    Rule("W2", "Duplicate reply to user", "error",
         "Two nodes answered the same request, so the user reads two answers.",
         "Let one of them return its answer without showing it: take it out of the outputs."),
    Rule("W3", "Unanswered request", "error",
         "The run is over and nobody answered what the user asked.",
         "Let the last node on the way send or yield an answer, and check the conditions behind it."),
    Rule("W4", "Risk of answering again", "warning",
         "The model sees a question that is answered already, but not the answer.",
         "Return the answer on the edges too, or pass on the last reply only."),
    Rule("W5", "Shown but not returned", "warning",
         "Later nodes do not know what the user has read.",
         "Send the text on as well, for example as an output with a mark that it was shown."),
    Rule("W6", "Silent node", "info",
         "The node gave nothing: no message, no output.",
         "Return a value, or mute the node if that is meant."),
    Rule("W7", "Dropped message", "warning",
         "No edge took the message, so nothing happens with it.",
         "Add a default case, correct the condition, or let the next node accept this type."),
    Rule("W8", "Token starved", "warning",
         "Messages wait in the node, but its turn token never came.",
         "Let the token follow the branch: conditions must let it pass with the messages."),
    Rule("W9", "Double turn", "warning",
         "The node answered twice in one superstep, each time with half of the messages.",
         "Put a join in front of it, so that it takes one turn."),
    Rule("W10", "Barrier residue", "warning",
         "The join waits for sources that sent nothing any more.",
         "Let every source of the join send exactly one message; put a collector behind turn-token agents."),
    Rule("W11", "Card content lost", "warning",
         "What was shown has data that no later node can read.",
         "Set an output of the node after the card was shown."),
    Rule("W12", "Orphan call", "error",
         "A tool call without its result, or a result without its call: most providers refuse that.",
         "Repair the conversation: restore an earlier checkpoint, or remove the half of the pair."),
    Rule("W13", "Wide context", "info",
         "More than half of what the model reads is conversation passed on by others.",
         "Pass on the last reply only, or compact the conversation."),
    Rule("W14", "Result overridden", "info",
         "The history has the model's own words, the next nodes got others.",
         "If that is not meant, look at the agent middleware of the node."),
    Rule("W15", "Conflicting emit setting", "info",
         "The turn token decides whether updates are shown; the option of this node has no effect.",
         "Set the option at the first agent of the chain."),
)  # fmt: skip
RULES: Mapping[str, Rule] = {rule.id: rule for rule in _RULES}


def finding(
    id: str, record: ContextRecord | None, text: str, items: tuple[Item, ...] = (), *, severity: Severity | None = None,
    node: str = "",
) -> Finding:  # fmt: skip
    """A finding with the fixed words of its rule."""
    rule = RULES[id]
    return Finding(
        id,
        rule.title,
        severity or rule.severity,
        record.node if record is not None else node,
        record.invocation if record is not None else "",
        text,
        rule.why,
        rule.fix,
        tuple(item.id for item in items),
    )


def counted(count: int, one: str, many: str) -> str:
    """``one`` or ``many`` with its number."""
    return f"1 {one}" if count == 1 else f"{count} {many}"
