"""A proof in words, for a terminal and for the window (which translates them)."""

from __future__ import annotations

from collections.abc import Mapping

from studio.proof.model import Step

TITLES: Mapping[str, str] = {
    "compiles": "Compiles",
    "lints": "Lint is clean",
    "builds": "Builds the workflow",
    "smoke": "Smoke test passes",
    "same": "Same result",
    "restores": "Restores a checkpoint",
    "secrets": "No secret in any file",
}
"""Step -> what it checks."""

_PASSED: Mapping[str, str] = {
    "compiles": "{detail} files",
    "lints": "no finding",
    "builds": "same graph as the canvas, {detail} nodes",
    "smoke": "1 run with scripted replies",
    "same": "same outputs and {detail} equal events",
    "restores": "after superstep {detail}, by a new build",
    "secrets": "keys are read from the environment",
}
_STATES: Mapping[str, str] = {"waiting": "not run yet", "running": "is running …", "not_run": "not run"}


def pattern(step: Step) -> str:
    """What is said under the title; ``{detail}`` stands for the step's own words or number."""
    if step.state == "passed":
        return _PASSED[step.key]
    if step.state in ("failed", "not_run") and step.detail:
        return "{detail}"
    return _STATES.get(step.state, step.state)


def line(step: Step) -> str:
    """One line for a terminal."""
    marks = {"passed": "ok", "failed": "FAILED", "not_run": "not run"}
    detail = pattern(step).format(detail=step.detail)
    words = "" if step.state == "not_run" and detail == "not run" else f": {detail}"
    return f"{marks.get(step.state, step.state):8}{TITLES[step.key]}{words}"
