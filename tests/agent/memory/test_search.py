from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.memory import Memory, Origin
from agent.memory.terms import question_terms

START = datetime(2025, 3, 4, 10, tzinfo=UTC)
TALKS = (
    (
        "Ines: What did you do about the roof in the end?",
        "Pavel: We took slate from the old quarry, it was the cheapest.",
        "Ines: And who laid it?",
        "Pavel: My cousin, over two weekends.",
    ),
    (
        "Ines: I am thinking of a dog.",
        "Pavel: A big one or a small one?",
        "Ines: A greyhound, they sleep all day. The shelter has three of them.",
        "Pavel: Lovely animals.",
    ),
    (
        "Ines: The choir sings in Ghent next month.",
        "Pavel: Then I will come and listen. Is it the same programme?",
        "Ines: No, all new. Mostly Byrd and a little Tallis.",
    ),
)


@pytest.fixture
def talks(memory: Memory) -> Memory:
    for number, talk in enumerate(TALKS):
        for minute, text in enumerate(talk):
            when = START + timedelta(days=40 * number, minutes=minute)
            memory.add(text, kind="turn", at=when, source=f"talk {number}")
    return memory


def _texts(memory: Memory, query: str, limit: int = 3) -> list[str]:
    return [hit.text for hit in memory.search(query, limit)]


def test_answer_is_found_next_to_turn_matching_question(talks: Memory) -> None:
    assert any("slate" in text for text in _texts(talks, "What roof does he have?", 2))


@pytest.mark.parametrize(
    ("stated", "asked", "query"),
    [
        ("The boat has another colour.", "Which colour has the boat now?", "boat colour"),
        ("Das Boot hat jetzt Farbe.", "Welche Farbe hat das Boot?", "Farbe Boot"),
        ("船的颜色变了。", "船是什么颜色？", "船颜色"),
        ("لون القارب جديد.", "ما لون القارب؟", "لون القارب"),
    ],
)
def test_reply_to_question_ranks_above_reply_to_statement(
    memory: Memory, stated: str, asked: str, query: str
) -> None:
    for day, said in enumerate((stated, asked)):
        for minute, text in enumerate((f"Pavel: {said} Fine.", f"Ines: Since spring {day}.")):
            memory.add(text, kind="turn", at=START + timedelta(days=day, minutes=minute))
    replies = [text for text in _texts(memory, query, 4) if text.startswith("Ines")]
    assert replies == ["Ines: Since spring 1.", "Ines: Since spring 0."]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Ines: New shoes! For walking or running?", ["walk", "run"]),
        ("Is it 3.5 km? I hope so. And the hills?", ["3", "5", "km", "hill"]),
        ("The map is at https://example.org/a?b=roof and is old.", []),
        ("No question", []),
    ],
)
def test_terms_of_questions_are_found(text: str, terms: list[str]) -> None:
    assert question_terms(text) == terms


def test_speaker_name_affects_ranking(talks: Memory) -> None:
    assert _texts(talks, "What dog does Ines want?")[0].startswith("Ines")


@pytest.mark.parametrize(
    "form", ["Odile : {}", "Odile\u202f: {}", "[18:04] Odile: {}", "Odile：{}"]
)
def test_speaker_is_recognised_in_each_colon_form(memory: Memory, form: str) -> None:
    for number in range(4):
        memory.add(form.format(f"about garden {number}"))
        memory.add(form.replace("Odile", "Marc").format(f"about garden {number}"))
    assert all(
        text.startswith(("Odile", "[18:04] Odile")) for text in _texts(memory, "Odile garden")
    )


@pytest.mark.parametrize(
    ("question", "answer", "noise"),
    [
        ("Was kostet die Wohnung?", "940 Euro kostet sie, die Wohnung", "Das ist es, was die sind"),
        ("Où est le bateau ?", "Le bateau dort au port", "Où est-ce que tu es, et où est le chat"),
        ("¿Cuándo es la boda?", "La boda, en febrero", "Cuando es, es la que es"),
        ("What is the die for?", "The die stamps coins", "What is, is what it is, and for what"),
    ],
)
def test_stop_words_of_question_language_are_ignored(
    memory: Memory, question: str, answer: str, noise: str
) -> None:
    memory.add(noise, kind="fact")
    memory.add(answer, kind="fact")
    best = memory.search(question)[0]
    assert best.text == answer
    assert best.score > 0.9


def test_month_in_question_prefers_entries_of_that_month(memory: Memory) -> None:
    for month in (2, 6, 10):
        memory.add(f"We went sailing ({month})", at=datetime(2025, month, 3, tzinfo=UTC))
    assert _texts(memory, "Where did they go sailing in June 2025?", 1) == ["We went sailing (6)"]


def test_standalone_note_brings_no_neighbours(memory: Memory) -> None:
    for text in ("Buy oats", "Call the dentist", "Repair the bicycle"):
        memory.add(text)
    assert _texts(memory, "dentist", 10) == ["Call the dentist"]


