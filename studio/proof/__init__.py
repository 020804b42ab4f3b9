"""Whether exported code does what the canvas does: compiled, built, run and compared in the user's Python."""

from studio.proof.expected import Sample
from studio.proof.interpreters import INSTALL, Interpreter, NoInterpreter
from studio.proof.model import Step
from studio.proof.proving import KEYS, Proof, prove

__all__ = ["INSTALL", "KEYS", "Interpreter", "NoInterpreter", "Proof", "Sample", "Step", "prove"]
