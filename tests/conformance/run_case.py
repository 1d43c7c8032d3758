"""Runs one scripted dialogue through the product, and prints the result in the reference form.

    python tests/conformance/run_case.py < case.json

Reads `{"case": …}` (or the case alone) and prints the JSON of its `expected`. The loop, parser,
layers, tools, planner and jobs are the product's; the model follows the case's script, and the
clock shows 1,700,000,000,000 ms plus one for each model call. Anything without a counterpart in the
reference engine is left out: notes on repetition, the answer review, earlier runs' findings.
Subtasks run one at a time here, because one script serves all of them, and each has its own eight
steps.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent.memory import Memory
from tests.conformance.engine import Engine


async def run_case(
    case: dict[str, Any], place: str = ":memory:", namespace: str = "default"
) -> dict[str, Any]:
    """Run a case: one turn, or several that share their storage."""
    with Memory.open(place, namespace) as memory:
        engine = Engine(case, memory)
        if "turns" not in case:
            return {**await engine.turn(case), "fetches": engine.fetches}
        turns = [await engine.turn({**case, **turn}) for turn in case["turns"]]
        return {"turns": turns, "storage_after": engine.storage(), "fetches": engine.fetches}


def main() -> None:
    """Read a case from standard input and print the result."""
    given = json.load(sys.stdin)
    result = asyncio.run(run_case(given.get("case", given)))
    text = json.dumps(result, ensure_ascii=False, indent=1)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


if __name__ == "__main__":
    main()
