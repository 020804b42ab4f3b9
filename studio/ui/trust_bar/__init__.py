"""The bar above the canvas of a file that brought code."""

from studio.ui.trust_bar.bar import TrustBar

__all__ = ["TrustBar"]
