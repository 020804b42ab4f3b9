"""Which keys of shared state a document has: declared, and set by its code. The code is searched, never run."""

from __future__ import annotations

import re
from functools import lru_cache

from studio.document.model import AgentNode, FunctionNode, JoinNode, Workflow

_SET = re.compile(r"\bset_state\(\s*(?:key\s*=\s*)?(?:([\"'])(?P<key>(?:\\.|(?!\1).)*)\1\s*[,)]|(?P<other>[^\s)]))")


def state_keys(workflow: Workflow) -> tuple[str, ...]:
    """The declared keys in their order, then those that only code sets, by name."""
    declared = tuple(key.key for key in workflow.state)
    return (*declared, *sorted(written_keys(workflow)[0].difference(declared)))


def written_keys(workflow: Workflow) -> tuple[frozenset[str], bool]:
    """The keys that code sets, and whether some code sets a key that is only known when it runs."""
    texts = [m.source for m in workflow.modules]
    texts += [n.body for n in workflow.nodes if isinstance(n, FunctionNode | JoinNode)]
    texts += [n.context_filter for n in workflow.nodes if isinstance(n, AgentNode)]
    keys: set[str] = set()
    anything = any(n.kind == "set_variable" for n in workflow.nodes)
    for text in texts:
        found, open_key = _keys_in(text)
        keys |= found
        anything = anything or open_key
    return frozenset(keys), anything


@lru_cache(maxsize=512)
def _keys_in(code: str) -> tuple[frozenset[str], bool]:
    found = list(_SET.finditer(code))
    return frozenset(m["key"] for m in found if m["key"] is not None), any(m["other"] for m in found)
