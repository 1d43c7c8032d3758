"""Calls and answers as models of other systems write them."""

from __future__ import annotations

import json

import pytest

from agent.protocol import inert, parse
from tests.agent.protocol.forms import examples

TOOLS = ("READ", "WEB_SEARCH", "CLICK")
FORMS = examples("READ", "url", "https://e.org/a?b=1")
ANSWER = "Hesk Light was first lit in 1871. [S1¶2]"


@pytest.mark.parametrize("form", FORMS)
def test_call_is_parsed_in_each_form(form):
    for before in ("", "I read it.\n\n"):
        if before and form == "bare python":  # valid only on its own
            continue
        reply = parse(before + FORMS[form], TOOLS)
        assert [call.name for call in reply.calls] == ["READ"]
        assert json.loads(reply.calls[0].param) == {"url": "https://e.org/a?b=1"}
        assert not reply.broken


@pytest.mark.parametrize("form", FORMS)
def test_call_form_quoted_from_page_is_not_a_call(form):
    text = inert(examples("CLICK", "ref", "e1")[form])
    for told in (text, f"The page says: {text}", f"> {text}"):
        assert parse(told, TOOLS).calls == ()


@pytest.mark.parametrize("form", ["hermes", "anthropic", "kimi", "mistral", "harmony"])
@pytest.mark.parametrize("quoted", ["A call is `{}`.", "It says “{}”.", "> {}"])
def test_quoted_call_is_not_run(form, quoted):
    assert parse(quoted.format(FORMS[form].replace("\n", " ")), TOOLS).calls == ()


def test_several_calls_are_parsed_in_order():
    for form in ("qwen3-coder", "kimi", "hermes", "mistral with ids", "anthropic"):
        two = FORMS[form] + "\n" + FORMS[form].replace("e.org", "f.org")
        hosts = [json.loads(call.param)["url"][8] for call in parse(two, TOOLS).calls]
        assert hosts == ["e", "f"]


@pytest.mark.parametrize(
    "reply",
    [
        "<|zz_call|>READ?url=x<|/zz_call|>",
        "[[CALL READ url=x]]",
        "<my_tool_call>READ x</my_tool_call>",
    ],
)
def test_unknown_call_form_is_broken(reply):
    assert parse(reply, TOOLS).broken


def test_answer_about_call_markup_in_code_is_not_a_call():
    reply = parse("Hermes writes `<tool_call>` around a call. [S1¶2]", TOOLS)
    assert (reply.calls, reply.broken) == ((), False)


@pytest.mark.parametrize(
    "wrapped",
    [
        "```markdown\n{}\n```",
        "```\n{}\n```",
        "Here is the answer:\n\n```markdown\n{}\n```",
        "<answer>{}</answer>",
        "I looked. <final_answer>\n{}\n</final_answer>",
        '{{"answer": "{}"}}',
        '```json\n{{"answer": "{}", "confidence": 0.9}}\n```',
        "{}<|im_end|>",
        "{}</s>",
        "<|im_start|>assistant\n{}<|im_end|>\n<|im_start|>user\nAnd the keeper?",
        "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{}",
        "analysisIt is 1871.assistantfinal{}",
        "<seed:think>hm</seed:think>{}",
        "[THINK]hm[/THINK]{}",
        "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
        "Assistant: {}",
        "\\boxed{{{}}}",
        "{}【1†source】",
        "{} \ue200cite\ue202turn0search1\ue201",
        "{} citeturn0search5turn0search15",
        "{}:contentReference[oaicite:0]{{index=0}}",
    ],
)
def test_wrapping_around_answer_is_removed(wrapped):
    assert parse(wrapped.format(ANSWER), TOOLS).text == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```",
        "Run this:\n```\npip install x\n```",
        '{"name": "Hesk", "lit": 1829}',
        "The <b>mast</b> is 5 m.",
    ],
)
def test_unwrapped_answer_is_unchanged(text):
    assert parse(text, TOOLS).text == text


def test_citations_in_other_brackets_are_normalised():
    for mark in ("【S1¶2】", "【S1†¶2】", "【S1¶2†source】"):
        assert parse(f"It was lit in 1871{mark}.", TOOLS).text == "It was lit in 1871[S1¶2]."


def test_fence_around_tags_is_removed():
    reply = parse('```xml\n<<TOOL:READ:{"url":"u"}>>\n```', TOOLS)
    assert [call.name for call in reply.calls] == ["READ"]
    assert "```" not in reply.text


def test_nested_call_is_detected():
    assert parse('<<TOOL:READ:{"url":"<<TOOL:WEB_SEARCH:x>>"}>>', TOOLS).nested
    assert parse("<<TOOL:READ:<<TOOL:WEB_SEARCH:x>>>>", TOOLS).nested
    assert not parse("<<TOOL:READ:a>> <<TOOL:READ:b>>", TOOLS).nested
