"""Prints the JSON Schema of the report, which is published as `docs/report.schema.json`.

python dev/report_schema.py > docs/report.schema.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from agent.types import Report  # noqa: E402 - found by the line above


def report_schema() -> str:
    """Return the schema (JSON Schema 2020-12) of the output of `--json` and of `.json` exports."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Report.model_json_schema(mode="serialization"),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(report_schema())
