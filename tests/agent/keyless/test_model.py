"""The keyless model at work: what it asks, what it quotes, and when it refuses."""

from __future__ import annotations

import dataclasses
import re

import pytest

from agent.depth import STANDARD
from agent.keyless import ExtractiveModel
from agent.models import Message, Task, takes
from agent.protocol import format_results, parse


def sentences_of(answer: str) -> list[str]:
    return [s.strip() for s in re.split(r"\[S\d+¶\d+\]", answer) if s.strip()]


async def test_a_fact_is_quoted_word_for_word_and_cited(ask, isles) -> None:
    answer = await ask(isles, "When was Hesk Light first lit?")
    assert "It was first lit on 1 November 1829. [S" in answer
    pages = " ".join(page.text for page in isles.pages.values())
    assert all(" ".join(s.split()) in " ".join(pages.split()) for s in sentences_of(answer))


async def test_the_page_that_answers_comes_before_one_that_only_speaks_of_it(ask, isles) -> None:
    del isles.pages["hesk-light"]
    isles.pages["marrow-light"].text = "It was lit in 1851 and is painted black."
    isles.pages["thorsby"].text += " Hesk Light and Marrow Point Light are still in use."
    said = sentences_of(await ask(isles, "When was Marrow Point Light first lit?"))
    assert said[0] == "It was lit in 1851 and is painted black."
    assert len(said) > 1


async def test_an_answer_has_at_most_three_sentences_and_ninety_words(ask, isles) -> None:
    said = sentences_of(await ask(isles, "Who described the Orlenn wren?"))
    assert 1 <= len(said) <= 3
    assert sum(len(s.split()) for s in said) <= 90


async def test_several_pages_are_read_in_one_reply(ask, isles) -> None:
    await ask(isles, "When was Hesk Light first lit?")
    names = [name for name, _ in isles.asked]
    first = names.index("READ")
    assert names[first : first + 3] == ["READ"] * 3


async def test_a_second_hop_asks_for_the_name_found_on_the_way(ask, isles) -> None:
    isles.pages["thorsby"].title = "Thorsby, Gideon"
    answer = await ask(isles, "In which village was the engineer who designed Hesk Light born?")
    assert "Nether Croft" in answer
    assert "Gideon Thorsby" in answer


async def test_a_comparison_quotes_both_sides(ask, isles) -> None:
    answer = await ask(isles, "Which was lit first, Hesk Light or Marrow Point Light?")
    assert "1829" in answer
    assert "1851" in answer


async def test_a_row_of_a_table_is_evidence(ask, isles) -> None:
    answer = await ask(isles, "How many passengers does the ferry Anna Torrand carry?")
    assert "| Anna Torrand | 2014 | 310 |" in answer


async def test_a_row_that_answers_best_leads_the_answer(ask, isles) -> None:
    isles.add("Anna Torrand", "The Anna Torrand is painted green. Jo Aas is her captain.")
    answer = await ask(isles, "How many passengers does the ferry Anna Torrand carry?")
    assert answer.startswith("| Anna Torrand | 2014 | 310 |")
    assert "painted green" in answer


async def test_a_name_that_no_page_speaks_of_is_refused(ask, isles) -> None:
    answer = await ask(isles, "When was Tollan Reef Light first lit?")
    assert answer.startswith("NOT_FOUND")
    assert "Tollan Reef" in answer


async def test_a_page_that_does_not_say_what_is_asked_is_refused(ask, isles) -> None:
    answer = await ask(isles, "Who painted Hesk Light?")
    assert answer.startswith("NOT_FOUND")
    assert "painted" in answer


async def test_a_slip_in_a_name_is_put_right(ask, isles) -> None:
    assert "Nether Croft" in await ask(isles, "Where was the engineer Gideon Thosrby born?")


async def test_a_sentence_that_is_too_long_is_never_quoted(ask, isles) -> None:
    ropes = ", ".join(f"rope number {n}" for n in range(1, 30))
    isles.pages[
        "wren"
    ].text += f" The Orlenn wren was described in a letter that also lists {ropes}."
    answer = await ask(isles, "Who described the Orlenn wren?")
    assert "Tobias Renwick described the Orlenn wren in 1871." in answer
    assert "rope number" not in answer


async def test_a_next_page_is_turned_to_when_the_answer_is_not_there_yet(ask, isles) -> None:
    isles.pages["log"] = type(isles.pages["wren"])(
        "Keeper's log of Widow Rock", "The keeper's log of Widow Rock begins in 1891.", next="log-2"
    )
    isles.pages["log-2"] = type(isles.pages["wren"])(
        "Page two", "A whale was stranded below the lamp on 4 June 1892."
    )
    answer = await ask(isles, "When was a whale stranded, by the keeper's log of Widow Rock?")
    assert "4 June 1892" in answer
    assert "log-2" in isles.read()