def test_new_memory_is_found_by_another_connection(place: str) -> None:
    name = uuid4().hex
    with Memory.open(place, name) as one, Memory.open(place, name) as other:
        number = one.add("The lighthouse keeper plays the oboe")
        assert [hit.id for hit in other.search("oboe")] == [number]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Der Bäcker verkauft Brötchen", "brötchen"),
        ("Маяк стоит на скале", "маяк"),
        ("灯台は崖の上にある", "灯台"),
        ("الفنار على الصخرة", "الفنار"),
        ("ประภาคารอยู่บนหน้าผา", "ประภาคาร"),
        ("The café's menu", "CAFÉ"),
    ],
)
def test_words_in_any_script_are_found(memory: Memory, text: str, query: str) -> None:
    memory.add("Something else entirely")
    memory.add(text)
    assert _texts(memory, query, 1) == [text]


def test_irregular_forms_are_found_by_base_form(memory: Memory) -> None:
    memory.add("Tomas bought the mill and the children went to see it")
    memory.add("Filler")
    assert _texts(memory, "Who buys a mill?", 1)
    assert _texts(memory, "Where did the child go?", 1) == _texts(memory, "mill", 1)


def test_kinds_filter_search_and_accept_knowledge_bases(memory: Memory) -> None:
    memory.add("tide tables are in the red book", kind="note")
    memory.add("tide gauge: use the second search page", kind="playbook")
    assert [h.kind for h in memory.search("tide", kinds=["playbook"])] == ["playbook"]
    assert [h.kind for h in memory.search("tide", kinds=["mind"])] == ["playbook"]
    assert [h.kind for h in memory.search("tide", kinds=["domain"])] == ["note"]
    assert memory.search("tide", kinds=["nothing"]) == []


def test_score_reflects_share_of_question_covered(memory: Memory) -> None:
    memory.add("The capital of Peru is Lima", kind="fact", at=START)
    for number in range(20):
        memory.add(f"Filler about subject {number}")
    whole = memory.search("What is the capital of Peru?")[0].score
    half = memory.search("What is the capital of Mongolia?")[0].score
    assert half < 0.6 < 0.9 < whole


@pytest.mark.soak
def test_common_word_does_not_hide_specific_match(memory: Memory) -> None:
    from agent.memory.entries import MemoryDraft

    drafts = [MemoryDraft(f"parcel {n} stands in row {n % 40}", "note") for n in range(3_000)]
    memory.entries.add(drafts)
    assert _texts(memory, "parcel 1234 row", 1) == ["parcel 1234 stands in row 34"]
    assert len(_texts(memory, "parcel row stands", 10)) == 10


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(max_size=60), query=st.text(max_size=60))
def test_any_text_and_query_can_be_searched(memory: Memory, text: str, query: str) -> None:
    memory.clear()
    memory.add(text)
    found = [*memory.search(query), *memory.search(text)]
    assert {hit.text for hit in found} <= {text, text.replace("\x00", "")}


@pytest.mark.parametrize(
    "query", ['" OR terms:*', "a' OR 1=1 --", "NEAR(a b)", "^x AND NOT y", "*", "};DROP TABLE"]
)
@pytest.mark.row(n=27)
def test_query_is_never_executed_as_sql(talks: Memory, query: str) -> None:
    talks.search(query, kinds=["turn", "' OR 1=1 --"])
    assert len(talks.search("Ines Pavel roof dog choir", 50)) > 5


def test_hit_has_its_origin(memory: Memory) -> None:
    origin = Origin("run-1", "https://a.example/", trusted=False)
    memory.add("Basalt columns cool slowly", at="2025-03-04T10:00:00", source="s", origin=origin)
    hit = memory.search("basalt")[0]
    assert (hit.origin, hit.source, hit.at) == (origin, "s", START)


def test_postgres_uses_custom_plans_for_searches(postgres: str) -> None:
    with Memory.open(postgres, uuid4().hex) as memory:
        memory.add("The choir sings in Ghent")
        for _ in range(15):  # a statement is kept prepared after five, its plan after ten
            memory.search("Where does the choir sing?")
        with memory.store.read() as connection:
            plans = connection.exec_driver_sql(
                "SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements"
            ).one()
    assert plans[0] == 0
    assert plans[1] > 0


def test_kinds_are_weighted_in_search(memory: Memory) -> None:
    for kind in ("note", "observation", "goal", "error", "fact"):
        memory.add("The sluice opens at low water", kind=kind, at=START)
    found = memory.search("When does the sluice open?")
    assert [hit.kind for hit in found] == ["fact", "error", "goal", "observation", "note"]


def test_newer_matches_rank_first_and_recency_alone_matches_nothing(memory: Memory) -> None:
    now = datetime.now(UTC)
    for days in (9, 2, 0):
        memory.add(f"Day {days}: the sluice is closed", kind="fact", at=now - timedelta(days=days))
    memory.add("The kettle is hot", kind="fact", at=now, origin=Origin("r1"))
    found = [hit.text[:5] for hit in memory.search("Is the sluice closed?")]
    assert found == ["Day 0", "Day 2", "Day 9"]
