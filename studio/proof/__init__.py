"""Whether exported code does what the canvas does: compiled, built, run and compared in the user's Python."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.proof.expected import Sample
    from studio.proof.interpreters import INSTALL, Interpreter, NoInterpreter
    from studio.proof.model import Step
    from studio.proof.proving import KEYS, Proof, prove
    from studio.proof.recorded import sample_of

_MODULES = {
    "Sample": "expected",
    "INSTALL": "interpreters",
    "Interpreter": "interpreters",
    "NoInterpreter": "interpreters",
    "Step": "model",
    "KEYS": "proving",
    "Proof": "proving",
    "prove": "proving",
    "sample_of": "recorded",
}
"""Name -> its module: a window that only shows steps loads no engine."""

__all__ = ["INSTALL", "KEYS", "Interpreter", "NoInterpreter", "Proof", "Sample", "Step", "prove", "sample_of"]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return value
