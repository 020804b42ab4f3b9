"""Comparing a result with the expectation of a sample."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from studio.importers import Imported, Report

from tests.importers import adapter

CODE_FORMATS = ("openai-agent-builder", "openai-agents", "maf-python")
_RENAMED = {
    "sends": ("sends_types", "sends"),
    "yields": ("yields_types", "yields"),
    "input": ("input", "accepts"),
    "middleware": ("foreign_middleware",),
}


def differences(expected: dict[str, Any], found: Imported) -> list[str]:
    """What is not as expected, in words."""
    report = found.report
    wrong = [] if report.detected == expected["detected"] else [f"detected {report.detected}"]
    settings = adapter.settings(found)
    for name, value in expected.get("workflow", {}).items():
        if settings[name] != value:
            wrong.append(f"workflow.{name}: {settings[name]!r} instead of {value!r}")
    declared = {s.key: s.initial for s in found.workflow.state}
    for variable in expected.get("variables", []):
        if variable["name"] not in declared:
            wrong.append(f"variable {variable['name']} is missing from {sorted(declared)}")
        elif "initial" in variable and declared[variable["name"]] != variable["initial"]:
            wrong.append(f"variable {variable['name']} starts as {declared[variable['name']]!r}")
    inputs = list(getattr(found.workflow, "inputs", {}))
    wrong += [f"input {name} is missing from {inputs}" for name in expected.get("inputs", []) if name not in inputs]
    wrong += _nodes(expected, found)
    wrong += _edges(expected, found)
    return wrong + outcome(expected, report)


def outcome(expected: dict[str, Any], report: Report) -> list[str]:
    """Losses, folded, lost, counts."""
    wrong = _losses(expected["losses"], report)
    folded = Counter((f["item"], f["into"]) for f in expected.get("folded", []))
    actual = Counter((f.item, f.into) for f in report.folded)
    if folded != actual:
        wrong.append(f"folded {sorted(actual.items())} instead of {sorted(folded.items())}")
    if sorted(expected.get("lost", [])) != sorted(report.lost):
        wrong.append(f"lost {report.lost}")
    if "counts" in expected and report.counts.to_json() != expected["counts"]:
        wrong.append(f"counts {report.counts.to_json()} instead of {expected['counts']}")
    if not report.counts.balanced:
        wrong.append("the counts do not add up")
    if list(report.edited) != expected.get("edited", []):
        wrong.append(f"edited {report.edited}")
    return wrong


def _losses(expected: list[dict[str, str]], report: Report) -> list[str]:
    wanted = Counter((e["code"], e["item"], e["severity"]) for e in expected)
    actual = Counter((e.code, e.item, e.severity) for e in report.entries)
    missing, extra = wanted - actual, actual - wanted
    wrong = [f"loss {entry} is missing" for entry in missing]
    return wrong + [f"loss {entry} is too much" for entry in extra if entry[2] != "info"]


def _nodes(expected: dict[str, Any], found: Imported) -> list[str]:
    actual = adapter.nodes(found)
    wanted = {n["id"]: n for n in expected["nodes"]}
    wrong = [f"node {i} is missing" for i in wanted.keys() - actual.keys()]
    wrong += [f"node {i} ({actual[i]['kind']}) is too much" for i in actual.keys() - wanted.keys()]
    for item, node in wanted.items():
        if item not in actual:
            continue
        got = actual[item]
        if got["kind"] != node["kind"]:
            wrong.append(f"{item} is a {got['kind']} instead of a {node['kind']}")
        if got["added"] != node.get("added", False):
            wrong.append(f"{item}: added is {got['added']}")
        if not _label_free(expected, node) and got["label"] != node["label"]:
            wrong.append(f"{item} is labelled {got['label']!r} instead of {node['label']!r}")
        for name, value in node.get("has", {}).items():
            if not _has(got["has"], name, value):
                wrong.append(f"{item}.{name}: {_value(got['has'], name)!r} instead of {value!r}")
    return wrong


def _label_free(expected: dict[str, Any], node: dict[str, Any]) -> bool:
    from_code = expected["detected"] in CODE_FORMATS and node["kind"] in ("output", "transform", "switch", "loop")
    return node["kind"] == "placeholder" or from_code


def _value(has: dict[str, Any], name: str) -> Any:
    names = _RENAMED.get(name, (name,))
    return next((has[n] for n in names if has.get(n) is not None), None)


def _has(has: dict[str, Any], name: str, value: Any) -> bool:
    actual = _value(has, name)
    if isinstance(value, dict) and isinstance(actual, dict):
        return all(actual.get(k) == v for k, v in value.items())
    if isinstance(value, list) and isinstance(actual, tuple):
        actual = list(actual)
    return bool(actual == value)


def _edges(expected: dict[str, Any], found: Imported) -> list[str]:
    actual = Counter(_written(edge) for edge in adapter.edges(found.workflow))
    wanted = Counter(_written(edge) for edge in expected["edges"])
    wrong = [f"edge {edge} is missing" for edge in wanted - actual]
    return wrong + [f"edge {edge} is too much" for edge in actual - wanted]


def _written(edge: dict[str, Any]) -> str:
    plain = json.loads(json.dumps(edge))
    if plain["kind"] == "fan_out":
        plain["to"] = sorted(plain["to"])
    for part in (plain, *plain.get("cases", [])):
        rule = part.get("rule")
        if rule and rule.get("text"):
            rule["text"] = " ".join(rule["text"].split())
    return json.dumps(plain, sort_keys=True)