@pytest.mark.parametrize(
    "question", ["Who is the captain of MV Sunnock?", "When was the airport of Brack opened?"]
)
async def test_another_ships_captain_answers_nothing(ask, isles, question) -> None:
    isles.add("Brack", "Brack is an island. It opened to visitors in 1958.")
    isles.add("MV Sunnock", "MV Sunnock is a ferry. It was built in 2014.")
    isles.add("MV Marrow", "Her captain, Philippa Roe, is from Skarholm.")
    assert (await ask(isles, question)).startswith("NOT_FOUND")
    assert "Roe" in await ask(isles, "Who is the captain of MV Marrow?")


async def test_the_page_before_the_person_is_read_first(ask, isles) -> None:
    opening = "[Page: Orlenn wren — http://isles.example/wren]\n\nWho described it?"
    answer = await ask(isles, opening)
    assert isles.asked[0] == (
        "READ",
        {"url": "http://isles.example/wren", "query": "Who described Orlenn wren?"},
    )
    assert "Tobias Renwick" in answer
    assert not isles.queries()


async def test_a_pronoun_stands_for_what_was_spoken_of(ask, isles) -> None:
    before = (
        Message("user", "When was Hesk Light first lit?"),
        Message("assistant", "It was first lit on 1 November 1829."),
    )
    assert "Gideon Thorsby" in await ask(isles, "Who designed it?", before=before)


async def test_failed_searches_end_in_a_refusal(ask, isles) -> None:
    isles.pages.clear()
    answer = await ask(isles, "When was Hesk Light first lit?")
    assert answer.startswith("NOT_FOUND")


@pytest.mark.parametrize(
    "question", ["", "?", "…", "灯台はいつ点灯しましたか", "Wann wurde Hesk Light zuerst lit?"]
)
async def test_any_question_ends_in_a_reply(ask, isles, question: str) -> None:
    assert await ask(isles, question)


async def test_and_what_about_asks_the_same_of_another(ask, isles) -> None:
    before = (
        Message("user", "When was Hesk Light first lit?"),
        Message("assistant", "It was first lit on 1 November 1829."),
    )
    answer = await ask(isles, "And Marrow Point Light?", before=before)
    assert "3 May 1851" in answer


async def test_a_question_about_the_page_is_answered_from_it_alone(ask, isles) -> None:
    opening = "[Page: Orlenn wren — http://isles.example/wren]\n\nWhat is this page about?"
    answer = await ask(isles, opening)
    assert answer.startswith("The Orlenn wren is a small bird. [S1¶")
    assert not isles.queries()


async def test_a_file_that_answers_is_enough(ask, isles) -> None:
    given = '<web source="S7">\nS7¶1 The Brack ferry was built in 1903.\n</web>'
    opening = (
        f"Captured context:\n[file] notes.md is S7:\n{given}\n\nWhen was the Brack ferry built?"
    )
    assert await ask(isles, opening) == "The Brack ferry was built in 1903. [S7¶1]"
    assert not isles.asked


async def test_what_is_selected_is_what_is_quoted(ask, isles) -> None:
    opening = (
        "[Page: Orlenn wren — http://isles.example/wren]\n"
        "[Selected text: It nests in the walls of sheepfolds on Brack.]\n\nExplain the selection."
    )
    answer = await ask(isles, opening)
    assert answer == "It nests in the walls of sheepfolds on Brack. [S1¶2]"


async def test_the_last_step_is_left_for_the_answer(isles) -> None:
    model = ExtractiveModel(dataclasses.replace(STANDARD, steps=2))
    asked = Message("user", "When was Hesk Light first lit?")
    first = await model.reply("", [asked])
    results = [isles.run(call.name, call.param) for call in parse(first.text).calls]
    found = Message("user", format_results(results))
    last = await model.reply("", [asked, Message("assistant", first.text), found])
    assert results
    assert not parse(last.text).calls


async def test_no_tool_is_called_once_the_limit_is_reached(ask, isles) -> None:
    before = (Message("user", "When was Hesk Light first lit?"), Message("assistant", "…"))
    answer = await ask(isles, "[Limit reached: 12 steps. No further tool runs.]", before=before)
    assert answer.startswith("NOT_FOUND")
    assert not isles.asked


@pytest.mark.parametrize("task", Task)
def test_it_is_asked_for_the_question_alone(task) -> None:
    assert not takes(ExtractiveModel(), task)
