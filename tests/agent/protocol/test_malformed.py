"""Replies in none of our forms: each run ends as their content warrants, not with a raw reply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from agent import research
from agent.models.base import Task
from agent.models.scripted import ScriptedModel, ScriptedReply
from agent.prompts import prompt
from agent.protocol import parse
from agent.protocol.loose_json import repair_object
from agent.protocol.native import with_calls
from tests.agent.models.wire import OpenAIProvider, running

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "# Hesk Light\n\nThe lighthouse of Hesk was first lit on 1 November 1829 by its two keepers."
ANSWER = "The lighthouse of Hesk was first lit on 1 November 1829 by its two keepers. [S1¶2]"
CALL = '{"name": "READ", "arguments": {"url": "FILE"}}'
RAW = ("<<", "tool_call", "<think", '"arguments"', '"name"', "```", "</")

CALLS = {
    "ours": "<<TOOL:READ:FILE>>",
    "hermes": f"<tool_call>{CALL}</tool_call>",
    "hermes on lines": f"<tool_call>\n{CALL}\n</tool_call>",
    "hermes never closed": f"<tool_call>\n{CALL}",
    "hermes behind words": f"I will read it.\n<tool_call>{CALL}</tool_call>",
    "fenced json": f"```json\n{CALL}\n```",
    "fence without a language": f"```\n{CALL}\n```",
    "fence behind words": f"Let me look.\n```json\n{CALL}\n```\nThen I answer.",
    "fence never closed": f"```json\n{CALL}",
    "bare json": CALL,
    "bare json list": f"[{CALL}]",
    "openai's own": f'{{"tool_calls": [{{"type": "function", "function": {CALL}}}]}}',
    "arguments as text": '{"name": "READ", "arguments": "{\\"url\\": \\"FILE\\"}"}',
    "parameters": '{"name": "READ", "parameters": {"url": "FILE"}}',
    "tool and args": '{"tool": "READ", "args": {"url": "FILE"}}',
    "mistral": f"[TOOL_CALLS][{CALL}]",
    "function_call": f"<function_call>{CALL}</function_call>",
    "thought before": f"<think>The file may say it.</think>{CALL}",
    "thought opened by the template": f"It may say it.</think>\n<tool_call>{CALL}</tool_call>",
    "thought in our form": f"<<THINK>>hm<</THINK>><tool_call>{CALL}</tool_call>",
}


def script(*replies: str | ScriptedReply) -> ScriptedModel:
    return ScriptedModel([r if isinstance(r, ScriptedReply) else ScriptedReply(r) for r in replies])


def review(reply: str) -> ScriptedReply:
    return ScriptedReply(reply, task=Task.REVIEW)


async def run(tmp_path: Path, *replies: str | ScriptedReply):
    file = tmp_path / "hesk.md"
    file.write_text(PAGE, encoding="utf-8")
    told = [r.replace("FILE", file.as_uri()) if isinstance(r, str) else r for r in replies]
    return await research(
        "When was the lighthouse of Hesk first lit?",
        model=script(*told),
        corpus=tmp_path,
        search=["corpus"],
        memory=False,
        data_dir=tmp_path / "data",
    )


@pytest.mark.parametrize("form", CALLS)
def test_call_in_any_form_is_parsed(form: str) -> None:
    reply = parse(CALLS[form])
    assert [call.name for call in reply.calls] == ["READ"]
    assert "FILE" in reply.calls[0].param
    assert not reply.broken


@pytest.mark.parametrize("form", ["hermes", "fenced json", "bare json", "thought before"])
async def test_call_in_another_form_is_executed(tmp_path: Path, form: str) -> None:
    report = await run(tmp_path, CALLS[form], ANSWER)
    assert (report.status, report.sources[0].n) == ("answered", 1)
    assert "1829" in report.answer


KNOWN_BY_NAME = {
    "react": "Thought: The file may say it.\nAction: READ\n"
    'Action Input: {"url": "FILE"}\nObservation:',
    "react, bare": "Action: read\nAction Input: FILE",
    "react, going on by itself": "Action: READ\nAction Input: FILE\nObservation: It was 1831.\n"
    "Thought: I know.\nFinal Answer: It was lit in 1831.",
    "element": "<READ>FILE</READ>",
    "element with fields": "<READ>\n<url>FILE</url>\n</READ>",
    "wrong case": '<<tool:Read:{"URL":"FILE"}>>',
    "json, wrong case": '{"name": "read", "arguments": {"url": "FILE"}}',
    "flat json": '```json\n{"tool": "READ", "url": "FILE"}\n```',
    "cut off late": '<<TOOL:READ:{"url":"FILE"}',
    "cut off within the end": '<<TOOL:READ:{"url":"FILE"}>',
    "tag in a fence": '```\n<<TOOL:READ:{"url":"FILE"}>>\n```',
}


@pytest.mark.parametrize("form", KNOWN_BY_NAME)
async def test_call_recognised_by_tool_name_is_executed(tmp_path: Path, form: str) -> None:
    report = await run(tmp_path, KNOWN_BY_NAME[form], ANSWER)
    assert (report.status, report.sources[0].n) == ("answered", 1)
    assert "1831" not in report.answer
    assert not any(raw in report.answer for raw in RAW)


def test_text_resembling_a_call_is_text() -> None:
    for text in ("Action: none was taken.\nHe left.", "<B>Lit</B> in 1829.", "Read: 1829."):
        assert not parse(text, {"READ", "B1"}).calls
        assert parse(text, {"READ", "B1"}).text == text


async def test_react_final_answer_is_shown_without_thoughts(tmp_path: Path) -> None:
    said = f"Thought: 1830? No, 1829.\nFinal Answer: {ANSWER}"
    report = await run(tmp_path, CALLS["ours"], said)
    assert report.status == "answered"
    assert "1830" not in report.answer
    assert "Final" not in report.answer


ECHOES = {
    "of an example": "(a sentence that you write.) [S(source)¶(passage)]",
    "of the form": '<<TOOL:NAME:{"field":"value"}>>',
    "of a line": "- " + prompt("core").splitlines()[-1].lstrip("- "),
    "in other words": 'Write tags of the form <<TOOL:NAME:{"field":"value"}>>. Cite as [S2¶7].',
}


@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("echo", ECHOES)
async def test_echoed_instructions_are_not_an_answer(
    tmp_path: Path, echo: str, *, read_before: bool
) -> None:
    before = [CALLS["ours"]] * read_before
    report = await run(tmp_path, *before, ECHOES[echo], *[CALLS["ours"]][read_before:], ANSWER)
    assert report.status == "answered"
    never = await run(tmp_path, *before, *[ECHOES[echo]] * 6)
    assert never.status == "not_found"
    assert "NAME" not in never.answer
    assert "yours" not in never.answer


async def test_draft_citing_unread_source_is_reviewed_once(tmp_path: Path) -> None:
    made_up = "Its keepers painted the tower white and red in 1850. [S7¶3]"
    report = await run(tmp_path, CALLS["ours"], made_up, review(ANSWER))
    assert (report.status, "1850" in report.answer) == ("answered", False)
    assert [source.n for source in report.sources] == [1]
    kept = await run(tmp_path, CALLS["ours"], made_up, review(made_up), review("never asked for"))
    assert kept.status == "not_found"
    assert {source.n for source in kept.sources} == {row.source for row in kept.closest}
    assert kept.usage.model_calls == 3


BROKEN = {
    "a tag cut off": '<<TOOL:READ:{"url": "FI',
    "hermes cut off": '<tool_call>{"name": "READ", "argum',
    "json cut off": '{"name": "READ", "arguments": {"url": "FI',
    "fence cut off": '```json\n{"name": "READ", "arguments": {"url"',
    "no json in it": "<tool_call>READ the file</tool_call>",
    "nameless": '<tool_call>{"arguments": {"url": "FILE"}}</tool_call>',
}


@pytest.mark.parametrize("form", BROKEN)
async def test_broken_call_is_answered_with_correct_form(tmp_path: Path, form: str) -> None:
    report = await run(tmp_path, BROKEN[form], CALLS["ours"], ANSWER)
    assert report.status == "answered"


@pytest.mark.parametrize("form", BROKEN)
async def test_repeatedly_broken_calls_are_not_shown_to_user(tmp_path: Path, form: str) -> None:
    report = await run(tmp_path, CALLS["ours"], *[BROKEN[form]] * 3)
    assert report.status == "not_found"
    assert not any(raw in report.answer for raw in RAW)


async def test_thoughts_are_not_part_of_answer(tmp_path: Path) -> None:
    report = await run(tmp_path, CALLS["ours"], f"<think>1830? No.</think>\n{ANSWER}")
    assert "1830" not in report.answer
    assert report.status == "answered"


async def test_truncated_thought_is_continued(tmp_path: Path) -> None:
    report = await run(tmp_path, CALLS["ours"], "<think>It was in 18", ANSWER)
    assert report.status == "answered"


async def test_answer_without_sources_is_requested_once_more(tmp_path: Path) -> None:
    report = await run(tmp_path, "It was lit in 1831. [S2¶7]", CALLS["ours"], ANSWER)
    assert (report.status, "1829" in report.answer) == ("answered", True)


async def test_giving_up_before_searching_triggers_search_of_question(tmp_path: Path) -> None:
    named = '{"found": true, "passage": 1, "answer": "1 November 1829"}'
    report = await run(tmp_path, "NOT_FOUND", "NOT_FOUND I cannot browse.", named, "")
    assert report.searches
    assert (report.status, "1829" in report.answer) == ("answered", True)


@pytest.mark.parametrize(
    "said", ["It was lit in 1831.", "Let me search for that.", '```json\n{"query": "Hesk"}\n```']
)
async def test_model_that_never_searches_triggers_search_of_question(
    tmp_path: Path, said: str
) -> None:
    named = '{"found": true, "passage": 1, "answer": "1 November 1829"}'
    report = await run(tmp_path, said, said, named, "")
    assert report.searches
    assert (report.status, "1829" in report.answer) == ("answered", True)


async def test_nested_call_is_reported_to_model(tmp_path: Path) -> None:
    inner = '<<TOOL:READ:{"url":"<<TOOL:WEB_SEARCH:Hesk>>"}>>'
    noticed = ScriptedReply(CALLS["ours"].replace("FILE", (tmp_path / "hesk.md").as_uri()),
                            expect="inside another one")  # fmt: skip
    report = await run(tmp_path, inner, noticed, ANSWER)
    assert (report.status, "1829" in report.answer) == ("answered", True)


async def test_giving_up_with_unread_results_is_challenged_once(
    tmp_path: Path,
) -> None:
    search, gave_up = '<<TOOL:WEB_SEARCH:{"query":"Hesk lighthouse"}>>', "NOT_FOUND Nothing fits."
    report = await run(tmp_path, search, gave_up, CALLS["ours"], ANSWER)
    assert (report.status, "1829" in report.answer) == ("answered", True)
    again = await run(tmp_path, search, gave_up, gave_up, "never asked for")
    assert (again.status, again.usage.model_calls) == ("not_found", 3)
    read = await run(tmp_path, search, CALLS["ours"], gave_up, "never asked for")
    assert (read.status, read.usage.model_calls) == ("not_found", 3)


async def test_reason_for_giving_up_is_shown_as_models_own_words(tmp_path: Path) -> None:
    report = await run(tmp_path, CALLS["ours"], "NOT_FOUND. It was lit in 1831. [S1¶2]")
    assert report.status == "not_found"
    assert report.answer.startswith("In the model's own words: It was lit in 1831.")
    assert all(sentence.about_search for sentence in report.sentences)


async def test_endless_reply_ends_run_within_limits(tmp_path: Path) -> None:
    report = await run(tmp_path, CALLS["ours"], "The light was lit. " * 11_000)
    assert report.status in ("answered", "not_found", "partial")


@pytest.mark.parametrize("piece", ["<<TOOL:A:{", '{"a":', "<think>", "```json\n{"])
def test_long_unbroken_reply_is_parsed(piece: str) -> None:
    assert not parse(piece * (60_000 // len(piece))).calls


@pytest.mark.parametrize(
    ("name", "arguments", "param"),
    [
        ("READ", '{"url": "x"}', '{"url": "x"}'),
        ("READ", '```json\n{"url": "x"}\n```', '{"url": "x"}'),
        ("READ", "x", "x"),
        ("READ", "", ""),
        ("READ", "{}", ""),
    ],
)
def test_native_arguments_in_any_form_are_parsed(name: str, arguments: str, param: str) -> None:
    (call,) = parse(with_calls("", [(name, arguments)])).calls
    assert (call.name, call.param) == (name, param)


def test_json_that_is_not_a_call_is_text() -> None:
    text = '```json\n{"name": "Hesk Light", "lit": 1829}\n```'
    assert parse(text).text == text
    assert not parse(text).calls


def called(name: str, arguments: object, **more: object) -> dict[str, object]:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [{**call, **more}]}


NATIVE: dict[str, dict[str, object]] = {
    "arguments in words": called("READ", "url: FILE"),
    "arguments as an object": called("READ", {"url": "FILE"}),
    "a tag in the content": {"role": "assistant", "content": CALLS["ours"], "tool_calls": []},
    "a prefix and no id": called("functions.READ", '{"url": "FILE"}', id=None),
    "nothing but thoughts": {"role": "assistant", "content": None, "reasoning_content": "1830?"},
}


@pytest.mark.parametrize("form", NATIVE)
async def test_nonstandard_native_reply_is_parsed_or_requested_again(
    tmp_path: Path, form: str
) -> None:
    file = tmp_path / "hesk.md"
    file.write_text(PAGE, encoding="utf-8")
    good = called("READ", '{"url": "FILE"}')
    replies = [NATIVE[form], good, {"role": "assistant", "content": ANSWER}]
    if "thoughts" not in form and "words" not in form:
        replies.remove(good)
    with running(OpenAIProvider, "/v1") as provider:
        provider.streams = False
        for message in replies:
            told = json.loads(json.dumps(message).replace("FILE", file.as_uri()))
            provider.sends({"choices": [{"index": 0, "message": told}], "model": "m", "id": "1"})
        report = await research(
            "When was the lighthouse of Hesk first lit?",
            model="m",
            base_url=provider.url,
            native_tools=True,
            corpus=tmp_path,
            search=["corpus"],
            memory=False,
            data_dir=tmp_path / "data",
        )
    assert (report.status, "1829" in report.answer) == ("answered", True)
    assert not any(raw in report.answer for raw in (*RAW, "1830", "url:"))


def test_reply_of_blanks_or_repeated_calls_is_parsed() -> None:
    assert parse(f'"{chr(10) * 1_000_000}x').calls == ()
    assert len(parse("<READ>https://e.org</READ>" * 2_000, ("READ",)).calls) == 2_000


def test_too_deeply_nested_call_is_not_repaired() -> None:
    assert repair_object("{'a':" * 3_000) is None


async def ask_provider(provider: OpenAIProvider, tmp_path: Path):
    (tmp_path / "hesk.md").write_text(PAGE, encoding="utf-8")
    return await research(
        "When was the lighthouse of Hesk first lit?",
        model="m",
        base_url=provider.url,
        corpus=tmp_path,
        search=["corpus"],
        memory=False,
        data_dir=tmp_path / "data",
    )


async def test_truncated_reply_is_requested_again(tmp_path: Path) -> None:
    with running(OpenAIProvider, "/v1") as provider:
        provider.says(CALLS["ours"].replace("FILE", (tmp_path / "hesk.md").as_uri()))
        provider.says("The lighthouse of Hesk was first")
        provider.answers[-1].body["choices"][0]["finish_reason"] = "length"
        provider.streams = False
        provider.says(ANSWER)
        report = await ask_provider(provider, tmp_path)
    assert (report.status, "1829" in report.answer) == ("answered", True)
    assert "cut off" in provider.requests[2]["messages"][-1]["content"]


async def test_overlong_conversation_is_shortened_and_resent(tmp_path: Path) -> None:
    with running(OpenAIProvider, "/v1") as provider:
        provider.says(CALLS["ours"].replace("FILE", (tmp_path / "hesk.md").as_uri()))
        provider.fails(400, "This model's maximum context length is 2000 tokens.")
        provider.says(ANSWER)
        report = await ask_provider(provider, tmp_path)
        sizes = [len(json.dumps(request["messages"])) for request in provider.requests[1:3]]
    assert report.status != "failed"
    assert sizes[1] < sizes[0]
