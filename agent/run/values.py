"""Values of a schema in the report: their sources are its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.evidence.answer import report_source
from agent.types import DataValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.config import Options
    from agent.evidence import Evidence
    from agent.planner import Work
    from agent.review import Gate
    from agent.review.schema import Schema
    from agent.review.values_draft import WeighedValues
    from agent.types import Report, ReportSource


def schema_of(options: Options) -> Schema | None:
    """Read the schema of a run, if it has one; raises `UsageError` for what is none."""
    if options.schema_file is None:
        return None
    from agent.review.schema import Schema  # noqa: PLC0415 - few runs have one

    return Schema.of(options.schema_file)


def fields_wanted(options: Options) -> list[tuple[str, str]]:
    """Name the values that are wanted beside the answer, so that they are looked for."""
    schema = schema_of(options)
    if schema is None:
        return []
    lines = [f"{f.name} ({f.format or f.kind}) {f.said}".rstrip() for f in schema.fields()]
    return [("also wanted, each value from a page that is read", "; ".join(lines))]


async def add_values(report: Report, answer: str, schema: Schema, work: Work, gate: Gate) -> None:
    """Fill in the schema after an answer (the model's own text), and put it into the report.

    `gate` has the evidence, and the judge of what code leaves open.
    """
    from agent.review.filling import Filling  # noqa: PLC0415 - few runs have a schema

    filling = Filling(schema, gate.evidence, work.model, work.budget, work.record, gate)
    with_values(report, await filling.fill(report.question, answer), gate.evidence)


def with_values(report: Report, filled: WeighedValues, evidence: Evidence) -> Report:
    """Put the values into a report; sources that only they cite come after its own."""
    report.data, report.data_notes = filled.data, filled.notes
    for value in filled.values:
        cited = [_numbered(report, n, evidence) for n in value.sources]
        verdict = value.verdict
        report.values.append(
            DataValue(
                pointer=value.pointer,
                value=value.value,
                citations=sorted({source.n for source in cited}),
                verdict=verdict.state,
                quote=verdict.quote,
                reason=verdict.reason,
            )
        )
        _quote(cited, verdict.quote, evidence)
    return report


def _numbered(report: Report, n: int, evidence: Evidence) -> ReportSource:
    """Find a source of the run among those of the report, or add it to them."""
    source = evidence.source(n)
    assert source is not None, "a value cites passages of the run"
    for known in report.sources:
        if (known.url, known.sha256) == (source.url, source.sha256):
            return known
    added = report_source(len(report.sources) + 1, source, [])
    report.sources.append(added)
    return added


def _quote(cited: Sequence[ReportSource], quote: str, evidence: Evidence) -> None:
    """Add the quote to the source in which it stands."""
    known = (*evidence.sources, *evidence.snippets)
    texts = {(s.url, s.sha256): s.text for s in known}
    for source in cited:
        if quote and quote in texts[source.url, source.sha256] and quote not in source.quotes:
            source.quotes.append(quote)
