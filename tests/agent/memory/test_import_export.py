from __future__ import annotations

import json
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.jsvalues import ordered
from agent.memory import BadImport, Memory
from agent.memory.storage import export_storage, load_storage

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
# NUL in a value is kept; Postgres cannot store it in a key or a turn.
_text = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
_object = st.dictionaries(_text, _json, max_size=4)
_turn = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "text": _text})
_storage = st.fixed_dictionaries(
    {},
    optional={
        "urchinMemory": _object,
        "urchinProfile": _object,
        "urchinProjects": _object,
        "urchinSkills": st.lists(
            st.fixed_dictionaries({"name": _text.filter(bool), "score": st.integers(0, 100)}),
            max_size=3,
            unique_by=lambda skill: skill["name"],
        ),
        "urchinChatHistory": st.lists(_turn, max_size=4),
        "urchinCondensed": _text,
        "urchinEmbeddingCache": st.dictionaries(st.text(max_size=4), st.lists(st.floats(0, 1))),
    },
)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(storage=_storage)
def test_import_export_round_trip_is_exact(place: str, storage: dict[str, object]) -> None:
    with Memory.open(place, uuid4().hex) as memory:
        load_storage(memory, storage)
        exported = export_storage(memory)
    assert exported == storage
    # JavaScript puts numeric keys first; all other keys keep the order of the import.
    expected = {**storage, "urchinMemory": ordered(storage.get("urchinMemory", {}))}
    for name in ("urchinMemory", "urchinProfile", "urchinProjects"):
        if name in storage:
            assert json.dumps(exported[name]) == json.dumps(expected[name]), "order is kept too"


def test_imported_memory_is_usable_immediately(memory: Memory) -> None:
    load_storage(
        memory,
        {
            "urchinMemory": {"boat": "Gull", "session_17": "- boats", "_convCount": "3"},
            "urchinChatHistory": [{"role": "user", "text": "hello"}],
            "urchinCondensed": "We spoke.",
        },
    )
    assert memory.recall("boat") == "Gull"
    assert memory.remembered() == {"boat": "Gull"}
    layers = memory.layers("q", memory.latest_session())
    assert layers.sessions == {"session_17": "- boats"}
    assert (layers.condensed, layers.history[0].text) == ("We spoke.", "hello")


def test_skill_with_existing_name_is_imported_under_new_name(memory: Memory) -> None:
    brief, long = ({"name": "tone", "instruction": said} for said in ("be brief", "be long"))
    assert load_storage(memory, {"urchinSkills": [brief, long]}) == [("tone", "tone (2)")]
    assert load_storage(memory, export_storage(memory)) == []
    assert load_storage(memory, {"urchinSkills": [{**brief, "score": 70}]}) == []
    skills = [(s["name"], s["instruction"], s.get("score")) for s in memory.skills()]
    assert skills == [("tone", "be brief", 70), ("tone (2)", "be long", None)]


@pytest.mark.parametrize(
    "storage",
    [
        [],
        {"urchinMemory": []},
        {"urchinSkills": ["x"]},
        {"urchinChatHistory": [{"role": "user"}]},
        {"urchinCondensed": 1},
    ],
)
def test_invalid_import_is_refused_and_changes_nothing(memory: Memory, storage: object) -> None:
    memory.remember("kept", "yes")
    with pytest.raises(BadImport):
        load_storage(memory, storage)  # type: ignore[arg-type] - that is what is tested
    assert export_storage(memory) == {"urchinMemory": {"kept": "yes"}}
