"""The extractive model: what it asks, what it quotes, and when it refuses."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from agent.evidence import split_passages
from agent.keyless.model import ExtractiveModel
from agent.keyless.question import analyse, split_question
from agent.keyless.ranking import Ranking, extract_candidates
from agent.keyless.researcher import Researcher
from agent.limits import STANDARD_LIMITS
from agent.models.base import Task, takes
from agent.types import Fit, Message, Observation, ToolCall
from tests.agent.keyless.conftest import SITE


def sentences_of(answer: str) -> list[str]:
    return [s.strip() for s in re.split(r"\[S\d+¶\d+\]", answer) if s.strip()]


async def test_fact_is_quoted_verbatim_and_cited(ask, isles) -> None:
    answer = await ask(isles, "When was Hesk Light first lit?")
    assert "It was first lit on 1 November 1829. [S" in answer
    pages = " ".join(page.text for page in isles.pages.values())
    assert all(" ".join(s.split()) in " ".join(pages.split()) for s in sentences_of(answer))


async def test_simple_fact_is_answered_with_one_sentence(ask, isles) -> None:
    answer = await ask(isles, "When was Hesk Light first lit?")
    assert answer == "It was first lit on 1 November 1829. [S1¶2]"


async def test_several_pages_are_read_in_one_reply_step(ask, isles) -> None:
    await ask(isles, "When was Hesk Light first lit?")
    names = [name for name, _ in isles.asked]
    first = names.index("READ")
    assert names[first : first + 3] == ["READ"] * 3


async def test_second_hop_searches_for_name_found_in_first(ask, isles) -> None:
    isles.pages["thorsby"].title = "Thorsby, Gideon"
    answer = await ask(isles, "In which village was the engineer who designed Hesk Light born?")
    assert "Nether Croft" in answer
    assert "Gideon Thorsby" in answer


async def test_question_about_unmentioned_name_is_refused(isles) -> None:
    reads = [
        isles.run("READ", json.dumps({"url": f"{SITE}{name}"}))
        for name in ("hesk-light", "marrow-light")
    ]
    question = "When was Tollan Reef Light first lit?"
    asked = Message("user", question, observations=tuple(reads), question=question)
    reply = await ExtractiveModel(dataclasses.replace(STANDARD_LIMITS, steps=1)).reply("", [asked])
    assert reply.text.startswith("NOT_FOUND")


async def test_overlong_sentence_is_never_quoted(ask, isles) -> None:
    ropes = ", ".join(f"rope number {n}" for n in range(1, 60))
    isles.pages[
        "wren"
    ].text += f" The Orlenn wren was described in a letter that also lists {ropes}."
    answer = await ask(isles, "Who described the Orlenn wren?")
    assert "Tobias Renwick described the Orlenn wren in 1871." in answer
    assert "rope number" not in answer


async def test_next_page_is_read_when_answer_is_missing(ask, isles) -> None:
    isles.pages["log"] = type(isles.pages["wren"])(
        "Keeper's log of Widow Rock", "The keeper's log of Widow Rock begins in 1891.", next="log-2"
    )
    isles.pages["log-2"] = type(isles.pages["wren"])(
        "Page two", "A whale was stranded below the lamp on 4 June 1892."
    )
    answer = await ask(isles, "When was a whale stranded, by the keeper's log of Widow Rock?")
    assert "4 June 1892" in answer
    assert "log-2" in isles.read()


async def test_pronoun_refers_to_subject_of_previous_turn(ask, isles) -> None:
    before = (
        Message("user", "When was Hesk Light first lit?"),
        Message("assistant", "It was first lit on 1 November 1829."),
    )
    assert "Gideon Thorsby" in await ask(isles, "Who designed it?", before=before)


async def test_pronoun_refers_to_subject_of_question_without_names(ask, isles) -> None:
    isles.pages["bell"] = type(isles.pages["wren"])(
        "Harbour log", "The fog bell was cast in 1846. It weighs 310 kilograms."
    )
    isles.pages["buoy"] = type(isles.pages["wren"])("Buoys", "How it weighs: it weighs 90 kilos.")
    before = (
        Message("user", "When was the fog bell cast?"),
        Message("assistant", "The fog bell was cast in 1846."),
    )
    assert "310 kilograms" in await ask(isles, "How much does it weigh?", before=before)


async def test_failed_searches_end_in_not_found(ask, isles) -> None:
    isles.pages.clear()
    answer = await ask(isles, "When was Hesk Light first lit?")
    assert answer.startswith("NOT_FOUND")


@pytest.mark.parametrize(
    "question", ["", "?", "…", "灯台はいつ点灯しましたか", "Wann wurde Hesk Light zuerst lit?"]
)
async def test_any_question_gets_a_reply(ask, isles, question: str) -> None:
    assert await ask(isles, question)


async def test_what_about_follow_up_repeats_question_for_new_subject(ask, isles) -> None:
    before = (
        Message("user", "When was Hesk Light first lit?"),
        Message("assistant", "It was first lit on 1 November 1829."),
    )
    answer = await ask(isles, "And Marrow Point Light?", before=before)
    assert "3 May 1851" in answer


async def test_no_tool_is_called_after_limit_is_reached() -> None:
    asked = Message("user", "When was Hesk Light first lit?")
    messages = [asked, Message("user", "[Limit reached: 12 steps. No further tool runs.]")]
    assert Researcher().next_calls(messages) is None
    assert (await ExtractiveModel().reply("", messages)).text.startswith("NOT_FOUND")


@pytest.mark.parametrize("task", Task)
def test_extractive_model_takes_no_auxiliary_tasks(task) -> None:
    assert not takes(ExtractiveModel(), task)


async def test_table_row_is_quoted_as_header_and_value(ask, isles) -> None:
    answer = await ask(isles, "How many passengers does the ferry Anna Torrand carry?")
    assert answer.startswith("Passengers: 310 (Anna Torrand) [S")
    assert "|" not in answer


async def test_numeric_table_row_is_labelled_by_its_columns(ask, isles) -> None:
    isles.add(
        "Pump log",
        "| Year | Repairs | Cost |\n|---|---|---|\n| 2022 | 3 | 310 |\n| 2023 | 5 | 540 |",
    )
    assert (await ask(isles, "How many repairs of the pump were there in 2023?")).startswith(
        "Repairs: 5 (2023) [S"
    )


async def test_inflected_column_name_finds_table_row(ask, isles) -> None:
    isles.add(
        "Basins",
        "Basin depths at low water\n\n| Basin | Depth, m | Berths | Warden |\n|---|---|---|---|\n"
        "| Quernholm | 7.5 | 4 | Rurik Aldane |\n| Selwick | 2.8 | 9 | Dunstan Mair |",
    )
    isles.add("Quernholm", "Quernholm has deep soil. Selwick lies beside it.")
    answer = await ask(isles, "How deep is the basin of Quernholm?")
    assert answer.startswith("Depth, m: 7.5 (Quernholm) [S")


async def test_list_item_is_quoted_with_its_heading(ask, isles) -> None:
    isles.add("Slipway stall", "# Slipway stall\n\n## Basalt chessboard\n\n- 88 crowns")
    answer = await ask(isles, "What does the basalt chessboard cost at the Slipway stall?")
    assert answer.startswith("Basalt chessboard:\n\n- 88 crowns [S")


async def test_how_to_question_is_answered_with_following_code_block(ask, isles) -> None:
    isles.add(
        "Lampkeeper",
        "Lampkeeper installs the lamp's own version first, which installed keepers need.\n\n"
        "You can install Lampkeeper with the harbour's tool:\n\n"
        "quay fetch lampkeeper\nquay install lampkeeper\n\nThen the lamp starts.",
    )
    answer = await ask(isles, "How do I install Lampkeeper?")
    said, _, code = answer.partition("\n\n")
    assert said.startswith("You can install Lampkeeper with the harbour's tool: [S")
    assert code.partition(" [S")[0] == "- `quay fetch lampkeeper`  \n  `quay install lampkeeper`"


async def test_hard_wrapped_sentence_is_quoted_whole(ask, isles) -> None:
    isles.add(
        "Winch",
        "The winch of the harbour at Hesk is started again by default after at most\n"
        "twenty tries, with the exception of a rope that is torn.",
    )
    answer = await ask(isles, "How many tries has the winch by default?")
    assert "is started again by default after at most twenty tries, with the exception" in answer


async def test_footnote_markers_are_not_quoted(ask, isles) -> None:
    isles.add("Ilse Marwitz", "Ilse Marwitz was born on 3 May 1889 in Stettin.[1][2]\n\n1. A book.")
    answer = await ask(isles, "When was Ilse Marwitz born?")
    assert answer.startswith("Ilse Marwitz was born on 3 May 1889 in Stettin. [S")


@pytest.mark.parametrize(
    ("question", "task"),
    [
        ("Which was lit first, Hesk Light or Marrow Point Light?", "compare"),
        ("List the lighthouses of the isles.", "list"),
        ("Summarise the history of Hesk Light.", "summarise"),
    ],
)
async def test_question_needing_language_model_is_refused_with_closest_passages(
    ask, isles, question, task
) -> None:
    answer = await ask(isles, question)
    assert answer.startswith(f"NOT_FOUND Only a language model can {task}. The closest passages")
    assert re.search(r"may not answer the question\. (\[S\d+¶\d+\]){1,5}$", answer)


async def test_each_part_of_question_gets_its_own_sentence(ask, isles) -> None:
    answer = await ask(isles, "Who designed Hesk Light, and when was it first lit?")
    designed, lit = answer.split("\n\n")
    assert "Gideon Thorsby" in designed
    assert lit.startswith("It was first lit on 1 November 1829. [S")


@pytest.mark.parametrize(
    "question",
    [
        "Who built the light at St. Hesk Point, Gideon Thorsby or his brother?",
        "Which light stands on the island whose school closed in 1960 and whose church is gone?",
        "Where do the seals and the puffins of the U.S. Virgin Isles breed?",
    ],
)
def test_single_part_question_is_not_split(question) -> None:
    assert len(split_question(analyse(question))) == 1


async def test_unanswered_part_of_question_is_named(ask, isles) -> None:
    answer = await ask(isles, "When was Hesk Light first lit? And who is its warden?")
    lit, left = answer.split("\n\n")
    assert lit.startswith("It was first lit on 1 November 1829. [S")
    assert left == "None of the passages that were read contains “And who is its warden”."


async def test_partly_answered_question_is_not_found_with_zero_fit(isles) -> None:
    call = ToolCall("READ", json.dumps({"url": f"{SITE}hesk-light"}))
    read = isles.run(call.name, call.param)
    question = "When was Hesk Light first lit? And who is its warden?"
    asked = Message("user", question, observations=(read,), question=question)
    reply = await ExtractiveModel(dataclasses.replace(STANDARD_LIMITS, steps=1)).reply("", [asked])
    assert reply.text.startswith("NOT_FOUND")
    assert reply.fit == Fit(covered=0.0, margin=0.0)


async def test_first_word_of_question_is_not_reported_as_missing_name(ask, isles) -> None:
    answer = await ask(isles, "Somebody painted Hesk Light green, when did the warden allow it?")
    assert answer.startswith("NOT_FOUND")
    assert "none mentions" not in answer


async def test_question_in_text_is_answered_by_following_sentence(ask, isles) -> None:
    isles.add("Mooring", "Can I moor at Selwick in winter?\n\nNo, the basin is drained then.")
    answer = await ask(isles, "Can I moor at Selwick in winter?")
    assert answer.endswith("No, the basin is drained then. [S1¶3]")


async def test_role_or_action_of_person_must_be_mentioned(ask, isles) -> None:
    refused = await ask(isles, "Who is the warden of Hesk Light?")
    assert refused.startswith("NOT_FOUND")
    isles.add("Wardens", "The warden of Hesk Light is Leocadia Finch.")
    assert "Leocadia Finch" in await ask(isles, "Who is the warden of Hesk Light?")


async def test_date_next_to_asked_verb_is_preferred(ask, isles) -> None:
    isles.add(
        "Ilse Marwitz",
        "Born in Stettin to parents of modest means, Ilse Marwitz left it in 1907.\n\n"
        "Marwitz was born on 3 May 1889.",
    )
    answer = await ask(isles, "When was Ilse Marwitz born?")
    assert answer.startswith("Marwitz was born on 3 May 1889. [S")


async def test_second_sentence_comes_from_same_passage(ask, isles) -> None:
    isles.add("Selwick basin", "The basin of Selwick was dug in 1840. It was dug by Dunstan Mair.")
    isles.add("Basins", "Among the basins, that of Selwick was dug out by hand.")
    answer = await ask(isles, "Who dug the basin of Selwick?")
    assert len(set(re.findall(r"\[(S\d+¶\d+)\]", answer))) == 1
    assert "Dunstan Mair" in answer


async def test_bold_markup_is_not_quoted(ask, isles) -> None:
    isles.add("Selwick basin", "**Selwick.** The basin of Selwick was dug in **1840** by hand.")
    answer = await ask(isles, "When was the basin of Selwick dug?")
    assert "dug in 1840 by hand." in answer
    assert "*" not in answer


async def test_why_question_needs_a_because_sentence(ask, isles) -> None:
    assert (await ask(isles, "Why does the Orlenn wren nest on Brack?")).startswith("NOT_FOUND")
    isles.pages["wren"].text += " The Orlenn wren nests on Brack because there are no cats."
    assert "because there are no cats" in await ask(
        isles, "Why does the Orlenn wren nest on Brack?"
    )


async def test_url_in_question_is_opened_without_searching(ask, isles) -> None:
    answer = await ask(isles, "Who described the Orlenn wren, by http://isles.example/wren?")
    assert isles.asked[0][0] == "READ"
    assert isles.asked[0][1]["url"] == "http://isles.example/wren"
    assert "Tobias Renwick described" in answer
    assert not isles.queries()


def page_in_view(isles, selection: str = "") -> Observation:
    page = isles.pages["wren"]
    passages = tuple(split_passages(page.text, 9))
    data = {"url": "http://isles.example/wren", "title": page.title, "selection": selection}
    return Observation(ToolCall("PAGE_CONTEXT"), data, passages)


async def test_pronoun_refers_to_page_in_view(ask, isles) -> None:
    answer = await ask(isles, "Who described it?", given=(page_in_view(isles),))
    assert "Tobias Renwick described the Orlenn wren in 1871. [S9¶1]" in answer
    assert not isles.queries()


async def test_page_in_view_without_passages_is_read(ask, isles) -> None:
    seen = dataclasses.replace(page_in_view(isles), passages=())
    assert "Tobias Renwick" in await ask(isles, "Who described it?", given=(seen,))
    assert isles.asked[0][1]["url"] == "http://isles.example/wren"


async def test_question_about_page_is_answered_from_page_alone(ask, isles) -> None:
    answer = await ask(isles, "What is this page about?", given=(page_in_view(isles),))
    assert answer.startswith("The Orlenn wren is a small bird. [S9¶")
    assert not isles.asked


async def test_selected_text_is_quoted(ask, isles) -> None:
    seen = page_in_view(isles, "It nests in the walls of sheepfolds on Brack.")
    answer = await ask(isles, "Explain the selection.", given=(seen,))
    assert answer == "It nests in the walls of sheepfolds on Brack. [S9¶1]"


async def test_answering_file_makes_search_unnecessary(ask, isles) -> None:
    passages = tuple(split_passages("The Brack ferry was built in 1903.", 7))
    given = Observation(ToolCall("READ"), {"url": "file:///notes.md"}, passages)
    answer = await ask(isles, "When was the Brack ferry built?", given=(given,))
    assert answer == "The Brack ferry was built in 1903. [S7¶1]"
    assert not isles.asked


async def test_last_step_is_reserved_for_answer(isles) -> None:
    researcher = Researcher(dataclasses.replace(STANDARD_LIMITS, steps=2))
    asked = Message("user", "When was Hesk Light first lit?")
    calls = researcher.next_calls([asked])
    results = tuple(isles.run(call.name, call.param) for call in calls)
    assert results
    assert researcher.next_calls([asked, Message("user", "", observations=results)]) is None


def test_best_passages_are_excerpts_with_original_ids(isles) -> None:
    log = " ".join(f"On day {n} nothing was seen." for n in range(1, 9))
    text = f"{log} On day 9 a whale was seen off Widow Rock. {log}"
    (passage,) = split_passages(text, 3)
    data = {"url": "http://isles.example/log", "title": "Log of Widow Rock"}
    read = Observation(ToolCall("READ"), data, (passage,))
    messages = [
        Message("user", "When was a whale seen off Widow Rock?"),
        Message("user", "", observations=(read,)),
    ]
    best = Researcher().best_passages(messages, limit=2, sentences=3)
    assert "On day 9 a whale was seen" in best[0].text
    assert best[0].text == text[best[0].start : best[0].end]
    assert (best[0].id, best[0].heading) == ("S3¶1", "Log of Widow Rock")
    assert best[0].text.count(".") == 3
    assert len(best) <= 2


def ranked(question: str, **files: str) -> Ranking:
    """Rank the sentences in files (by name), all of which were read."""
    read = [
        Observation(
            ToolCall("READ"),
            {"url": f"file:///notes/{name.replace('_', '-')}.txt", "title": name.replace("_", " ")},
            tuple(split_passages(text, number)),
        )
        for number, (name, text) in enumerate(files.items(), 1)
    ]
    asked = analyse(question)
    return Ranking(asked, extract_candidates(read, asked))


def test_matching_file_name_does_not_outrank_sentence_with_all_words() -> None:
    ranking = ranked(
        "When was the stork gate opened?",
        goose_gate="The goose gate was closed in 1911. It was opened again in 1920.",
        town_walls="The town has three gates. The stork gate was opened in 1874.",
    )
    assert ranking.best.candidate.text == "The stork gate was opened in 1874."
    ranking = ranked(
        "How much water does the pump of the mill lift?",
        water="Water runs to the sea. It lifts nothing.",
        machines="The pump in the mill lifts 40 barrels of it an hour.",
    )
    assert "40 barrels" in ranking.closest(1)[0].text


def test_sentences_with_same_date_do_not_compete() -> None:
    same = {"a": "The mill was built in 1874.", "b": "People say that 1874 saw the mill built."}
    other = same | {"b": "People say that 1899 saw the mill built."}
    agreeing, competing = (ranked("When was the mill built?", **texts) for texts in (same, other))
    assert agreeing.margin(agreeing.best) > competing.margin(competing.best)


@pytest.mark.parametrize(
    ("other", "is_disputed"),
    [
        ("A survey found that the summit of Mount Ketil stands at 4,165 m.", True),
        ("Mount Ketil stands at 13,665 ft.", True),
        ("Mount Ketil rises to 4.1 km.", False),  # rounded
        ("Mount Ketil rises to about 4,100 m.", False),
        ("Mount Ketil stands 30 km from the sea.", False),  # measures something else
        ("Its neighbour Mount Brand stands at 4,165 m.", False),
    ],
)
def test_different_measurement_on_another_page_competes_in_any_wording(other, is_disputed):
    ranking = ranked("How high is Mount Ketil?", a="Mount Ketil is 4,120 m high.", b=other)
    assert (ranking.margin(ranking.best) == 0) == is_disputed


def test_closest_passages_are_top_ranked_without_duplicates() -> None:
    ranking = ranked(
        "Who repaired the pump of the old mill?",
        mill="The old mill has a pump. Nobody repaired the mill. The pump stands still.",
        pump="A pump was repaired by Ada Quill.",
        gulls="Herring gulls nest on the mole.",
    )
    closest = ranking.closest(5)
    assert len({candidate.passage.id for candidate in closest}) == len(closest) == 2
    assert closest[0] == ranking.best.candidate


def test_non_sentence_line_is_shown_as_closest_but_not_quoted() -> None:
    ranking = ranked(
        "Which option makes the ferry list short?",
        manual="OPTIONS\n\nferry list --terse\n\nIt never sails.",
    )
    assert ranking.best is None or "--terse" not in ranking.best.candidate.text
    assert ranking.closest(3)[0].text == "ferry list --terse"


def test_question_in_text_is_replaced_by_its_answer_in_closest() -> None:
    ranking = ranked(
        "Why does the foundry put dung in its moulds?",
        talk="Why do you mould with horse dung?\n\nIt lets the gas out. It smells for a week.",
    )
    assert ranking.closest(1)[0].text == "It lets the gas out."


def test_words_from_different_clauses_have_low_density() -> None:
    sentence = "The mill was sold in 1874, and the mayor, who liked music, built a pump."
    ranking = ranked("When was the mill built?", near="The mill was built in 1874.", far=sentence)
    density = {x.candidate.text: ranking.density(x.candidate) for x in ranking.scored}
    assert density["The mill was built in 1874."] == 1
    assert density[sentence] < 0.4


def test_search_rank_breaks_ties_between_equal_passages() -> None:
    texts = {"a": "The mill has a red pump.", "b": "A red pump is in the mill."}
    plain = ranked("Where is the pump of the mill?", **texts)
    pages = {candidate.page for candidate in plain.candidates}
    for page in pages:
        found = {url: 0.5 if url == page else 0.25 for url in pages}
        ranking = Ranking(plain.question, plain.candidates, found)
        assert ranking.closest(2)[0].page == page


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "Wann wurden die Brücken von Altenfeld eingeweiht?",
            "Die Brücke von Altenfeld wurde 1893 eingeweiht.",
            "Die Mühle von Altenfeld steht am Fluss und wurde nie verkauft.",
        ),
        (
            "¿Cuándo se inauguró el puente de San Telmo?",
            "El puente de San Telmo se inauguró en 1931.",
            "El río de San Telmo nace en la sierra.",
        ),
        (
            "Когда были построены маяки на мысе Тихом?",
            "Маяк на мысе Тихом был построен в 1887 году.",
            "На мысе Тихом живут чайки.",
        ),
        ("石塔是什么时候建成的?", "村口的石塔建成于1756年。", "村子里有很多竹林。"),
        (
            "灯台はいつ建てられましたか?",
            "この灯台は1874年に建てられた。",
            "この村の祭りは夏にある。",
        ),
        ("등대는 언제 세워졌습니까?", "이 등대는 1905년에 세워졌습니다.", "이 마을은 조용합니다."),
    ],
)
def test_non_english_text_is_matched_by_its_own_stemmer(question, answer, other) -> None:
    ranking = ranked(question, notes=f"{other}\n\n{answer}", more=other)
    assert ranking.best.candidate.text == answer


async def test_sentence_that_ends_with_a_danda_is_prose(ask, isles) -> None:
    isles.pages["bridge"] = type(isles.pages["wren"])(
        "नीलगढ़ पुल", "नीलगढ़ पुल का उद्घाटन १५ अगस्त १९५६ को हुआ था। पुल की लंबाई ८४० मीटर है।"
    )
    answer = await ask(isles, "नीलगढ़ पुल का उद्घाटन कब हुआ था?")
    assert "नीलगढ़ पुल का उद्घाटन १५ अगस्त १९५६ को हुआ था।" in answer
    assert "`" not in answer
