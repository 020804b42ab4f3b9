"""A recorded run as what both sides of a proof are given: its input, the replies of its models, its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studio.debugger.run_tests import RunTest
from studio.document.model import OfflineScript, SubWorkflowNode, Workflow
from studio.proof.expected import Sample

_HARDLY_MS = 0.01


def sample_of(run: RunTest) -> Sample:
    """The sample. Tools run on both sides again; a model that is asked more often repeats its last reply."""
    nodes: dict[str, dict[str, Any]] = {
        path: {"replies": _entries(replies), "then": "repeat_last"} for path, replies in run.replies.items() if replies
    }
    answers: dict[str, list[Any]] = {}
    for batch in run.answers:
        for answer in batch:
            answers.setdefault(str(answer["node"]), []).append(answer["value"])
    return Sample(run.input, OfflineScript(nodes=nodes), answers, run.name)


def with_script(document: Workflow, script: OfflineScript) -> Workflow:
    """The document with these scripts for its agents; ``node/agent`` is one inside an embedded workflow. Agents without
    an entry keep what the document has for them; so do those of linked files."""
    nodes = []
    for node in document.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            start = f"{node.id}/"
            inside = {path.removeprefix(start): s for path, s in script.nodes.items() if path.startswith(start)}
            node = node.model_copy(update={"embedded": with_script(node.embedded, OfflineScript(nodes=inside))})
        nodes.append(node)
    given = document.offline.model_copy(update={"nodes": {**document.offline.nodes, **script.nodes}})
    return document.model_copy(update={"nodes": tuple(nodes), "offline": given})


def without_waits(document: Workflow) -> Workflow:
    """The document with a model that answers at once, still in pieces: how fast it speaks is not compared, and two
    hundred agents that speak like people take minutes."""
    nodes = [
        node.model_copy(update={"embedded": without_waits(node.embedded)})
        if isinstance(node, SubWorkflowNode) and node.embedded is not None
        else node
        for node in document.nodes
    ]
    offline = document.offline.model_copy(update={"delay_ms": _HARDLY_MS})
    return document.model_copy(update={"nodes": tuple(nodes), "offline": offline})


def _entries(replies: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The replies by what they answer, where each answers something else; then all by their place, for prompts that
    are written otherwise on one of the sides."""
    found = [_entry(reply) for reply in replies]
    asked = [str(reply.get("asked", "")) for reply in replies]
    if len(replies) < 2 or not all(asked) or len(set(asked)) < len(asked):
        return found
    known = [{"when": text, **entry} for text, entry in zip(asked, found, strict=True)]
    return sorted(known, key=lambda entry: -len(entry["when"])) + found


def _entry(reply: Mapping[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": call.get("id"), "tool": call["name"], "arguments": call.get("arguments") or {}}
        for call in reply.get("calls", ())
    ]
    return {"text": str(reply.get("text", ""))} | ({"calls": calls} if calls else {})
