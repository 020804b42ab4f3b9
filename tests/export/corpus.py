"""Documents for checks of exported code: all templates, and one for each thing that a canvas can draw."""

from __future__ import annotations

import re

from studio.document.model import Workflow
from studio.files import loads
from studio.settings.places import resource

from tests.assembly.test_same_as_exported import DRAWN
from tests.export import around


def templates() -> dict[str, Workflow]:
    """The workflows of the welcome page, by a name that is an identifier."""
    files = sorted(resource("templates").glob("*.workflow.json"))
    return {
        "template_" + re.sub(r"\W", "_", file.name.partition(".")[0]): loads(file.read_text(encoding="utf-8"))
        for file in files
    }


def documents() -> dict[str, Workflow]:
    """Name of the package -> document."""
    drawn = {f"case_{re.sub(r'[^a-z0-9]', '_', name.lower())}": flow for name, (flow, _, _) in DRAWN.items()}
    return {**drawn, **templates()}


def layers() -> dict[str, Workflow]:
    """Documents with everything that can be set around an agent."""
    return {f"around_{re.sub(r'[^a-z0-9]', '_', name)}": flow for name, flow in around.documents().items()}
