"""The list of problems."""

from studio.ui.problems.panel import ProblemsPanel

__all__ = ["ProblemsPanel"]
