"""Which code of a document may run. Accepted code is a list of SHA-256 over its parts, not over the file.

What a person types in the window is accepted as typed; what was pasted, imported, opened or changed on disk is not.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from studio.document.agent_options import ContextProvider, MiddlewareDecl
from studio.document.conditions import Condition
from studio.document.lookup import KeptEach
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanOutEdge,
    FunctionNode,
    JoinNode,
    McpServerDecl,
    Node,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.settings import keeping, places


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of code: what it is, the id of the node, edge, case, module or tool, and the text. Ids inside an embedded
    workflow are written ``node/id``."""

    kind: str
    place: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical form: kind and text with plain line ends and no blanks at ends of lines."""
        lines = (line.rstrip() for line in self.text.replace("\r\n", "\n").split("\n"))
        text = "\n".join(lines).strip("\n")
        return hashlib.sha256(f"{self.kind}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


_Inside = tuple[str, Workflow]
"""The id of a node, and the workflow embedded in it."""


def parts(workflow: Workflow, inside: str = "", folder: Path | None = None) -> Iterator[Part]:
    """Everything in a document that would be executed, embedded workflows included. ``folder``: that of its file, in
    which its MCP servers run; None for a document without one."""
    for part in (*_of_nodes.of(workflow.nodes), *_of_edges.of(workflow.edges)):
        if isinstance(part, tuple):
            yield from parts(part[1], f"{inside}{part[0]}/", folder)
        else:
            yield replace(part, place=inside + part.place) if inside else part
    for module in workflow.modules:
        yield Part("module", inside + module.name, module.source)
    for tool in workflow.tools:
        if tool.source.strip():
            yield Part("tool", inside + tool.name, tool.source)
        elif tool.call:
            yield Part("call", inside + tool.name, tool.call)
    for server in workflow.mcp_servers:
        yield Part("mcp", inside + server.name, server_text(server, folder))
    if workflow.interpreter:
        yield Part("interpreter", inside, workflow.interpreter)


def _in_node(node: Node) -> tuple[Part | _Inside, ...]:
    """What a node runs itself; of a sub-workflow what is inside, whose servers run where the outer file is."""
    inner = node.embedded if isinstance(node, SubWorkflowNode) else None
    around = _around_agent(node, node.id) if isinstance(node, AgentNode) else ()
    own = (Part(kind, node.id, text) for kind, text in _node_code(node))
    return (*([(node.id, inner)] if inner is not None else []), *own, *around)


def _in_edge(edge: Edge) -> tuple[Part, ...]:
    return tuple(
        Part("condition", place, condition.body)
        for place, condition in _conditions(edge)
        if condition is not None and condition.kind == "python"
    )


_of_nodes: KeptEach[Part | _Inside] = KeptEach(_in_node)
_of_edges: KeptEach[Part] = KeptEach(_in_edge)
"""Looked through with every edit, of which each touches little."""


def _node_code(node: object) -> Iterator[tuple[str, str]]:
    if isinstance(node, FunctionNode):
        if node.body.strip():
            yield "body", node.body
        if node.call:
            yield "call", node.call
    elif isinstance(node, JoinNode) and node.merge == "code":
        yield "body", node.body
    elif isinstance(node, AgentNode) and node.context == "custom" and node.context_filter.strip():
        yield "body", node.context_filter


def _around_agent(node: AgentNode, place: str) -> Iterator[Part]:
    """Middleware and context providers that are code."""
    pieces: list[tuple[str, ContextProvider | MiddlewareDecl]] = [
        *((f"{place}.middleware.{n}", m) for n, m in enumerate(node.middleware, 1)),
        *((f"{place}.providers.{n}", p) for n, p in enumerate(node.providers, 1) if p.kind == "code"),
    ]
    for where, piece in pieces:
        if piece.body.strip():
            yield Part("body", where, piece.body)
        if piece.call:
            yield Part("call", where, piece.call)


def _conditions(edge: Edge) -> Iterator[tuple[str, Condition | None]]:
    if isinstance(edge, DirectEdge):
        yield edge.id, edge.condition
    elif isinstance(edge, SwitchEdge):
        for case in edge.cases:
            yield case.id, case.condition
    elif isinstance(edge, FanOutEdge):
        for target, condition in (edge.selection or {}).items():
            yield f"{edge.id}.{target}", condition


def server_text(server: McpServerDecl, folder: Path | None = None) -> str:
    """What a person accepts of an MCP server: the program with every argument, where it runs and all that it is given;
    for one that is reached over the network its address and what is sent along.

    The folder is a part of it: the same command line runs another ``server.py`` in another folder.
    """
    if server.transport == "http":
        lines = [f"address: {server.url}", *(f"header: {name}={value}" for name, value in server.headers.items())]
        return "\n".join(lines)
    command = " ".join(shlex.quote(word) for word in (server.command, *server.arguments))
    where = str(server.folder) if folder is None else os.path.abspath(folder / server.folder)
    runs_in = [f"folder: {where}"] if where else []
    variables = [f"variable: {name}={value}" for name, value in server.environment.items()]
    return "\n".join([f"program: {command}", *runs_in, *variables])


def executable_parts(workflow: Workflow) -> list[tuple[str, str]]:
    """Place and text of everything that would be executed."""
    return [(part.place, part.text) for part in parts(workflow)]


def _parse(text: str) -> set[str]:
    return {str(d) for d in json.loads(text)["accepted"]}


class TrustList:
    """The accepted digests: those in ``trust.json`` and those typed since the start."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stored, self.problem = keeping.read(path, _parse, set[str]())
        self._typed: set[str] = set()

    def untrusted(self, workflow: Workflow, folder: Path | None = None) -> list[Part]:
        """The parts that nobody accepted; empty: the document may run. ``folder``: see :func:`parts`."""
        return [p for p in parts(workflow, folder=folder) if not self.accepts(p)]

    def is_trusted(self, workflow: Workflow, folder: Path | None = None) -> bool:
        """Whether every part of the document is accepted; a document without code is."""
        return not self.untrusted(workflow, folder)

    def trust(self, workflow: Workflow, folder: Path | None = None) -> None:
        """Accepts all code of the document, from now on and after a restart."""
        self._accept(p.digest for p in parts(workflow, folder=folder))

    def moved(self, workflow: Workflow, before: Path | None, folder: Path) -> None:
        """A person saved the document in another folder: what was accepted in the one is accepted in the other."""
        if before != folder:
            both = zip(parts(workflow, folder=before), parts(workflow, folder=folder), strict=True)
            self._accept(now.digest for was, now in both if self.accepts(was))

    def accept(self, part: Part) -> None:
        """Accepts one part, from now on and after a restart."""
        self._accept((part.digest,))

    def accepts(self, part: Part) -> bool:
        """Whether this part is accepted."""
        return part.digest in self._stored or part.digest in self._typed

    def accept_typed(self, before: Workflow, after: Workflow) -> None:
        """Accepts what typing added. A change of code that is itself not accepted stays unaccepted.

        MCP servers are not accepted by typing: each command line and each address is asked about as a whole.
        """
        logic = ("nodes", "edges", "modules", "tools", "interpreter")
        if all(getattr(before, name) is getattr(after, name) for name in logic):
            return
        old = {(p.kind, p.place): p.digest for p in parts(before)}
        for part in parts(after):
            previous = old.get((part.kind, part.place))
            if part.kind == "mcp":
                continue
            if previous is None or previous in self._stored or previous in self._typed:
                self._typed.add(part.digest)

    def keep_typed(self, workflow: Workflow) -> None:
        """Makes the acceptance of typed code outlive the program; called when the document is saved."""
        self._accept(p.digest for p in parts(workflow) if p.digest in self._typed)

    def _accept(self, digests: Iterable[str]) -> None:
        new = set(digests)
        if new <= self._stored:
            return
        with keeping.alone(self._path):
            stored = keeping.read(self._path, _parse, set[str]())[0]  # another process may have added some
            self._stored |= stored | new
            keeping.write(self._path, json.dumps({"version": 1, "accepted": sorted(self._stored)}, indent=1))


@cache
def _list(path: Path) -> TrustList:
    return TrustList(path)


def trust_list() -> TrustList:
    """The list of this user."""
    return _list(places.data_dir() / "trust.json")


def is_trusted(workflow: Workflow, folder: Path | None = None) -> bool:
    """See :meth:`TrustList.is_trusted`."""
    return trust_list().is_trusted(workflow, folder)


def trust(workflow: Workflow, folder: Path | None = None) -> None:
    """See :meth:`TrustList.trust`."""
    trust_list().trust(workflow, folder)


def accept_typed(before: Workflow, after: Workflow) -> None:
    """See :meth:`TrustList.accept_typed`."""
    trust_list().accept_typed(before, after)
