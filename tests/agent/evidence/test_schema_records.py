"""Schema values are checked as records: rows, columns, units, and the judge's words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from agent.evidence import Evidence
from agent.evidence.schema import Schema, pointer
from agent.evidence.schema_values import (
    CheckedValues,
    ValuesDraft,
    check_values,
    contains_value,
)
from agent.types import Verdict, VerdictState
from browser.types import Document, Outcome, Page
from tests.agent.evidence.schema_cases import CASES, DAM_IN_KM, MILLS, SHIPS, Case, Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.evidence.verify import Judge

DRAFTS = [
    pytest.param(case, draft, id=f"{case.title}: {draft.name}")
    for case in CASES
    for draft in case.drafts
]
READ_AT = datetime(2026, 3, 1, tzinfo=UTC)


def leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the JSON Pointer of each value in an instance, with the value."""
    if isinstance(node, dict | list):
        for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(inner, (*path, key))
    elif node is not None:
        yield pointer(path), node


def checked(case: Case, data: Any, judge: Judge | None, *, exact: bool = False) -> CheckedValues:
    """Check data that cite the whole page or, if `exact`, the passages that contain each value."""
    evidence = Evidence(f"What is known of {case.title}?")
    document = Document(url="https://page.test/", title=case.title, text=case.text)
    evidence.add(Page(document.url, document.url, "http", Outcome.OK, READ_AT, document=document))
    passages = evidence.sources[0].passages
    cited = {"": [passage.id for passage in passages]}
    if exact:
        found = {
            path: [p.id for p in passages if contains_value(value, p.text)] or cited[""][:1]
            for path, value in leaves(data)
        }
        cited = found
    return check_values(ValuesDraft(data, cited), Schema.load(case.schema), evidence, judge)


def careful_judge(case: Case, data: Any) -> Judge:
    """A judge that knows the correct data, and quotes the page if a claim names its record."""
    right = dict(leaves(case.data))

    def judge(claim: str, _passages: Any) -> Verdict:
        for path, value in leaves(data):
            record, _, field = path.rpartition("/")
            shown = ("no", "yes")[value] if isinstance(value, bool) else str(value)
            is_value = re.search(rf": {re.escape(shown)}(?: \w+)?$", claim)
            is_field = all(word in claim for word in field.split("_")[:1])
            names = [v for p, v in leaves(data) if p.rpartition("/")[0] == record]
            names.append(record.rpartition("/")[2].replace("_", " "))
            is_named = not record or any(str(name) in claim.partition(",")[0] for name in names)
            words = case.quotes.get(path) or case.quotes.get(record)
            if is_value and is_field and is_named and words and right.get(path) == value:
                return Verdict(VerdictState.SUPPORTED, words, decided_by="judge")
        return Verdict(VerdictState.UNDECIDED, decided_by="judge")

    return judge


def rubber_stamp(_claim: str, _passages: Any) -> Verdict:
    return Verdict(VerdictState.SUPPORTED, "", decided_by="judge")


def inventing_judge(claim: str, _passages: Any) -> Verdict:
    return Verdict(VerdictState.SUPPORTED, f"It is known: {claim}.", decided_by="judge")


def silent_judge(_claim: str, _passages: Any) -> None:
    return None


@pytest.mark.parametrize("exact", [False, True], ids=["page cited", "value cited"])
@pytest.mark.parametrize("judge", [None, rubber_stamp, inventing_judge, silent_judge])
@pytest.mark.parametrize(("case", "draft"), DRAFTS)
@pytest.mark.sample(80)
def test_wrong_value_is_never_supported_by_unreliable_judge(
    case: Case, draft: Draft, judge: Judge | None, exact: bool
) -> None:
    data, right = case.drafted(draft), dict(leaves(case.data))
    found = checked(case, data, judge, exact=exact)
    supported = {v.pointer: v.value for v in found.values if v.verdict is VerdictState.SUPPORTED}
    assert all(right.get(path) == value for path, value in supported.items())


@pytest.mark.parametrize("exact", [False, True], ids=["page cited", "value cited"])
@pytest.mark.parametrize(("case", "draft"), DRAFTS)
@pytest.mark.sample(40)
def test_careful_judge_supports_exactly_the_correct_values(
    case: Case, draft: Draft, exact: bool
) -> None:
    data, right = case.drafted(draft), dict(leaves(case.data))
    found = checked(case, data, careful_judge(case, data), exact=exact)
    supported = {v.pointer: v.value for v in found.values if v.verdict is VerdictState.SUPPORTED}
    assert supported == {p: v for p, v in leaves(data) if right.get(p) == v}


def test_claim_for_judge_names_record_and_unit() -> None:
    asked: list[str] = []
    data = {"ships": [{"name": "Cedar", "launched": 1981, "length_m": 99}]}
    checked(SHIPS, data, lambda claim, _: asked.append(claim))
    assert asked == ["Cedar, launched: 1981", "Cedar, length: 99 m"]


def test_value_in_wrong_unit_is_refused_with_converted_value() -> None:
    [refused, *_] = checked(DAM_IN_KM, {"crest_length_km": 412}, None).notes
    assert "“412 m”, in another unit: that is 0.412 in the field's unit" in refused


def test_quote_about_another_record_does_not_support_value() -> None:
    data = {"ships": [{"name": "Alder", "launched": 1981}, {"name": "Birch", "launched": 1981}]}

    def judge(_claim: str, _passages: Any) -> Verdict:
        words = "The *Birch*, launched in 1981"
        return Verdict(VerdictState.SUPPORTED, words, decided_by="judge")

    found = checked(SHIPS, data, judge)
    alder, birch = found.data["ships"]
    assert (alder["launched"], birch["launched"]) == (None, 1981)


def test_two_records_in_one_sentence_are_undecided_without_judge() -> None:
    found = checked(MILLS, MILLS.data, None)
    assert {v.verdict.value for v in found.values if v.value in (1790, 1832)} == {"undecided"}
