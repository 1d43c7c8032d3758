from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.memory import Memory, Origin

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


def test_an_answer_is_found_beside_the_words_of_its_question(talks: Memory) -> None:
    assert any("slate" in text for text in _texts(talks, "What roof does he have?", 2))


def test_who_speaks_counts(talks: Memory) -> None:
    assert _texts(talks, "What dog does Ines want?")[0].startswith("Ines")


@pytest.mark.parametrize(
    "form", ["Odile : {}", "Odile\u202f: {}", "[18:04] Odile: {}", "Odile：{}"]
)
def test_who_speaks_is_told_however_the_colon_is_set(memory: Memory, form: str) -> None:
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
def test_words_that_mean_nothing_in_the_language_of_the_question_do_not_count(
    memory: Memory, question: str, answer: str, noise: str
) -> None:
    memory.add(noise, kind="fact")
    memory.add(answer, kind="fact")
    best = memory.search(question)[0]
    assert best.text == answer
    assert best.score > 0.9


def test_a_month_in_the_question_prefers_what_happened_then(memory: Memory) -> None:
    for month in (2, 6, 10):
        memory.add(f"We went sailing ({month})", at=datetime(2025, month, 3, tzinfo=UTC))
    assert _texts(memory, "Where did they go sailing in June 2025?", 1) == ["We went sailing (6)"]


def test_a_note_that_stands_alone_brings_no_neighbours(memory: Memory) -> None:
    for text in ("Buy oats", "Call the dentist", "Repair the bicycle"):
        memory.add(text)
    assert _texts(memory, "dentist", 10) == ["Call the dentist"]


def test_what_is_written_can_be_found_at_once_by_another_opening(place: str) -> None:
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
def test_words_of_any_script_are_found(memory: Memory, text: str, query: str) -> None:
    memory.add("Something else entirely")
    memory.add(text)
    assert _texts(memory, query, 1) == [text]


def test_irregular_forms_are_found_by_their_base(memory: Memory) -> None:
    memory.add("Tomas bought the mill and the children went to see it")
    memory.add("Filler")
    assert _texts(memory, "Who buys a mill?", 1)
    assert _texts(memory, "Where did the child go?", 1) == _texts(memory, "mill", 1)


def test_kinds_narrow_the_search_and_may_be_knowledge_bases(memory: Memory) -> None:
    memory.add("tide tables are in the red book", kind="note")
    memory.add("tide gauge: use the second search page", kind="playbook")
    assert [h.kind for h in memory.search("tide", kinds=["playbook"])] == ["playbook"]
    assert [h.kind for h in memory.search("tide", kinds=["mind"])] == ["playbook"]
    assert [h.kind for h in memory.search("tide", kinds=["domain"])] == ["note"]
    assert memory.search("tide", kinds=["nothing"]) == []


def test_the_score_says_how_much_of_the_question_is_there(memory: Memory) -> None:
    memory.add("The capital of Peru is Lima", kind="fact", at=START)
    for number in range(20):
        memory.add(f"Filler about subject {number}")
    whole = memory.search("What is the capital of Peru?")[0].score
    half = memory.search("What is the capital of Mongolia?")[0].score
    assert half < 0.6 < 0.9 < whole


@pytest.mark.soak
def test_a_word_in_very_many_memories_still_finds_the_one_meant(memory: Memory) -> None:
    from agent.memory.entries import MemoryDraft

    drafts = [MemoryDraft(f"parcel {n} stands in row {n % 40}", "note") for n in range(3_000)]
    memory.entries.add(drafts)
    assert _texts(memory, "parcel 1234 row", 1) == ["parcel 1234 stands in row 34"]
    assert len(_texts(memory, "parcel row stands", 10)) == 10


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(max_size=60), query=st.text(max_size=60))
def test_no_text_and_no_query_breaks_the_search(memory: Memory, text: str, query: str) -> None:
    memory.clear()
    memory.add(text)
    found = [*memory.search(query), *memory.search(text)]
    assert {hit.text for hit in found} <= {text, text.replace("\x00", "")}


@pytest.mark.parametrize(
    "query", ['" OR terms:*', "a' OR 1=1 --", "NEAR(a b)", "^x AND NOT y", "*", "};DROP TABLE"]
)
@pytest.mark.row(n=27)
def test_a_query_is_never_a_statement(talks: Memory, query: str) -> None:
    talks.search(query, kinds=["turn", "' OR 1=1 --"])
    assert len(talks.search("Ines Pavel roof dog choir", 50)) > 5


def test_a_hit_carries_its_origin(memory: Memory) -> None:
    origin = Origin("run-1", "https://a.example/", trusted=False)
    memory.add("Basalt columns cool slowly", at="2025-03-04T10:00:00", source="s", origin=origin)
    hit = memory.search("basalt")[0]
    assert (hit.origin, hit.source, hit.at) == (origin, "s", START)


def test_postgres_plans_each_search_for_its_words(postgres: str) -> None:
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


def test_kinds_weigh_as_in_the_reference_engine(memory: Memory) -> None:
    for kind in ("note", "observation", "goal", "error", "fact"):
        memory.add("The sluice opens at low water", kind=kind, at=START)
    found = memory.search("When does the sluice open?")
    assert [hit.kind for hit in found] == ["fact", "error", "goal", "observation", "note"]


def test_what_is_new_comes_first_and_nothing_is_found_because_it_is_new(memory: Memory) -> None:
    now = datetime.now(UTC)
    for days in (9, 2, 0):
        memory.add(f"Day {days}: the sluice is closed", kind="fact", at=now - timedelta(days=days))
    memory.add("The kettle is hot", kind="fact", at=now, origin=Origin("r1"))
    found = [hit.text[:5] for hit in memory.search("Is the sluice closed?")]
    assert found == ["Day 0", "Day 2", "Day 9"]
