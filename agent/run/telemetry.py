"""OpenTelemetry (`otel` extra): a run's events as spans that follow the GenAI conventions.

The run, its steps, model calls, tool calls and pages each get a span. Spans contain names, token
counts, costs and outcomes, but no text, which may be private. Tracing is off unless
OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.
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


TIMEOUT: Final = 2.0
"""Maximum seconds for sending spans, including retries: an unreachable collector must not delay a
run.
"""


class RunSpans:
    """A listener that turns a run's events into spans; `close` sends the last ones."""

    def __init__(self) -> None:
        resource = Resource.create({"service.name": "urchin-research"})
        self._provider = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(timeout=_timeout())
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("urchin")
        self._run: Span | None = None
        self._steps: dict[str, Span] = {}
        self._now = 0  # time of the latest event, in nanoseconds since the epoch

    def note(self, event: Event) -> None:
        """Create the span for an event."""
        data, self._now = event.data, _to_nanoseconds(event.at)
        if event.type == "run.started":
            attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "urchin",
                "gen_ai.conversation.id": data["session"],
                "urchin.run": data["run"],
                "gen_ai.request.model": data["model"],
            }
            self._run = self._tracer.start_span(
                "invoke_agent urchin", attributes=attributes, start_time=self._now
            )
        elif event.type == "model.reply":
            attributes = {
                "gen_ai.operation.name": "chat",
                "gen_ai.response.model": data["model"],
                "gen_ai.usage.input_tokens": data["input_tokens"],
                "gen_ai.usage.output_tokens": data["output_tokens"],
                "gen_ai.usage.cache_read.input_tokens": data["cached_tokens"],
                "urchin.usd": data["usd"],
            }
            self._add_span(event, f"chat {data['model']}", attributes)
        elif event.type == "model.failed":
            attributes = {"gen_ai.operation.name": "chat", "error.type": data["type"]}
            self._add_span(event, "chat", attributes, error=data["type"])
        elif event.type == "tool.result":
            name = data["name"]
            attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
            failed = isinstance(data["data"], dict) and bool(data["data"].get("error"))
            error = "tool_error" if failed else ""
            self._add_span(event, f"execute_tool {name}", attributes, error=error)
        elif event.type == "source.added":
            attributes = {
                "url.full": data["url"],
                "urchin.via": data["via"],
                "urchin.source": data["n"],
            }
            self._add_span(event, "read_page", attributes)
        elif event.type == "run.finished" and self._run is not None:
            report, usage = data["report"], data["report"]["usage"]
            self._run.set_attributes(
                {
                    "gen_ai.usage.input_tokens": usage["input_tokens"],
                    "gen_ai.usage.output_tokens": usage["output_tokens"],
                    "urchin.usd": usage["usd"],
                    "urchin.status": report["status"],
                }
            )
            if report["error"] is not None:
                self._run.set_status(Status(StatusCode.ERROR, report["error"]["type"]))

    def close(self) -> None:
        """End the spans of steps and of the run, and send all spans."""
        for step in self._steps.values():
            step.end(self._now)
        if self._run is not None:
            self._run.end(self._now)
        self._steps, self._run = {}, None
        self._provider.shutdown()

    def _add_span(
        self, event: Event, name: str, attributes: dict[str, Any], *, error: str = ""
    ) -> None:
        """Add a span that ends now; `error` is its error type, or ""."""
        # An event is written when its operation ends, `ms` milliseconds after the start.
        start = self._now - int(event.data.get("ms", 0)) * 1_000_000
        parent = self._parent(event.place, start)
        kind = SpanKind.CLIENT if name.startswith("chat") else SpanKind.INTERNAL
        span = self._tracer.start_span(name, parent, kind, attributes, start_time=start)
        if error:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR, error))
        span.end(self._now)

    def _parent(self, place: str, start: int) -> Context | None:
        """Return the span for an event's step (the first two parts of its place) or for the run."""
        if self._run is None:
            return None
        run, name = set_span_in_context(self._run), "/".join(place.split("/")[:2])
        if not name:
            return run
        if name not in self._steps:
            self._steps[name] = self._tracer.start_span(f"step {name}", run, start_time=start)
        return set_span_in_context(self._steps[name])


def _timeout() -> float | None:
    """Return the timeout for sending; None if an environment variable already sets it."""
    variables = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
    return None if any(os.environ.get(name) for name in variables) else TIMEOUT


def _to_nanoseconds(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1e9)
