"""Nodes of one of our exports that got another name in the code: found, and put back for the rest of the reading.

A name stands in many places (variable, function or class, id, markers, constants). Whoever renames a node changes some
of them. A node of ``build()`` that is gone and one that is new are the same if their block says so: by its marker, or
because it is the old block once the names are put back, or by the user code or prompt in it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from studio.document.ids import make_id, taken_ids
from studio.document.model import AgentNode, Node, Workflow
from studio.files.code_blocks import EDGES, Code, digest, taken_apart
from studio.importers.own_agents import agent_fields
from studio.importers.own_labels import label_fields

_MARKER = re.compile(r"^(\s*# (?:node:|region user) )(\S+?)((?:\.\w+)?\s*)$", re.MULTILINE)
_ID = re.compile(r'(\bid=)"([^"\\]*)"')
_MADE = frozenset({"AgentSession", "ChatStartExecutor", "TurnCollector", "TurnRouter", "StateJunction"})
Written = Callable[[str, str, str], str]
"""The digest of something as it was written: ``blocks`` or ``regions``, name of the module, name of the block."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """``item`` was its id; ``new`` is its id now, the same if only names in the code changed. ``names``: words of the
    code as they are now -> as they were; ``mark``: what the markers say now."""

    item: str
    new: str
    names: Mapping[str, str]
    mark: str


def put_back(text: str, found: list[Renamed]) -> str:
    """A module with the old names: words outside of user code, ids and markers."""
    names = {new: old for one in found for new, old in one.names.items()}
    ids = {one.new: one.item for one in found}
    marks = {one.mark: one.item for one in found}
    text = _MARKER.sub(lambda m: m[1] + marks.get(m[2], m[2]) + m[3], text)
    text = _ID.sub(lambda m: f'{m[1]}"{ids.get(m[2], m[2])}"', text)
    text = re.sub(r'(\bname=)"([^"\\]*)"', lambda m: f'{m[1]}"{ids.get(m[2], m[2])}"', text)
    return _words(text, names)


def _words(text: str, names: Mapping[str, str]) -> str:
    """Identifiers replaced, but for those in user code."""
    lines = text.split("\n")
    inside, own = False, set()
    for number, line in enumerate(lines, 1):
        inside = inside or line.strip().startswith("# region user ")
        if inside:
            own.add(number)
        inside = inside and line.strip() != "# endregion"
    places: list[tuple[int, int, str, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            old = names.get(token.string) if token.type == tokenize.NAME else None
            if old is not None and token.start[0] not in own:
                places.append((token.start[0], token.start[1], token.string, old))
    except (tokenize.TokenError, SyntaxError):
        return text
    for row, column, new, old in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + old + line[column + len(new) :]
    return "\n".join(lines)


class Renames:
    """Looks for them in one package. ``codes``: its modules; ``variables``: id of a node -> its name in the code."""

    def __init__(
        self, workflow: Workflow, codes: Mapping[str, str], variables: Mapping[str, str], written: Written
    ) -> None:
        self._workflow = workflow
        self._texts = codes
        self._codes = {path: taken_apart(text) for path, text in codes.items()}
        self._variables = variables
        self._written = written

    def found(self) -> list[Renamed]:
        """All of them; none if the builder cannot be read."""
        assigned = self._assigned()
        known = set(self._variables.values())
        gone = [n for n in self._workflow.nodes if self._variables.get(n.id) not in assigned]
        found: list[Renamed] = []
        for name, call in assigned.items():
            if name not in known and _called(call) not in _MADE:
                same = self._same(name, call, [n for n in gone if n.id not in {f.item for f in found}])
                found += [same] if same is not None else []
        for node in self._workflow.nodes:
            other = self._other_id(node, assigned.get(self._variables.get(node.id, "")))
            if other:
                found.append(Renamed(node.id, self._free(other), {}, node.id))
        return found

    def _assigned(self) -> dict[str, ast.Call]:
        """Variables of ``build()`` and what makes them."""
        code = self._codes.get("workflow.py")
        try:
            tree = ast.parse(code.whole.get(EDGES, "") if code else "")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        build = next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "build"), None)
        found: dict[str, ast.Call] = {}
        for statement in build.body if build is not None else ():
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name, value = statement.targets[0].id, statement.value
                if isinstance(value, ast.Call) and name != "client":
                    found[name] = value
        return found

    def _same(self, name: str, call: ast.Call, gone: list[Node]) -> Renamed | None:
        """The node that a new variable is."""
        place = self._block(_called(call))
        if place is None:
            return None
        path, mark = place
        for node in gone:
            old = self._variables[node.id]
            names = _names(name, _called(call), old, _camel(node.id))
            new = _id_in(call) or _id_of_class(self._codes[path], mark) or node.id
            one = Renamed(node.id, node.id if new == node.id else self._free(new), names, mark)
            if mark == node.id or (self._is_free(node.id) and self._is_alike(path, node, one)):
                return one
        return None

    def _block(self, called: str) -> tuple[str, str] | None:
        """Module and marker of the block that defines a function or class."""
        pattern = re.compile(rf"^(?:def|class) {re.escape(called)}\b", re.MULTILINE)
        for path, code in self._codes.items():
            for mark, block in code.whole.items():
                if called and path != "workflow.py" and pattern.search(block):
                    return path, mark
        return None

    def _is_free(self, item: str) -> bool:
        """Whether no block has this marker any more."""
        return not any(item in code.blocks for code in self._codes.values())

    def _is_alike(self, path: str, node: Node, one: Renamed) -> bool:
        """Whether a block is that of the node once the names are put back, or has its user code or prompt."""
        code = taken_apart(put_back(self._texts[path], [one]))
        written = self._written("blocks", path, node.id)
        if digest(code.blocks.get(node.id, "")) == written:
            return True
        if not isinstance(node, AgentNode) and label_fields(code, node.id, node, written):
            return True
        if node.id in code.regions and digest(code.regions[node.id]) == self._written("regions", path, node.id):
            return True
        if not isinstance(node, AgentNode) or not node.instructions:
            return False
        fields = agent_fields(code.whole.get(node.id, ""), None, self._workflow)
        return fields is not None and fields["instructions"] == node.instructions

    def _other_id(self, node: Node, call: ast.Call | None) -> str:
        """The id of a node whose names stayed, if it is another one."""
        if call is None:
            return ""
        given = _id_in(call)
        if not given:
            place = self._block(_called(call))
            given = _id_of_class(self._codes[place[0]], place[1]) if place and place[1] == node.id else ""
        return given if given and given != node.id else ""

    def _free(self, wanted: str) -> str:
        return make_id(wanted, taken_ids(self._workflow), "node")


def _called(call: ast.Call) -> str:
    """``agents.writer`` in ``agent_node(agents.writer(client), …)``: the function of an agent, else the class."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute):
        return first.func.attr
    return getattr(call.func, "id", "")


def _id_in(call: ast.Call) -> str:
    given = next((k.value for k in call.keywords if k.arg == "id"), None)
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""


def _id_of_class(code: Code, mark: str) -> str:
    found = re.search(r'super\(\).__init__\(id="([^"\\]+)"', code.whole.get(mark, ""))
    return found[1] if found else ""


def _names(variable: str, called: str, old: str, old_class: str) -> dict[str, str]:
    """Words that are made of the name of a node: now -> then."""
    found = {variable: old, f"_{variable}": f"_{old}", f"{variable}_context": f"{old}_context"}
    found[called] = old_class if called[:1].isupper() else old
    for part in ("INSTRUCTIONS", "DESCRIPTION", "TEMPLATE", "QUESTION", "SEPARATOR"):
        found[f"{variable.upper()}_{part}"] = f"{old.upper()}_{part}"
    return {new: then for new, then in found.items() if new != then}


def _camel(item: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", item) if part)
