"""A document becomes a runnable workflow: see :func:`compile_plan`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.assembly.plan import NoClientError, Plan, PlanError, Services, compile_plan
    from studio.assembly.services import ServiceSource, offline_model, served_model
    from studio.assembly.texts import type_name, value_text

_PLACES = {
    "plan": ("NoClientError", "Plan", "PlanError", "Services", "compile_plan"),
    "services": ("ServiceSource", "offline_model", "served_model"),
    "texts": ("type_name", "value_text"),
}
"""Modules by what they give: a window that only shows texts loads neither engine nor clients."""

__all__ = [
    "NoClientError",
    "Plan",
    "PlanError",
    "ServiceSource",
    "Services",
    "compile_plan",
    "offline_model",
    "served_model",
    "type_name",
    "value_text",
]

_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return value
