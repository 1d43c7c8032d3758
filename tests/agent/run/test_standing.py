"""An answer's standing and doubt; what a run without an answer reports."""

from __future__ import annotations

from typing import Any

import pytest

from agent.export.report_view import closest_place, supported_label
from agent.run.outcome import exit_code
from agent.types import (
    ClosePassage,
    ConfidenceParts,
    Conflict,
    DataValue,
    Fit,
    Report,
    Sentence,
    VerdictState,
)
from tests.loopback import Held, HeldSite, serving

SUPPORTED, UNDECIDED, CONTRADICTED = (
    VerdictState.SUPPORTED,
    VerdictState.UNDECIDED,
    VerdictState.CONTRADICTED,
)
CONFLICT = Conflict(text="s0", citations=[1], source=2, quote="It says otherwise.")


def report(*verdicts: VerdictState, status: str = "answered", **fields: Any) -> Report:
    """Make a report with a sentence for each verdict, judged as answering the question."""
    parts = fields.pop("parts", {"answers": "fully"})
    sentences = [Sentence(text=f"s{n}", verdict=verdict) for n, verdict in enumerate(verdicts)]
    sentences.append(Sentence(text="I found no other.", about_search=True))
    return Report(
        run="r",
        question="q",
        status=status,  # type: ignore[arg-type] # checked by pydantic
        sentences=sentences,
        confidence_parts=ConfidenceParts(**parts),
        **{"confidence": 0.9, **fields},
    )


def test_supported_label_counts_disputed_sentences():
    made = report(SUPPORTED, SUPPORTED, conflicts=[CONFLICT])
    label = "2 sentences supported by the sources, 1 of them disputed"
    assert supported_label(made.sentences[:2], made) == label
    assert supported_label(made.sentences[1:2], made) == "1 sentence supported by the sources"


@pytest.mark.parametrize(
    ("made", "standing"),
    [
        (report(SUPPORTED, SUPPORTED), "supported"),
        (report(SUPPORTED, UNDECIDED), "in_part"),
        (report(SUPPORTED, parts={"answers": "in part"}), "in_part"),
        (report(SUPPORTED, parts={"answers": "no"}), "not_verified"),
        (report(SUPPORTED, parts={}), "not_verified"),
        (report(SUPPORTED, parts={"fit": Fit(covered=1, margin=2)}), "supported"),
        (report(UNDECIDED, UNDECIDED), "not_verified"),
        (report(SUPPORTED, conflicts=[CONFLICT]), "disputed"),
        (report(SUPPORTED, CONTRADICTED, conflicts=[CONFLICT]), "contradicted"),
        (report(SUPPORTED, values=[DataValue(pointer="/a", value=3)]), "in_part"),
        (report(SUPPORTED, values=[DataValue(pointer="/a", value=None)]), "supported"),
        (report(), "not_verified"),
        (report(SUPPORTED, status="not_found"), "not_verified"),
    ],
)
def test_standing_follows_verdicts_values_and_judge(made, standing):
    assert made.standing == standing
    expected = 0 if standing == "supported" else 4
    if made.status == "answered":
        assert exit_code(made, require_verified=True) == expected
        assert exit_code(made) == 0


@pytest.mark.parametrize("confidence", [None, 0.0, 0.3, 0.69, 0.7, 0.92])
@pytest.mark.parametrize("coverage", [0.0, 0.5, 1.0])
def test_doubt_is_shown_only_below_confidence_threshold(confidence, coverage):
    parts = {"answers": "fully", "coverage": coverage}
    made = report(SUPPORTED, UNDECIDED, confidence=confidence, parts=parts)
    assert (made.doubt is not None) == (confidence is not None and confidence < 0.7)


@pytest.mark.parametrize(
    ("made", "doubt"),
    [
        (report(CONTRADICTED, confidence=0.3), "a source contradicts it"),
        (report(SUPPORTED, confidence=0.1, parts={"answers": "no"}), "does not answer"),
        (
            report(SUPPORTED, confidence=0.5, parts={"answers": "in part"}),
            "only part of the question",
        ),
        (report(SUPPORTED, confidence=0.5, conflicts=[CONFLICT]), "sources disagree"),
        (report(SUPPORTED, UNDECIDED, confidence=0.5), "1 of 2 sentences"),
    ],
)
def test_doubt_names_largest_confidence_penalty(made, doubt):
    assert doubt in made.doubt


async def test_not_found_reason_of_model_is_the_answer(ask, script, site):
    model = script(
        "<<TOOL:WEB_SEARCH:Hesk Light height>>",
        f"<<TOOL:READ:{site.url}/hesk-light>><<TOOL:READ:http://127.0.0.1:9/>>",
        "NOT_FOUND The pages on Hesk Light give no cost in pounds.",
    )
    found = await ask(question="What did Hesk Light cost in pounds?", model=model)
    assert (found.status, exit_code(found)) == ("not_found", 3)
    words, record = found.answer.split("\n\n")
    assert words == ("In the model's own words: The pages on Hesk Light give no cost in pounds.")
    assert "Searched: Hesk Light height." in record
    assert "Read: Hesk Light" in record
    assert "http://127.0.0.1:9/" in record.partition("Failed: ")[2]
    assert [s.about_search for s in found.sentences] == [True]
    assert found.closest[0].url == f"{site.url}/hesk-light"
    assert found.closest[0].text in {q for s in found.sources for q in s.quotes}


async def test_limit_that_ended_run_is_named_in_not_found_answer(ask, script):
    model = script("<<TOOL:WEB_SEARCH:Hesk Light>>", "NOT_FOUND No page was read.")
    found = await ask(model=model, max_steps=1)
    assert found.status == "partial"
    assert "Stopped early: the step limit was reached." in found.answer


async def test_text_is_not_attributed_to_a_model_that_wrote_none(ask, script, site):
    call = f"<<TOOL:READ:{site.url}/hesk-light>>"
    found = await ask("What did the Brack pump cost?", model=script(call, call), max_steps=1)
    assert found.status == "partial"
    assert found.answer.startswith("None of the pages that were read is relevant")
    assert "own words" not in found.answer


async def test_search_that_never_finishes_fails_run(ask, script):
    """Nothing was read, so "no page that was read bears on it" would be false."""
    model = script("<<TOOL:WEB_SEARCH:Hesk Light>>", "NOT_FOUND The search gave no answer.")
    with serving(Held, HeldSite) as engine:
        found = await ask(
            model=model,
            searxng_url=engine.url,
            allow_private=[engine.url.removeprefix("http://")],
            limits={"call_seconds": 0.2},
        )
        engine.open.set()
    assert (found.status, exit_code(found)) == ("failed", 6)
    assert found.error is not None
    assert "no search finished" in found.error.message


def test_heading_that_repeats_the_page_title_is_shown_once() -> None:
    passage = ClosePassage(text="It is lit.", url="https://a.test/", title="Hesk Light", source=1)
    assert closest_place(passage.model_copy(update={"heading": "Hesk Light"})) == "Hesk Light"
    assert closest_place(passage.model_copy(update={"heading": "Lens"})) == "Hesk Light, Lens"
