"""A run's spans, as received over OTLP/HTTP by a loopback collector."""

from __future__ import annotations

import gzip

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.loopback import Handler, serving


class _Collector(Handler):
    def post(self, body):
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.site.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send(200, "application/x-protobuf", b"")


@pytest.fixture
def collector():
    with serving(_Collector, lambda url: _Received([url])) as received:
        yield received


class _Received(list):
    @property
    def url(self):
        return self[0]


def test_run_is_traced_when_collector_is_configured(run, answering, web, collector):
    done = run("When?", "--model", answering, *web, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert done.returncode == 0, done.stderr
    assert {path for path, _ in collector[1:]} == {"/v1/traces"}
    spans = [
        span
        for _, request in collector[1:]
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    named = {span.name: span for span in spans}
    told = {a.key: a.value for a in named["invoke_agent urchin"].attributes}
    assert told["urchin.status"].string_value == "answered"
    assert {"execute_tool READ", "read_page", "step 0/1"} <= named.keys()
    by_id = {span.span_id: span.name for span in spans}
    assert by_id[named["execute_tool READ"].parent_span_id] == "step 0/1"
    assert by_id[named["step 0/1"].parent_span_id] == "invoke_agent urchin"
    chats = [span for span in spans if span.name.startswith("chat ")]
    assert chats
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans)


def test_unreachable_collector_does_not_fail_run(run, answering, web):
    nobody = "http://127.0.0.1:9"  # the discard port: nobody listens
    done = run("When?", "--model", answering, *web, OTEL_EXPORTER_OTLP_ENDPOINT=nobody)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
