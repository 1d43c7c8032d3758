"""What an answer leaves: weighted skills, condensed conversations, a profile.

Expected values are derived manually from the reference engine's description.
"""

from __future__ import annotations

import pytest

from tests.conformance.dialogue import NOW, kinds, run

DAY = 24 * 60 * 60 * 1000
SKILL = {"name": "s", "instruction": "i", "score": 50}


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("thanks, that is perfect", 60),  # +10
        ("no, that is wrong", 32),  # -15, and -3 for a first turn without praise
        ("go on", 47),  # -3
        ("great, but try again", 45),  # +10 -15
        ("What's wrong with the pump?", 47),  # no complaint
        ("I know nothing about it", 47),
        ("the wrongful act", 47),
        ("STOP\ndoing that", 47),  # a dot ends at a line
    ],
)
async def test_feedback_wording_determines_skill_score(said, score):
    result = await run("ok", storage={"urchinSkills": [SKILL]}, input=said)
    [skill] = result["storage_after"]["urchinSkills"]
    assert (skill["score"], skill["signalCount"], skill["lastSignalAt"]) == (score, 1, NOW + 1)


async def test_long_conversation_bonus_is_capped_at_100():
    history = [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}] * 3
    best = {**SKILL, "score": 98}
    result = await run("ok", storage={"urchinSkills": [best]}, history=history, input="thanks")
    assert result["storage_after"]["urchinSkills"][0]["score"] == 100


async def test_skills_are_evaluated_every_tenth_conversation_and_pruned():
    old = {**SKILL, "name": "old", "score": 10, "evalCount": 1, "usageCount": 3}
    # Below the minimum score, it is not used, but it is kept until scored badly twice.
    fresh = {**SKILL, "name": "fresh", "score": 61}
    unused = {**SKILL, "name": "unused", "score": 15, "learnedAt": NOW - 31 * DAY, "usageCount": 0}
    storage = {"urchinMemory": {"_convCount": "9"}, "urchinSkills": [old, fresh, unused]}
    history = [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}] * 2
    replies = ["ok", "{}", '{"scores":{"fresh":81.2,"old":"x"}}']
    result = await run(*replies, storage=storage, history=history, input="go on")
    kept = {skill["name"]: skill for skill in result["storage_after"]["urchinSkills"]}
    assert list(kept) == ["old", "fresh"]
    # round(61 × 0.6 + 81.2 × 0.4) = round(69.08)
    assert (kept["fresh"]["score"], kept["fresh"]["evalCount"]) == (69, 1)


async def test_conversation_is_condensed_only_after_forty_turns():
    history = [{"role": "user", "text": f"m{n}"} for n in range(38)]
    assert kinds(await run("ok", history=history)) == ["loop"]
    longer = [*history, {"role": "user", "text": "m38"}]
    result = await run("ok", "the story so far", history=longer)
    assert kinds(result) == ["loop", "internal"]
    assert result["storage_after"]["urchinCondensed"] == "the story so far"


async def test_failed_condensation_keeps_last_4000_utf16_units():
    history = [{"role": "user", "text": "😀" * 150} for _ in range(60)]
    storage = {"urchinCondensed": "OLD"}
    result = await run("ok", {"throw": "down"}, history=history, storage=storage)
    kept = result["storage_after"]["urchinCondensed"]
    assert len(kept.encode("utf-16-le")) // 2 <= 4_000
    # Lines are cut at 200 units: a hundred of these characters.
    assert kept.endswith("\n[user] " + "😀" * 100)
    assert "OLD" not in kept


async def test_profile_update_accepts_any_json_values():
    storage = {"urchinMemory": {"_convCount": "4"}, "urchinProfile": {"a": 1}}
    history = [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}]
    reply = 'Here: {"b":null,"c":[1,2],"a":2}'
    result = await run("ok", reply, storage=storage, history=history)
    assert result["storage_after"]["urchinProfile"] == {"a": 2, "b": None, "c": [1, 2]}
    nothing = await run("ok", "none found", storage=storage, history=history)
    assert nothing["storage_after"]["urchinProfile"] == {"a": 1}
