"""What a person draws, as frozen data: models, edits, commands, validation. The names of a script are here; the modules
hold more (``commands``, ``validate``, ``layout``, ``types``)."""

from __future__ import annotations

from studio.document.changes import ChangeSet
from studio.document.conditions import Condition, Rule, Scope, describe, evaluate, explain
from studio.document.edits import Applied, Batch, Edit, Insert, Remove, ReplaceAll, SetFields, SetPlaces, SetWorkflow
from studio.document.fingerprint import document_fingerprint, node_fingerprints
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    Place,
    RunnerNode,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    Workflow,
)
from studio.document.problems import Fix, Problem

__all__ = [
    "AgentNode",
    "Applied",
    "Batch",
    "ChangeSet",
    "Condition",
    "DirectEdge",
    "Edit",
    "FanInEdge",
    "FanOutEdge",
    "Fix",
    "FunctionNode",
    "HumanInputNode",
    "Insert",
    "JoinNode",
    "Place",
    "Problem",
    "Remove",
    "ReplaceAll",
    "Rule",
    "RunnerNode",
    "Scope",
    "SetFields",
    "SetPlaces",
    "SetWorkflow",
    "SubWorkflowNode",
    "SwitchCase",
    "SwitchEdge",
    "TemplateNode",
    "Workflow",
    "describe",
    "document_fingerprint",
    "evaluate",
    "explain",
    "node_fingerprints",
]
