"""A document built by commands, for tests."""

from __future__ import annotations

from itertools import pairwise

from studio.document import commands
from studio.document.edits import Edit
from studio.document.model import Edge, Node, Workflow
from studio.document.problems import Problem
from studio.document.validate import problems


class Drawing:
    """Draws like the canvas does and holds the document as it is now."""

    def __init__(self, *kinds: str) -> None:
        self.workflow = Workflow(id="w")
        for kind in kinds:
            self.add(kind)

    def add(self, kind: str, name: str | None = None) -> str:
        edit, new_id = commands.new_node(self.workflow, kind, name)
        self.do(edit)
        if kind == "function":
            self.do(commands.set_fields(self.workflow, new_id, {"body": "result = data"}))
        if kind == "agent":
            self.do(commands.set_fields(self.workflow, new_id, {"instructions": f"You are {new_id}."}))
        return new_id

    def do(self, edit: Edit | Problem | tuple[Edit, str]) -> None:
        assert not isinstance(edit, Problem), edit.message
        edit = edit[0] if isinstance(edit, tuple) else edit
        self.workflow = edit.apply(self.workflow).workflow

    def connect(self, *ends: str) -> None:
        for source, target in pairwise(ends):
            self.do(commands.connect(self.workflow, source, target))

    def refused(self, source: str, target: str) -> Problem:
        found = commands.connect(self.workflow, source, target)
        assert isinstance(found, Problem)
        return found

    def set(self, item_id: str, **values: object) -> None:
        self.do(commands.set_fields(self.workflow, item_id, values))

    def set_workflow(self, **values: object) -> None:
        self.do(commands.set_workflow(values))

    def node(self, node_id: str) -> Node:
        found = self.workflow.node(node_id)
        assert found is not None
        return found

    def edge(self, edge_id: str) -> Edge:
        found = self.workflow.edge(edge_id)
        assert found is not None
        return found

    def codes(self) -> list[str]:
        """All problems but that of a last node whose output nobody takes: most drawings of tests end anywhere."""
        return [p.code for p in problems(self.workflow) if p.code != "output_unused"]

    def problem(self, code: str) -> Problem:
        return next(p for p in problems(self.workflow) if p.code == code)
