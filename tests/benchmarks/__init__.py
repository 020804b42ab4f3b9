"""Figures of the product beside a floor or peer, measured in one run: ``packaging/bench``."""
