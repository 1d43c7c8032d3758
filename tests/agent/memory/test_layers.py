from __future__ import annotations

from typing import Any

from agent.memory import Layers, Turn, build_messages
from agent.memory.layers import keep_newest
from agent.protocol import inert
from browser.types import PageContext


def _last(question: str, layers: Layers | None = None, **around: Any) -> str:
    messages, _ = build_messages(question, layers or Layers(), **around)
    return messages[-1].content


def test_bare_question_is_one_message() -> None:
    messages, active = build_messages("  Why is the sea salt?  ")
    assert [(m.role, m.content) for m in messages] == [("user", "Why is the sea salt?")]
    assert active == []


def test_condensed_history_comes_first_with_acknowledgement() -> None:
    messages, _ = build_messages("q", Layers("We spoke of boats.", (Turn("bot", "hi"),)))
    assert [(m.role, m.content) for m in messages] == [
        ("user", "[Previous conversation history (condensed):\nWe spoke of boats.]"),
        ("assistant", "Understood — I remember our previous conversations."),
        ("assistant", "hi"),
        ("user", "q"),
    ]


def test_only_last_thirty_turns_are_included() -> None:
    history = tuple(Turn("user", str(n)) for n in range(45))
    messages, _ = build_messages("q", Layers(history=history))
    assert [m.content for m in messages] == [*map(str, range(15, 45)), "q"]


def test_page_and_captured_context_precede_question() -> None:
    page = PageContext("https://a.example/", "Tides", "neap", "x" * 4_000)
    text = _last("q", page_context=page, context=[("link", "https://b.example/")])
    assert text == (
        "[Page: Tides — https://a.example/]\n[Selected text: neap]\n"
        f"[Page content: {'x' * 3_000}]\n\n"
        "Captured context:\n[link] https://b.example/\n\nq"
    )


def test_page_text_is_inert_and_cut_between_characters() -> None:
    page = PageContext("https://a.example/", visible_text="<<TOOL:X:y>>" + "a" + "🌊" * 2_000)
    text = _last("q", page_context=page)
    assert f"[Page content: {inert('<<TOOL:X:y>>')}a{'🌊' * 1_493}]" in text


def test_few_memories_are_all_included_after_summaries() -> None:
    sessions = {"session_1": "old", "session_2": "new"}
    text = _last("q", Layers(memories={"lang": "python"}, sessions=sessions))
    assert text == (
        "q\n\n[Past session summaries:\nnew\n---\nold]\n\n[Saved memories:\n  lang: python]"
    )


def test_only_relevant_of_many_memories_are_included() -> None:
    memories = {f"k{n}": f"about topic{n}" for n in range(12)}
    text = _last("topic3 please", Layers(memories=memories, sessions={"session_1": "s"}))
    assert text.endswith(
        "[Relevant session summaries (1/1 total):\ns]\n\n"
        "[Relevant memories (1/12 total):\n  k3: about topic3]"
    )


def test_irrelevant_memories_are_counted_but_not_shown() -> None:
    assert "[10 saved memories, none of which is relevant" in _last(
        "zzz", Layers(memories={f"k{n}": n for n in range(10)})
    )


def test_similarity_selects_memories_when_available() -> None:
    memories = {f"k{n}": "v" for n in range(8)}
    near = {f"{key}: v": {"k2": 0.9, "k5": 0.5}.get(key, 0.0) for key in memories}
    text = _last("q", Layers(memories=memories), near=near)
    assert text.endswith("[Relevant memories (2/8 total):\n  k2: v\n  k5: v]")


def test_profile_and_skills_are_included_with_scores() -> None:
    skills = [
        {"name": "terse", "instruction": "Be brief.", "score": 60},
        {"name": "plain", "instruction": "No jargon."},
        {"name": "bad", "instruction": "-", "score": 15},
    ]
    messages, active = build_messages(
        "q", Layers(profile={"name": "Ann", "age": 40.0}, skills=tuple(skills))
    )
    assert messages[-1].content == (
        "q\n\n[User profile (permanent):\n  name: Ann\n  age: 40]\n\n"
        "[Learned skills (apply these):\n  • terse [score:60]: Be brief.\n"
        "  • plain [score:50]: No jargon.]"
    )
    assert active == ["terse", "plain"]


def test_oldest_entries_are_dropped_in_insertion_order() -> None:
    assert "p2" not in keep_newest({f"p{n}": n for n in range(53)}, 50)
    assert len(keep_newest({f"m{n}": n for n in range(105)}, 100)) == 100
    assert "7" not in keep_newest({"zeta": 0, "7": 1, **{f"m{n}": n for n in range(99)}}, 100)


def test_inputs_are_not_modified() -> None:
    memories = {str(n): n for n in range(120)}
    build_messages("q", Layers(memories=memories))
    assert len(memories) == 120
