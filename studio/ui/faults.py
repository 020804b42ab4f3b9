"""Errors of the program itself: into a log without secrets, and a line in the window that says so."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import sys
import traceback
from collections.abc import Callable, Iterable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from studio.agents.redaction import Redactor
from studio.settings.places import log_dir
from studio.ui.text import tr

LARGEST = 500_000
"""Bytes of the log; the two before it are kept."""

_log = logging.getLogger(__name__)


class _Plain(logging.Formatter):
    """A record as text, without secrets; ``known`` gives those in use."""

    def __init__(self, form: str, known: Callable[[], Iterable[str]]) -> None:
        super().__init__(form)
        self._known = known

    def format(self, record: logging.LogRecord) -> str:
        return Redactor(self._known()).text(super().format(record))


class Faults:
    """Takes what nobody caught, from :meth:`begin` to :meth:`end`. ``told`` gets a sentence for the window."""

    def __init__(self, told: Callable[[str], None], known: Callable[[], Iterable[str]] = frozenset) -> None:
        self._told = told
        self._known = known
        self._before = sys.excepthook
        self._handler: logging.Handler | None = None
        self._crashes: Any = None
        self._had_handler = faulthandler.is_enabled()

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keeps the log, and what kills the process, in the state folder; without it, only on the terminal."""
        try:
            self._handler = RotatingFileHandler(log_file(), "a", LARGEST, 2, encoding="utf-8", delay=True)
            self._crashes = (log_dir() / "crash.txt").open("ab")
            faulthandler.enable(self._crashes)
        except OSError as error:
            _log.warning("There is no log: %s", error)
        if self._handler is not None:
            self._handler.setFormatter(_Plain("%(asctime)s %(levelname)s %(name)s: %(message)s", self._known))
            self._handler.setLevel(logging.WARNING)
            logging.getLogger().addHandler(self._handler)
        sys.excepthook = self._on_exception
        loop.set_exception_handler(self._on_loop_exception)

    def end(self) -> None:
        """Leaves everything as it was."""
        sys.excepthook = self._before
        if self._handler is not None:
            logging.getLogger().removeHandler(self._handler)
            self._handler.close()
        if self._crashes is not None:
            faulthandler.disable()
            self._crashes.close()
            if self._had_handler:
                faulthandler.enable()

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._before(kind, error, trace)
        if not isinstance(error, KeyboardInterrupt):
            self._keep(error, "A part of the program failed")

    def _on_loop_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        message = str(context.get("message") or "A task failed")
        if isinstance(error, BaseException):
            traceback.print_exception(error)
            self._keep(error, message)
        else:
            _log.error(message)

    def _keep(self, error: BaseException, what: str) -> None:
        lines = "".join(traceback.format_exception(error))
        # The terminal has it already: a record for the file alone.
        if self._handler is not None:
            self._handler.handle(_log.makeRecord(_log.name, logging.ERROR, __file__, 0, "%s\n%s", (what, lines), None))
        name = type(error).__name__
        self._told(tr("Something in the program went wrong ({name}). Help › Show log has it.").format(name=name))


def log_file() -> Path:
    """Where the log is, whether or not there is one yet."""
    return log_dir() / "studio.log"
