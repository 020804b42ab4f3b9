# ruff: noqa
"""Helper for adapter files that subclass another adapter file."""

import importlib.util
import os
import sys


def sibling(name):
    key = "bench_sib_" + name
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            key, os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
        )
        mod = importlib.util.module_from_spec(spec)
        sys.modules[key] = mod
        spec.loader.exec_module(mod)
    return sys.modules[key]
