"""The sub-commands: everything that needs no window. Imports no Qt."""

from studio.cli.exits import DONE, FAILED, INTERRUPTED, USAGE, WAITING
from studio.cli.hint import headless_hint
from studio.cli.main import SUB_COMMANDS, main

__all__ = ["DONE", "FAILED", "INTERRUPTED", "SUB_COMMANDS", "USAGE", "WAITING", "headless_hint", "main"]
