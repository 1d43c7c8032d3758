"""The JSON Schema of the report, published as `docs/report.schema.json`.

`python -m agent.export.report_schema > docs/report.schema.json` writes it anew.
"""

from __future__ import annotations

import json
import sys

from agent.types import Report


def report_schema() -> str:
    """Write the schema (JSON Schema 2020-12) of what `--json` prints and `.json` exports hold."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Report.model_json_schema(mode="serialization"),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(report_schema())
