from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence import Evidence, check_answer
from agent.evidence.markers import answer_parts
from agent.types import Verdict, VerdictState

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.types import Page

FIRST = """# Grey Holm

The tower was designed by Ada Renwick. It is 31 metres high and painted white.

The ferry to Tern Point leaves from Pier 4 at noon."""

SECOND = "Grey Holm burned whale oil until 1862.\n\nIts keeper was paid in coal."


@pytest.fixture
def evidence(make_page: Callable[..., Page]) -> Evidence:
    found = Evidence()
    found.add(make_page(FIRST))
    found.add(make_page(SECOND, url="https://archive.test/oil"))
    return found


DESIGNED = "The tower was designed by Ada Renwick"


@pytest.mark.parametrize(
    "marked",
    [
        f"{DESIGNED} [S1¶2].",
        f"{DESIGNED}. [S1¶2]",
        f"{DESIGNED}.[S1¶2]",
        f"{DESIGNED} (S1¶2).",
        f"{DESIGNED} S1¶2.",
        f"{DESIGNED} [S1].",
        f"{DESIGNED} [1].",
        f"{DESIGNED} [^1].",
        f"{DESIGNED} [S1¶1-3].",
        f"{DESIGNED} [S1¶2; ¶3].",
        f"{DESIGNED} [S1¶2][S1¶3].",
        f"{DESIGNED} [source](https://harbour.test/page).",
        f"{DESIGNED} [^a].\n\n[^a]: https://harbour.test/page",
    ],
)
def test_all_citation_marker_forms_become_numbers(marked: str, evidence: Evidence) -> None:
    checked = check_answer(marked, evidence)
    assert checked.answer == f"{DESIGNED}. [1]"
    assert [s.citations for s in checked.sentences] == [[1]]
    assert checked.sentences[0].verdict is VerdictState.SUPPORTED


def test_sources_are_numbered_by_first_citation(evidence: Evidence) -> None:
    checked = check_answer(f"Its keeper was paid in coal [S2¶2]. {DESIGNED} [S1¶2].", evidence)
    assert checked.answer == f"Its keeper was paid in coal. [1] {DESIGNED}. [2]"
    assert [(s.n, s.url) for s in checked.sources] == [
        (1, "https://archive.test/oil"),
        (2, "https://harbour.test/page"),
    ]


def test_sentence_with_two_citations_keeps_both_sources(evidence: Evidence) -> None:
    claim = "Grey Holm was designed by Ada Renwick [S1¶2, S2¶1]."
    checked = check_answer(claim, evidence)
    assert checked.sentences[0].citations == [1, 2]
    assert all(source.quotes for source in checked.sources)


def test_each_cited_passage_is_quoted(evidence: Evidence) -> None:
    text = "Ada Renwick designed a tower that burned whale oil, near Pier 4. [S1¶2][S1¶3][S2¶1]"
    first, second = check_answer(text, evidence).sources
    assert len(first.quotes) == 2
    assert first.quotes[1] == "The ferry to Tern Point leaves from Pier 4 at noon."
    assert second.quotes == ["Grey Holm burned whale oil until 1862."]


def test_quotes_are_literal_single_sentences(evidence: Evidence) -> None:
    checked = check_answer("It is 31 metres high and painted white [S1¶2].", evidence)
    assert checked.sources[0].quotes == ["It is 31 metres high and painted white."]
    assert evidence.source(1).text.count(checked.sources[0].quotes[0]) == 1


def test_unknown_passage_citations_are_dropped_with_reason(evidence: Evidence) -> None:
    checked = check_answer("The lamp was stolen by pirates [S7¶3].", evidence)
    assert checked.answer == "The lamp was stolen by pirates."
    assert checked.sentences[0].verdict is VerdictState.UNCITED
    assert "S7¶3" in checked.sentences[0].reason
    assert checked.sources == ()


def test_link_to_unread_page_is_not_a_citation(evidence: Evidence) -> None:
    checked = check_answer("It glows [at night](https://made-up.test/).", evidence)
    assert checked.answer == "It glows at night."
    assert "https://made-up.test/" in checked.sentences[0].reason


def test_uncited_sentence_gets_citation_of_supporting_page(evidence: Evidence) -> None:
    checked = check_answer("The ferry to Tern Point leaves from Pier 4 at noon.", evidence)
    assert checked.answer.endswith("at noon. [1]")
    assert checked.sentences[0].verdict is VerdictState.SUPPORTED


def test_wrong_passage_of_right_source_is_corrected(evidence: Evidence) -> None:
    checked = check_answer(f"{DESIGNED} [S1¶3].", evidence)
    assert checked.sentences[0].verdict is VerdictState.SUPPORTED
    assert checked.sources[0].quotes == [f"{DESIGNED}."]


def test_lists_tables_headings_and_code_are_preserved(evidence: Evidence) -> None:
    answer = """## The light [S1¶1]

Facts about it:

- **Designed** by Ada Renwick [S1¶2]
- It burned oil until 1862 [S2¶1]

| Place | Height |
|---|---|
| Grey Holm | 31 metres [S1¶2] |

```
light [S1¶2]
```"""
    expected = """## The light [1]

Facts about it:

- **Designed** by Ada Renwick [1]
- It burned oil until 1862 [2]

| Place | Height |
|---|---|
| Grey Holm | 31 metres [1] |

```
light [S1¶2]
```"""
    checked = check_answer(answer, evidence)
    assert checked.answer == expected
    assert len(checked.sentences) == 3


def test_copied_footnote_marks_do_not_become_citations(evidence: Evidence) -> None:
    checked = check_answer(f"{DESIGNED}.[2] [S1¶2]", evidence)
    assert checked.sentences[0].citations == [1]


