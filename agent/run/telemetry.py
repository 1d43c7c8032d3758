"""OpenTelemetry (extra `otel`): spans of a run made of its events, by the GenAI conventions.

A run, its steps, model calls, tool calls and pages; names, tokens, dollars and outcomes, no texts.
Off unless OTEL_EXPORTER_OTLP_ENDPOINT or …_TRACES_ENDPOINT is set.
https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from agent.journal.events import Event


PATIENCE: Final = 2.0
"""Seconds for sending spans, tries included: a collector that is gone must not hold a run up."""


class RunSpans:
    """A listener of a run's events; `close` sends what is left, and waits for that."""

    def __init__(self) -> None:
        named = Resource.create({"service.name": "urchin-research"})
        self._provider = TracerProvider(resource=named)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_patience())))
        self._tracer = self._provider.get_tracer("urchin")
        self._run: Span | None = None
        self._steps: dict[str, Span] = {}
        self._last = 0

    def note(self, event: Event) -> None:
        """Make the spans that an event ends."""
        data, self._last = event.data, _ns(event.at)
        if event.type == "run.started":
            told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "urchin"}
            told |= {"gen_ai.conversation.id": data["session"], "urchin.run": data["run"]}
            told |= {"gen_ai.request.model": data["model"]}
            name = "invoke_agent urchin"
            self._run = self._tracer.start_span(name, attributes=told, start_time=self._last)
        elif event.type == "model.reply":
            told = {"gen_ai.operation.name": "chat", "gen_ai.response.model": data["model"]}
            told |= {f"gen_ai.usage.{k}": data[k] for k in ("input_tokens", "output_tokens")}
            told |= {"gen_ai.usage.cache_read.input_tokens": data["cached_tokens"]}
            self._span(event, f"chat {data['model']}", {**told, "urchin.usd": data["usd"]})
        elif event.type == "model.failed":
            told = {"gen_ai.operation.name": "chat", "error.type": data["type"]}
            self._span(event, "chat", told, failed=data["type"])
        elif event.type == "tool.result":
            told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": data["name"]}
            broken = isinstance(data["data"], dict) and bool(data["data"].get("error"))
            failed = "tool_error" if broken else ""
            self._span(event, f"execute_tool {data['name']}", told, failed=failed)
        elif event.type == "source.added":
            told = {"url.full": data["url"], "urchin.via": data["via"], "urchin.source": data["n"]}
            self._span(event, "read_page", told)
        elif event.type == "run.finished" and self._run is not None:
            self._end(data["report"])

    def close(self) -> None:
        """End what a cut-off run left open, and send all spans."""
        for span in [*self._steps.values(), *([self._run] if self._run else [])]:
            span.end(self._last)
        self._steps, self._run = {}, None
        self._provider.shutdown()

    def _span(self, event: Event, name: str, told: dict[str, Any], *, failed: str = "") -> None:
        began = self._last - int(event.data.get("ms", 0)) * 1_000_000
        context = self._step(event.place, began)
        kind = SpanKind.CLIENT if name.startswith("chat") else SpanKind.INTERNAL
        span = self._tracer.start_span(name, context, kind, told, start_time=began)
        if failed:
            span.set_attribute("error.type", failed)
            span.set_status(Status(StatusCode.ERROR, failed))
        span.end(self._last)

    def _step(self, place: str, began: int) -> Context | None:
        """Give what stands above an effect: its step (the place's first two parts), or the run."""
        if self._run is None:
            return None
        run, name = set_span_in_context(self._run), "/".join(place.split("/")[:2])
        if not name:
            return run
        if name not in self._steps:
            step = self._tracer.start_span(f"step {name}", run, start_time=began)
            self._steps[name] = step
        return set_span_in_context(self._steps[name])

    def _end(self, report: dict[str, Any]) -> None:
        assert self._run is not None, "a run that ends has begun"
        usage = report["usage"]
        told = {f"gen_ai.usage.{k}": usage[k] for k in ("input_tokens", "output_tokens")}
        told |= {"urchin.usd": usage["usd"], "urchin.status": report["status"]}
        self._run.set_attributes(told)
        if report["error"] is not None:
            self._run.set_status(Status(StatusCode.ERROR, report["error"]["type"]))


def _patience() -> float | None:
    """Give the seconds that a collector has; None where a variable names them."""
    named = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
    return None if any(map(os.environ.get, named)) else PATIENCE


def _ns(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1e9)
