"""The first page."""

from studio.ui.welcome.page import WelcomePage

__all__ = ["WelcomePage"]
