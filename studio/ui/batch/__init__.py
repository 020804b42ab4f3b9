"""A workflow over a table of inputs."""

from studio.ui.batch.window import BatchWindow

__all__ = ["BatchWindow"]
