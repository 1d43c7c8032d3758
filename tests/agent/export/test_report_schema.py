"""The published schema matches the report."""

from __future__ import annotations

from pathlib import Path

from dev.report_schema import report_schema

PUBLISHED = Path(__file__).parents[3] / "docs" / "report.schema.json"


def test_published_schema_matches_report():
    assert PUBLISHED.read_text(encoding="utf-8") == report_schema()
