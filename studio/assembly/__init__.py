"""A document becomes a runnable workflow: see :func:`compile_plan`."""

from studio.assembly.plan import NoClientError, Plan, PlanError, Services, compile_plan
from studio.assembly.services import ServiceSource, offline_model, served_model
from studio.assembly.texts import type_name, value_text

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
