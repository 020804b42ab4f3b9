"""``templates``: the workflows that one can start from."""

from __future__ import annotations

import argparse

from studio.cli.exits import DONE
from studio.files import read_workflow
from studio.settings.places import resource


def command(options: argparse.Namespace) -> int:
    """Lists name, description and file of each."""
    for file in sorted(resource("templates").glob("*.workflow.json")):
        workflow = read_workflow(file)
        print(workflow.name)
        for line in (workflow.description, str(file)):
            if line:
                print(f"    {line}")
    return DONE
