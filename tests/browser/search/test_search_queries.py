"""A question is asked in its language, in several engines if hard, and in other words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from browser.search.chain import search_with_rewrites
from browser.search.query import is_hard, keywords, names, rewrites
from browser.text.languages import question_language
from browser.types import Outcome, SearchPage, SearchQuery
from tests.browser.search.sources import Fixed, failing, hits

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.search import Chain

HARD = "Which river flows past the lighthouse that the engineer of Port Elm drew before the war?"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Who is the mayor of Port Elm?", "en"),
        ("Wer ist der Bürgermeister von Port Elm?", "de"),
        ("Quel est le plus long fleuve de France ?", "fr"),
        ("¿Quién escribió la novela El Faro?", "es"),
        ("Chi ha scritto il libro?", "it"),
        ("Quem foi o primeiro presidente?", "pt"),
        ("Wanneer werd de haven gebouwd?", "nl"),
        ("Kto napisał tę książkę?", "pl"),
        ("Vem skrev boken om fyren?", "sv"),
        ("Kdo napsal knihu o majáku?", "cs"),
        ("Bu kitap ne zaman yazıldı?", "tr"),
        ("Кто написал роман и когда?", "ru"),
        ("Хто написав цю книгу і коли?", "uk"),
        ("エルム港の市長は誰ですか", "ja"),
        ("埃尔姆港的市长是谁", "zh"),
        ("엘름 항구의 시장은 누구입니까", "ko"),
        ("מי ראש העיר", "he"),
        # Names and keywords do not show the language.
        ("Angela Merkel", None),
        ("die hard cast", None),
        ("São Paulo", None),
        ("python asyncio timeout", None),
        ("", None),
    ],
)
def test_question_language_is_detected(question: str, language: str | None) -> None:
    assert question_language(question) == language


def test_stopwords_of_question_language_are_not_keywords() -> None:
    german = "Welcher Fluss fließt durch Port Elm und wann wurde die Brücke gebaut?"
    assert keywords(german) == ["Fluss", "fließt", "Port", "Elm", "Brücke", "gebaut"]
    assert names(german) == ["Port Elm"]
    assert rewrites(german)[2] == '"Port Elm" Fluss fließt Brücke gebaut'
    assert names("Кто написал роман Война и мир?") == []


def test_multi_part_or_multi_name_question_is_hard() -> None:
    assert is_hard(HARD)
    assert is_hard("Did Ann Rower meet Jo Mole?")
    assert not is_hard("Who is the mayor of Port Elm?")
    assert not is_hard("tides")


@dataclass
class Listening(Fixed):
    """Records whole queries, and answers only the configured ones."""

    queries: list[SearchQuery] = field(default_factory=list)
    answers: Callable[[SearchQuery], bool] = lambda _: True

    async def search(self, query: SearchQuery, http: object, *, deadline: float) -> SearchPage:
        self.queries.append(query)
        return self.page if self.answers(query) else SearchPage(Outcome.EMPTY)


async def test_hard_question_queries_several_engines(
    open_chain: Callable[..., Chain],
) -> None:
    engines = [Fixed(name, hits(f"https://{name}.example/")) for name in ("a", "b", "c")]
    chain = open_chain(engines)
    easy = await search_with_rewrites(chain, SearchQuery("tides"), engines=2)
    hard = await search_with_rewrites(chain, SearchQuery(HARD), engines=2)
    assert [attempt.provider for attempt in easy.attempts] == ["a"]
    assert [(line.provider, line.outcome) for line in hard.attempts] == [
        ("a", Outcome.OK),
        ("b", Outcome.OK),
    ]
    assert {hit.url for hit in hard.results} == {"https://a.example/", "https://b.example/"}


async def test_local_corpus_answer_prevents_web_search(
    open_chain: Callable[..., Chain],
) -> None:
    folder = Fixed("corpus", hits("file:///tides.md"), local=True)
    engine = Fixed("a", hits("https://a.example/"))
    await search_with_rewrites(open_chain([folder, engine]), SearchQuery(HARD), engines=3)
    assert engine.asked == []
    silent = Fixed("corpus", SearchPage(Outcome.EMPTY), local=True)
    await search_with_rewrites(open_chain([silent, engine]), SearchQuery(HARD), engines=3)
    assert engine.asked == [HARD]


async def test_engines_receive_non_english_query_language(
    open_chain: Callable[..., Chain],
) -> None:
    engine = Listening("a", hits("https://a.example/"))
    chain = open_chain([engine])
    await search_with_rewrites(chain, SearchQuery("Wer ist der Bürgermeister von Port Elm?"))
    await search_with_rewrites(chain, SearchQuery("Who is the mayor of Port Elm?"))
    await search_with_rewrites(chain, SearchQuery("Wer ist der Bürgermeister?", lang="fr"))
    assert [query.lang for query in engine.queries] == ["de", None, "fr"]


async def test_empty_results_trigger_recorded_rewrites(
    open_chain: Callable[..., Chain],
) -> None:
    engine = Listening("a", hits("https://a.example/"))
    engine.answers = lambda query: query.text.startswith('"Port Elm"')
    question = "Wer regiert denn in Port Elm?"
    result = await search_with_rewrites(open_chain([engine]), SearchQuery(question))
    assert [(query.text, query.lang) for query in engine.queries] == [
        (question, "de"),
        (question, None),
        ("regiert Port Elm", None),
        ('"Port Elm" regiert', None),
    ]
    assert [attempt.outcome for attempt in result.attempts] == [Outcome.EMPTY] * 3 + [Outcome.OK]
    assert [attempt.detail for attempt in result.attempts] == ["pages in de", "", "", ""]
    assert [hit.url for hit in result.results] == ["https://a.example/"]


async def test_rewrites_are_not_tried_if_no_engine_answered(
    open_chain: Callable[..., Chain],
) -> None:
    engine = Fixed("a", failing(Outcome.BLOCKED))
    result = await search_with_rewrites(open_chain([engine]), SearchQuery(HARD))
    assert engine.asked == [HARD]
    assert not result.answered