@pytest.mark.parametrize(
    "end",
    [
        ". [The keeper's page](URL)",
        ". [The keeper's page](URL)\n",
        ". [The keeper's page](URL), [About](URL)",
        ". [S1¶2] [a](URL)",
        " ([The keeper's page](URL)).",
    ],
)
def test_labelled_link_after_sentence_is_a_citation(end: str, evidence: Evidence) -> None:
    url = evidence.source(1).url
    checked = check_answer(DESIGNED + end.replace("URL", url), evidence)
    assert len(checked.sentences) == 1
    assert checked.sentences[0].citations == [1]


def test_link_label_within_sentence_is_kept(evidence: Evidence) -> None:
    url = evidence.source(1).url
    answer = f"It was designed by Dr. [Ada Renwick]({url})"
    assert "Ada Renwick" in check_answer(answer, evidence).sentences[0].text
    answer = f"It is a light. [Ada Renwick]({url}) designed it."
    assert check_answer(answer, evidence).sentences[1].text == "Ada Renwick designed it."


@given(st.text(alphabet="ab.|-# `\n[]1S¶*>", max_size=300))
def test_answer_parts_rejoin_to_the_answer(answer: str) -> None:
    assert "".join(u.prefix + u.text + u.suffix for u in answer_parts(answer)) == answer


@given(st.text(alphabet="ab. [](S1¶2)\n|-`^:", max_size=120))
def test_check_accepts_any_answer(answer: str) -> None:
    check_answer(answer, Evidence())


def test_value_missing_from_cited_source_is_named_with_source_number(
    evidence: Evidence,
) -> None:
    claim = "Coal was what the keeper got until 1870. [S2¶2] Whale oil was used until 1862. [S2¶2]"
    missing, beside = check_answer(claim, evidence).sentences
    assert missing.reason == "“1870” does not appear in [1]"
    assert "1862" not in beside.reason


def test_answer_table_row_is_checked_with_its_header(make_page: Callable[..., Page]) -> None:
    evidence = Evidence()
    evidence.add(make_page("| Ship | Cars | Crew |\n|---|---|---|\n| Alma | 40 | 12 |"))
    rows = "| Ship | {} |\n|---|---|\n| Alma | 40 | [S1¶2]"
    right, wrong = (check_answer(rows.format(name), evidence) for name in ("Cars", "Crew"))
    assert [s.verdict for s in right.sentences] == [VerdictState.SUPPORTED]
    assert [s.verdict for s in wrong.sentences] == [VerdictState.UNDECIDED]


def test_cell_value_is_supported_only_under_its_column_name(make_page: Callable[..., Page]) -> None:
    evidence = Evidence("What was the cost?")
    evidence.add(make_page("| Year | Repairs | Cost |\n|---|---|---|\n| 2022 | 3 | 310 |"))
    verdicts = {
        said: check_answer(f"{said} [S1¶2]", evidence).sentences[0]
        for said in ("Cost: 310 (2022)", "Cost: 3 (2022)", "310 (2022)")
    }
    assert [said for said, s in verdicts.items() if s.verdict is VerdictState.SUPPORTED] == [
        "Cost: 310 (2022)"
    ]


@pytest.mark.parametrize(
    "said",
    [
        "I found no figure for 2023.",
        "The sources do not say who painted it.",
        "Nothing was found on its keepers.",
    ],
)
def test_statement_about_failed_search_is_not_a_claim(said: str, evidence: Evidence) -> None:
    evidence.question = "When was it built?"
    [sentence] = check_answer(said, evidence).sentences
    assert sentence.about_search


@pytest.mark.parametrize(
    "said",
    [
        "No keeper ever found the lamp.",
        "Its source was never found.",
        "I found the tower.",
        "The sources found nothing to praise in it [S1¶3].",
    ],
)
def test_denial_about_the_subject_is_a_claim(said: str, evidence: Evidence) -> None:
    evidence.question = "When was it built?"
    [sentence] = check_answer(said, evidence).sentences
    assert not sentence.about_search


PAGE = (
    "The ferry to Brack was built by Ada Holm in 1903. She had learned from Tobias Renwick."
    "\n\nHer brother Nils Holm and her sister Karen Holm sailed it. Both came from Skarholm."
)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Ada Holm. [S1¶1]", "supported"),
        ("Tobias Renwick. [S1¶1]", "undecided"),
        ("Nils Holm [S1¶2]", "undecided"),
        ("Skarholm. [S1¶2]", "undecided"),
    ],
)
def test_name_is_supported_only_where_page_links_it_to_question(
    answer: str, state: str, make_page: Callable[..., Page]
) -> None:
    evidence = Evidence("Who built the ferry to Brack?")
    evidence.add(make_page(PAGE))
    [sentence] = check_answer(answer, evidence).sentences
    assert sentence.verdict == state


def test_judge_adds_citation_to_uncited_sentence(evidence: Evidence) -> None:
    def judge(claim, passages):
        return Verdict(VerdictState.SUPPORTED, "Its keeper was paid in coal.", "", "judge")

    said = "Coal was what the keeper of the light got as pay."
    checked = check_answer(said, evidence, judge)
    assert checked.answer == f"{said} [1]"
    assert checked.sources[0].url == "https://archive.test/oil"


def test_judge_sees_best_passages_of_each_whole_cited_source(make_page):
    evidence = Evidence()
    settings = "\n\n".join(f"Books per page, option {n}" for n in range(12))
    evidence.add(make_page(settings))
    evidence.add(make_page("The options were saved.", url="https://archive.test/saved"))
    shown = []

    def judge(_claim, passages):
        shown.extend(passages)

    check_answer("I set the books per page, and the options were saved. [S1][S2]", evidence, judge)
    assert "The options were saved." in [passage.text for passage in shown[:2]]
