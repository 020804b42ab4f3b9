"""OpenTelemetry by the conventions for generative AI: names, and where spans go. Nothing is imported before it is used.

The conventions have the status *Development*: every name stands here alone. Where spans go is decided by the standard
environment variables (``OTEL_EXPORTER_OTLP_ENDPOINT``, ``OTEL_TRACES_EXPORTER``, ``OTEL_SERVICE_NAME`` …), which the
SDK and its exporters read themselves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

TRACER = "superstep-studio"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
WORKFLOW = "gen_ai.workflow.name"
AGENT_NAME, AGENT_ID = "gen_ai.agent.name", "gen_ai.agent.id"
REQUEST_MODEL = "gen_ai.request.model"
TEMPERATURE, MAX_TOKENS = "gen_ai.request.temperature", "gen_ai.request.max_tokens"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS, OUTPUT_TOKENS = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOOL_NAME, TOOL_CALL, TOOL_TYPE = "gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.type"
TOOL_ARGUMENTS, TOOL_RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
INPUT_MESSAGES = "gen_ai.input.messages"
SERVER_ADDRESS, SERVER_PORT = "server.address", "server.port"
ERROR_TYPE = "error.type"
RUN_ID, SUPERSTEP, EXECUTORS = "superstep.run.id", "superstep.number", "superstep.executors"
FINGERPRINT = "superstep.document.fingerprint"

PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "azure_dated": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
}
"""Kinds of profiles whose name in the conventions is another one."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Where spans go: a tracer, or why there is none as a sentence."""

    tracer: Tracer | None
    problem: str = ""
    provider: Any = None
    """Owns the exporters; to be shut down at the end."""


def open_spans() -> Spans:
    """A tracer by the standard variables; reads files and may open connections: call it in a thread.

    A provider that the surrounding program has set is used as it is; the global one is never set here.
    """
    from opentelemetry import trace

    known = trace.get_tracer_provider()
    if type(known).__module__.startswith("opentelemetry.sdk"):
        return Spans(known.get_tracer(TRACER))
    try:
        from opentelemetry.sdk.trace import TracerProvider  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return Spans(None, "OpenTelemetry is on, but its SDK is missing: pip install opentelemetry-sdk.")
    try:
        processors = _processors(os.environ.get("OTEL_TRACES_EXPORTER", "otlp"))
    except ImportError as error:
        package = "opentelemetry-exporter-otlp-proto-" + ("grpc" if _grpc() else "http")
        return Spans(None, f"OpenTelemetry is on, but its exporter is missing: pip install {package} ({error.name}).")
    except ValueError as error:
        return Spans(None, f"OpenTelemetry is on, but {error}")
    provider = TracerProvider()
    for processor in processors:
        provider.add_span_processor(processor)
    return Spans(provider.get_tracer(TRACER), "", provider)


def close_spans(spans: Spans) -> None:
    """Sends what is left; may wait for the network: call it in a thread."""
    if spans.provider is not None:
        spans.provider.shutdown()


def _grpc() -> bool:
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "")
    return protocol == "grpc"


def _processors(names: str) -> list[Any]:
    from importlib import import_module

    export = import_module("opentelemetry.sdk.trace.export")
    found: list[Any] = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name == "none":
            continue
        if name == "console":
            found.append(export.SimpleSpanProcessor(export.ConsoleSpanExporter()))
        elif name == "otlp":
            kind = "grpc" if _grpc() else "http"
            exporter = import_module(f"opentelemetry.exporter.otlp.proto.{kind}.trace_exporter")
            found.append(export.BatchSpanProcessor(exporter.OTLPSpanExporter()))
        else:
            raise ValueError(f"OTEL_TRACES_EXPORTER names {name}, which is none of otlp, console, none.")
    return found
