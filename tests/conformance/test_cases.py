"""Every recorded dialogue ends as recorded, except for intended divergences."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.conformance.run_case import run_case

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))
HISTORIES = {"storage_before_jobs.urchinChatHistory", "storage_after.urchinChatHistory"}
CACHES = {"storage_before_jobs.urchinEmbeddingCache", "storage_after.urchinEmbeddingCache"}
# Case: name of the divergence, and where it shows.
DIVERGENT: dict[str, tuple[str, set[str]]] = {
    "01_think_multi_tools": ("every-think-stripped", {"answer", "thinks", *HISTORIES}),
    "03_max_steps": ("wrap-up", {"llm_calls", "main_calls", "script_left"}),
    "04_decompose": ("clean-synthesis", {"answer", *HISTORIES}),
    "06_jobs_3_5": ("one-signal-once", {"turns", "storage_after.urchinSkills"}),
    "10_undefined_result": (
        "robust-results",
        {
            *("ok", "answer", "error", "llm_calls", "main_calls", "steps", "script_left"),
            *("storage_after.urchinMemory", *HISTORIES),
        },
    ),
    "11_gt_in_param": (
        "balanced-params",
        {"llm_calls", "storage_before_jobs.urchinMemory", "storage_after.urchinMemory"},
    ),
    "14_big_result": ("cap-per-tool", {"llm_calls"}),
    "16_llm_throws": ("model-errors", HISTORIES),
    "17_embeddings": ("content-keyed-cache", CACHES),
    "22_synth_with_tool_tag": ("clean-synthesis", {"answer", *HISTORIES}),
    "24_unclosed_think": ("every-think-stripped", {"llm_calls", "tool_calls", "thinks"}),
    "29_many_manual_eviction": ("memories-that-bear-on-the-question", {"llm_calls"}),
}
_PARSE_ERROR = re.compile(r"Memory save failed: .*?(?=\"}\n)")


def comparable(value: Any) -> Any:
    """Return a value without the wording of JSON parser errors, which differs between parsers."""
    if isinstance(value, str):
        return _PARSE_ERROR.sub("Memory save failed:", value)
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    return value


def differing(expected: dict[str, Any], got: dict[str, Any], prefix: str = "") -> set[str]:
    """Return the names, including those inside storages, for which two results differ."""
    found = set()
    for name in {**expected, **got}:
        one, other = expected.get(name), got.get(name)
        if name.startswith("storage") and isinstance(one, dict) and isinstance(other, dict):
            found |= differing(one, other, f"{name}.")
        elif one != other or _order(one) != _order(other):
            found.add(prefix + name)
    return found


def _order(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
async def test_recorded_dialogue_matches_expected_output(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    got = json.loads(json.dumps(await run_case(case["case"])))
    _, where = DIVERGENT.get(path.stem, ("", set()))
    assert differing(comparable(case["expected"]), comparable(got)) == where


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@pytest.mark.sample(5)
async def test_recorded_dialogue_is_stored_identically_in_postgres(path, postgres):
    case = json.loads(path.read_text(encoding="utf-8"))["case"]
    assert await run_case(case, postgres, uuid4().hex) == await run_case(case)


async def test_counting_signals_once_changes_only_scores():
    case = json.loads((CASES[0].parent / "06_jobs_3_5.json").read_text(encoding="utf-8"))
    got = json.loads(json.dumps(await run_case(case["case"])))
    for expected, turn in zip(case["expected"]["turns"], got["turns"], strict=True):
        assert without_scores(expected) == without_scores(turn)
    assert [turn["storage_after"]["urchinSkills"][0]["score"] for turn in got["turns"]] == [
        *(70, 55, 65, 55, 70, 60)
    ]


def without_scores(turn: dict[str, Any]) -> Any:
    return json.loads(re.sub(r'("score": |\[score:)\d+', r"\g<1>0", json.dumps(turn)))
