"""The builder of one of our exports, read back: nodes and edges that were added, removed or changed in the code."""

from __future__ import annotations

import ast
import re
from collections import Counter
from itertools import pairwise
from typing import Any

from studio.document.conditions import Condition
from studio.document.edits import Edit, Insert, Remove, SetWorkflow
from studio.document.ids import condition_name, make_id, taken_ids
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    Node,
    SwitchCase,
    SwitchEdge,
    Workflow,
)
from studio.files.code_blocks import EDGES, Code
from studio.importers.own_agents import agent_fields
from studio.importers.own_conditions import edited_condition


class BuilderReading:
    """Compares the calls of a builder with those that were written. ``problems``: what could not be read, and where."""

    def __init__(
        self,
        workflow: Workflow,
        calls: dict[str, Any],
        modules: dict[str, Code],
        names: dict[str, Any],
        support: str = "",
    ) -> None:
        self._workflow = workflow
        self._written = calls
        self._names = {str(item): str(name) for item, name in names.items()}
        self._modules = modules
        self._support = support
        self._taken = set(taken_ids(workflow))
        self._variables: dict[str, str] = {}
        self._added: list[Node] = []
        self._changed: list[Edge] = []
        self.problems: list[tuple[str, int | None]] = []

    def edits(self) -> list[Edit]:
        """The edits that the code makes of the document."""
        build = self._function("build")
        chain = _chain(build) if build is not None else None
        if build is None and self.problems:
            return []
        if build is None or chain is None:
            self.problems.append(("The function build() cannot be read any more; the edges stay as they were.", None))
            return []
        self._nodes(build)
        edits = self._compared(chain[1:])
        edits += self._settings(chain[0])
        inserts: list[Edit] = [Insert("nodes", node) for node in self._added]
        return inserts + edits + self._removed(build)

    def _function(self, name: str) -> ast.FunctionDef | None:
        code = self._modules.get("workflow.py")
        try:
            tree = ast.parse(code.whole.get(EDGES, "") if code else "")
        except SyntaxError as error:
            words = f"workflow.py is not valid Python: {error.msg}; the edges stay as they were."
            self.problems.append((words, error.lineno))
            return None
        except (ValueError, RecursionError, MemoryError):
            return None
        return next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name), None)

    # -------------------------------------------------------------------------------------------------- nodes

    def _nodes(self, build: ast.FunctionDef) -> None:
        """What the variables of ``build()`` stand for; new ones become nodes."""
        for node in self._workflow.nodes:
            self._variables.setdefault(self._names.get(node.id, _identifier(node.id)), node.id)
        for statement in build.body:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                continue
            name = statement.targets[0].id
            if name in self._variables or name == "client" or not isinstance(statement.value, ast.Call):
                continue
            made = self._new_node(name, statement.value)
            if made is None:
                self.problems.append((f"{name} is made by code that cannot be read; it is left out.", statement.lineno))
            else:
                self._added.append(made)
                self._variables[name] = made.id

    def _new_node(self, name: str, call: ast.Call) -> Node | None:
        called = getattr(call.func, "id", "")
        if called == "agent_node" and call.args and isinstance(call.args[0], ast.Call):
            function = getattr(call.args[0].func, "attr", "")
            block = self._block("agents.py", function)
            fields = agent_fields(block, None, self._workflow) if block else None
            item = _text(next((k.value for k in call.keywords if k.arg == "id"), None)) or function
            return None if fields is None else AgentNode(id=self._free(item), name=item, **fields)
        for path, code in self._modules.items():
            for item, block in code.whole.items():
                if path != "workflow.py" and re.search(rf"^class {re.escape(called)}\b", block, re.MULTILINE):
                    body = code.regions.get(item)
                    if called and body is not None:
                        return FunctionNode(id=self._free(item), name=item, body=body, accepts="any", sends="any")
        return None

    def _block(self, path: str, function: str) -> str:
        code = self._modules.get(path)
        blocks = code.whole.values() if code else ()
        return next((b for b in blocks if re.search(rf"^def {re.escape(function)}\(", b, re.MULTILINE)), "")

    def _free(self, wanted: str) -> str:
        found = make_id(wanted, self._taken, "node")
        self._taken.add(found)
        return found

    def _removed(self, build: ast.FunctionDef) -> list[Edit]:
        """Nodes that had edges and are not in the builder any more."""
        assigned = {
            self._variables.get(s.targets[0].id)
            for s in build.body
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
        }
        used = {self._workflow.start}
        for edge in self._workflow.edges:
            used |= set(_ends(edge))
        gone = [n.id for n in self._workflow.nodes if n.id in used and n.id not in assigned]
        return [Remove("nodes", item) for item in gone]

    # -------------------------------------------------------------------------------------------------- edges

    def _compared(self, calls: list[ast.Call]) -> list[Edit]:
        now = [(_spelled(call), call) for call in calls]
        left = Counter(spelled for spelled, _ in now)
        edits: list[Edit] = []
        for edge in self._workflow.edges:
            written = [str(c) for c in self._written.get(edge.id, [])]
            if written and all(left[c] > 0 for c in written):
                left.subtract(written)
            elif written:
                edits.append(Remove("edges", edge.id))
                self._taken.discard(edge.id)
                self._changed.append(edge)
        for spelled, call in now:
            if left[spelled] > 0:
                left[spelled] -= 1
                made = self._edge(call)
                if made is None:
                    words = f"This line cannot be read as an edge and is left out: {spelled[:120]}"
                    self.problems.append((words, call.end_lineno))
                edits += [Insert("edges", edge) for edge in made or ()]
        return edits

    def _edge(self, call: ast.Call) -> list[Edge] | None:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        condition = next((k.value for k in call.keywords if k.arg == "condition"), None)
        if method == "add_edge" and len(call.args) in (2, 3):
            condition = call.args[2] if len(call.args) == 3 else condition
            ends = self._ends(call.args[:2])
            if ends is None:
                return None
            edge_id = self._free(f"{ends[0]}_to_{ends[1]}")
            found = self._condition(condition, edge_id) if condition is not None else None
            if condition is not None and found is None:
                return None
            return [DirectEdge(id=edge_id, source=ends[0], target=ends[1], condition=found)]
        if method == "add_chain" and len(call.args) == 1:
            ends = self._ends(_items(call.args[0]))
            pairs = pairwise(ends) if ends else ()
            return [DirectEdge(id=self._free(f"{a}_to_{b}"), source=a, target=b) for a, b in pairs] or None
        return self._group(method, call)

    def _group(self, method: str, call: ast.Call) -> list[Edge] | None:
        if len(call.args) != 2 or call.keywords:
            return None
        first = self._ends(_items(call.args[0]))
        if not first:
            return None
        if method == "add_switch_case_edge_group":
            return self._switch(first[0], _items(call.args[1]))
        second = self._ends(_items(call.args[1]))
        if not second:
            return None
        if method == "add_fan_out_edges":
            return [FanOutEdge(id=self._free(f"{first[0]}_fan_out"), source=first[0], targets=tuple(second))]
        if method == "add_fan_in_edges":
            return [FanInEdge(id=self._free(f"{second[0]}_fan_in"), sources=tuple(first), target=second[0])]
        return None

    def _switch(self, source: str, ways: list[ast.expr]) -> list[Edge] | None:
        """A switch; one that took the place of another keeps its id, name and labels."""
        old = next((e for e in self._changed if isinstance(e, SwitchEdge) and e.source == source), None)
        edge_id = self._free(old.id if old is not None else f"{source}_switch")
        known = {case.id: case for case in old.cases} if old is not None else {}
        cases: list[SwitchCase] = []
        default: str | None = None
        for number, way in enumerate(ways, 1):
            called = getattr(way.func, "id", "") if isinstance(way, ast.Call) else ""
            ends = self._ends(way.args[-1:]) if isinstance(way, ast.Call) and way.args else None
            if not isinstance(way, ast.Call) or not ends or called not in ("Case", "Default"):
                return None
            if called == "Default":
                default = ends[0]
                continue
            case_id = f"{edge_id}_{number}"
            condition = self._condition(way.args[0], case_id)
            if condition is None or len(way.args) != 2:
                return None
            same = known.pop(self._owner(getattr(way.args[0], "id", "")), None)
            base = same if same is not None else SwitchCase(id=case_id, target=ends[0])
            cases.append(base.model_copy(update={"condition": condition, "target": ends[0]}))
        named = {"name": old.name, "default_label": old.default_label} if old is not None else {}
        return [SwitchEdge(id=edge_id, source=source, cases=tuple(cases), default=default, **named)]

    def _ends(self, parts: list[ast.expr]) -> list[str] | None:
        names = [self._variables.get(getattr(part, "id", "")) for part in parts]
        return [n for n in names if n is not None] if all(names) else None

    def _condition(self, node: ast.expr, owner: str) -> Condition | None:
        """A condition that the document has, or a function in the module, kept as Python."""
        name = getattr(node, "id", "")
        known = self._owner(name)
        for edge in self._workflow.edges:
            for item, condition in _conditions(edge):
                if name and (item == known or _identifier(condition.name) == name):
                    return condition
        module = "\n\n".join(self._modules["workflow.py"].whole.values())
        written = edited_condition(name, module, self._support) if name else None
        if written is not None:
            return written.model_copy(update={"name": condition_name(owner)})
        if isinstance(node, ast.Lambda):
            return Condition(kind="python", name=condition_name(owner), body=f"result = ({ast.unparse(node)})(data)")
        return None

    def _owner(self, function: str) -> str:
        """The id of the edge or case whose condition a function was written for; "" for none."""
        for mark, block in self._modules["workflow.py"].whole.items():
            first = re.search(r"^(?:async )?def (\w+)\(", block, re.MULTILINE)
            if mark.startswith("condition:") and first is not None and first[1] == function:
                return mark.partition(":")[2]
        return ""

    # ----------------------------------------------------------------------------------------------- settings

    def _settings(self, call: ast.Call) -> list[Edit]:
        """Start, limit and outputs of ``WorkflowBuilder(…)``."""
        given = {k.arg: k.value for k in call.keywords}
        values: dict[str, Any] = {}
        start = self._variables.get(getattr(given.get("start_executor"), "id", ""))
        if start is not None:
            values["start"] = start
        limit = given.get("max_iterations")
        if isinstance(limit, ast.Constant) and isinstance(limit.value, int):
            values["max_supersteps"] = limit.value
        for name, field in (("output_from", "outputs"), ("intermediate_output_from", "intermediate")):
            found = given.get(name)
            if isinstance(found, ast.List):
                ends = self._ends(found.elts)
                values[field] = tuple(ends) if ends else None
            elif isinstance(found, ast.Constant) and (found.value is None or isinstance(found.value, str)):
                same = field == "outputs" and found.value == "all" and self._workflow.outputs is None
                values[field] = None if same else found.value
        changed = {k: v for k, v in values.items() if getattr(self._workflow, k) != v}
        return [SetWorkflow(changed)] if changed else []


