"""Guided mode: code searches and reads, a model picks words, code checks them."""

from __future__ import annotations

import json

import pytest

from agent import research
from agent.guard.window import tokens
from agent.loop.guided import GuidedModel
from agent.models.scripted import ScriptedModel, ScriptedReply
from tests.agent.models.wire import OpenAIProvider, running

PAGES = {
    "orla": "# Orla Venn\n\nOrla Venn was a weaver who taught at Tarn College from 1931 to 1950.",
    "tarn": "# Tarn College\n\nTarn College is a school of crafts in Milbrook, founded in 1884.",
    "loom": "# The Great Loom\n\nThe Great Loom of Orla Venn was first shown at a summer fair.",
}
TWO_HOPS = "Orla Venn taught weaving at a college that is located in what city?"


def named_answer(answer: str) -> str:
    return json.dumps({"found": bool(answer), "passage": 1, "answer": answer})


@pytest.fixture
def asked(tmp_path):
    """Ask a guided model with given replies; returns the replies used and the report."""
    for name, text in PAGES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")

    async def run(question, *replies, **flags):
        settings = {"search": ["corpus"], "corpus": tmp_path, "memory": False} | flags
        inner = ScriptedModel([ScriptedReply(reply) for reply in replies])
        settings.setdefault("model", GuidedModel(inner))
        return await research(question, data_dir=tmp_path / "data", **settings)

    return run


async def test_sentence_containing_named_words_becomes_answer(asked):
    report = await asked(
        "When did Orla Venn teach at Tarn College?", named_answer("from 1931 to 1950")
    )
    assert report.answer.startswith("Orla Venn was a weaver who taught at Tarn College")
    assert [sentence.verdict for sentence in report.sentences] == ["supported"]


async def test_intermediate_name_is_looked_up_and_question_asked_again(asked):
    report = await asked(TWO_HOPS, named_answer("Tarn College"), named_answer("Milbrook"))
    assert "Milbrook" in report.answer
    assert len(report.sources) == 2
    assert any(search.query.startswith("Tarn College") for search in report.searches)
    assert {sentence.verdict for sentence in report.sentences} == {"supported"}


async def test_guided_run_makes_at_most_two_answer_calls(asked):
    report = await asked(
        TWO_HOPS, named_answer("Tarn College"), named_answer(""), named_answer("Milbrook")
    )
    assert report.status == "not_found"


@pytest.mark.parametrize("lead", ["Nowhere Hall", "a weaver"])
async def test_only_new_name_found_in_text_is_looked_up(asked, lead):
    report = await asked(TWO_HOPS, named_answer(lead), named_answer("Milbrook"))
    assert not any(search.query.startswith(lead) for search in report.searches)


@pytest.mark.parametrize("words", ["at a fair", "summer fairs"])
async def test_separated_or_inflected_words_are_found_in_one_sentence(asked, words):
    report = await asked("Where was the Great Loom shown?", named_answer(words))
    assert report.answer.startswith("The Great Loom of Orla Venn was first shown at a summer fair")


async def test_name_from_question_may_be_elsewhere_on_page(asked, tmp_path):
    middle = " ".join(f"Loft {n} of the house holds {n * 7} sacks of rye." for n in range(1, 30))
    text = f"# Mills\n\nSkarn Mill stands in Oby. {middle} It burned down on Midsummer Eve."
    (tmp_path / "mills.md").write_text(text, encoding="utf-8")
    report = await asked(
        "On what day did the mill of Skarn burn down?", named_answer("Midsummer Eve")
    )
    assert report.answer.startswith("It burned down on Midsummer Eve.")


async def test_long_sentence_is_shortened_around_question_words(asked, tmp_path):
    rest = " and ".join(f"a bell of {n} pounds" for n in range(1, 12))
    text = f"# Oby\n\nThe casting house of Oby made for the abbot Runo Falk {rest}, in 1702."
    (tmp_path / "oby.md").write_text(text, encoding="utf-8")
    report = await asked(
        "For whom did the casting house of Oby make bells?", named_answer("Runo Falk")
    )
    assert report.answer.startswith("The casting house of Oby made for the abbot Runo Falk")
    assert "…" in report.answer


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When was Orla Venn born in Ystad?", "1931"),  # no page mentions the place
        ("Who taught at Tarn College with Ada Quill?", "Orla Venn"),  # a different name
        ("Where was the Great Loom first shown?", "in the town hall"),  # not on any page
    ],
)
async def test_implausible_answer_words_are_refused(asked, question, words):
    report = await asked(question, named_answer(words), named_answer(words))
    assert report.status == "not_found"


async def test_response_schema_is_sent_with_short_prompt(asked):
    with running(OpenAIProvider, "/v1") as provider:
        provider.says(named_answer("Milbrook"))
        endpoint = {"model": "tiny-1b", "base_url": provider.url}
        report = await asked("Where is Tarn College, founded in 1884?", **endpoint)
    [request] = provider.requests
    assert report.answer.startswith("Tarn College is a school of crafts in Milbrook")
    form = request["response_format"]["json_schema"]["schema"]
    assert set(form["required"]) == {"found", "passage", "answer"}
    assert sum(tokens(message["content"]) for message in request["messages"]) <= 1_500


async def test_text_written_by_code_is_not_attributed_to_the_model(asked):
    with running(OpenAIProvider, "/v1") as provider:
        provider.says(named_answer(""))
        endpoint = {"model": "tiny-1b", "base_url": provider.url}
        report = await asked("Where was the Great Loom of Orla Venn first sold?", **endpoint)
    assert report.status == "not_found"
    assert report.answer.startswith("The passages that were read do not contain the answer.")
    assert not any("model" in sentence.reason for sentence in report.sentences)