def _identifier(text: str) -> str:
    found = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")
    return found or "node"


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _items(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def _chain(build: ast.FunctionDef) -> list[ast.Call] | None:
    """``WorkflowBuilder(…)`` and the calls on it, in order, without ``build()``."""
    last = build.body[-1]
    tree = last.value if isinstance(last, ast.Return) else None
    calls: list[ast.Call] = []
    while isinstance(tree, ast.Call):
        calls.append(tree)
        if isinstance(tree.func, ast.Name):
            break
        tree = tree.func.value if isinstance(tree.func, ast.Attribute) else None
    found = calls[::-1]
    known = found and getattr(found[0].func, "id", "") == "WorkflowBuilder"
    return [c for c in found if not (isinstance(c.func, ast.Attribute) and c.func.attr == "build")] if known else None


def _spelled(call: ast.Call) -> str:
    """A call in one spelling, without what it is called on."""
    assert isinstance(call.func, ast.Attribute)
    alone = ast.Call(ast.Attribute(ast.Name("x"), call.func.attr), call.args, call.keywords)
    return ast.unparse(alone)[1:]


def _ends(edge: Edge) -> tuple[str | None, ...]:
    match edge:
        case SwitchEdge():
            return (edge.source, edge.default, *(c.target for c in edge.cases))
        case FanOutEdge():
            return (edge.source, *edge.targets)
        case FanInEdge():
            return (*edge.sources, edge.target)
        case DirectEdge():
            return (edge.source, edge.target)
    return ()


def _conditions(edge: Edge) -> list[tuple[str, Condition]]:
    """The conditions of an edge group, each with the id of what it belongs to."""
    match edge:
        case DirectEdge(condition=Condition() as condition):
            return [(edge.id, condition)]
        case SwitchEdge():
            return [(c.id, c.condition) for c in edge.cases if c.condition is not None]
        case FanOutEdge():
            return [(f"{edge.id}.{target}", condition) for target, condition in (edge.selection or {}).items()]
    return []
