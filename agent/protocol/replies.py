"""Parses a model's reply: removes any wrapping and finds the calls; the rest is text.

`<<TOOL:NAME:param>>` calls a tool, `<<THINK>>…<</THINK>>` is a thought; the rest is text. The reply
is read once from left to right: tags inside a thought are not executed, and an unclosed thought
extends to the end. A parameter ends at the first `>>` outside quotes and JSON.

Models are trained on other formats, and servers pass on text added by their chat templates. Before
parsing, `unwrap_reply` converts thoughts in other formats to ours and drops conversation turns that
the model invented. Calls in one of the `FORMS` in `agent.protocol.forms` are rewritten as our tags.
In a reply without a call, special tokens are removed, as is a fence, tag or JSON field around the
entire reply.

Security: a format counts as a call only outside quotations (`…`, “…”, > …). Text from the web never
contains a call, since `inert` breaks the beginning of each format.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from agent.jsvalues import trim
from agent.protocol.forms import FIELD, FORMS, read_elements, read_json, read_python, tool_name
from agent.protocol.loose_json import loose_json, loose_object
from agent.types import Reply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from agent.protocol.forms import Form

NOT_FOUND: Final = "NOT_FOUND"
"""An answer starts with this word if the evidence does not answer the question."""
MARKUP: Final = "*_`# \n"
"""Markdown characters that may precede that word."""
MAX_CALLS: Final = 40
"""Maximum number of calls per reply for which quotes and brackets are parsed; further calls (a
repetitive reply has thousands) end at the next `>>`.
"""

_THINK_OPEN, _THINK_CLOSE = "<<THINK>>", "<</THINK>>"
_TAG_START_RE = re.compile(r"<<THINK>>|<<TOOL:([A-Za-z0-9_]+)(>>|:)")
_TOOL_TAG_PREFIX = "<<TOOL:"
_TOOL_TAG_ANY_CASE_RE = re.compile(r"<<tool:(\w+)", re.IGNORECASE)
_CLOSING_BRACKETS = {"{": "}", "[": "]"}
# Against prompt injection, web text must not contain a tag, a result header, a role turn, our
# delimiters or the beginning of a call in another format. This pattern finds their beginnings.
_INJECTION_START_RE = re.compile(
    r"<<(?=\s*(?:/\s*)?(?:TOOL|THINK))"
    r"|\[(?=\s*(?:Tool\s+result\s+for\b|HINT\s*:|Saved\s+memories\b|User\s+profile\b"
    r"|Learned\s+skills\b|Previous\s+conversation\b|Page\s*:|Selected\s+text\s*:))"
    r"|<(?=\s*(?:/\s*)?(?:web|guide|system|assistant|user|tool)\b)"
    r"|<(?=\s*/?[|｜])"
    r"|<(?=\s*(?:/\s*)?(?:\w+:)?(?:think|thinking|reasoning|invoke|function|parameter|tool_use"
    r"|tool_name|arg_key|start_function_call|(?:\w+_)?(?:tool|function)_?calls?)\b)"
    r"|<(?=/?(?-i:[A-Z][A-Z_]{2,}|mcp__\w+|memory_\w+|wiki_\w+|read_skill)>)"
    r"|\[(?=(?:TOOL_CALLS|/?THINK)\])"
    r"|\[(?=\s*(?:(?-i:[A-Z][A-Z_]{2,})|mcp__\w+|memory_\w+|wiki_\w+|read_skill)\s*\()"
    r"|`(?=``\s*tool_)"
    r"|(?<=[A-Z]\n)\{"
    r'|"(?=(?:arguments|parameters|args|input|tool|tool_name)"\s*:)'
    r'|"(?=name"\s*:\s*"(?-i:[A-Z][A-Z_]{2,}|mcp__\w+)")',
    re.IGNORECASE,
)
_ROLE_TURN_RE = re.compile(
    r"(?im)^([^\S\n]*(?:#+[^\S\n]*)?(?:system|assistant|user|human|tool|action|final answer))"
    r"([^\S\n]*):"
)
_LOOKALIKE_CHARS = {"<<": "‹‹", "[": "⟦", "<": "‹", '"': "“", "`": "ˋ", "{": "｛"}
_STRUCTURE_RE = re.compile(rf'["{{}}\[\]]|>>|{_TOOL_TAG_PREFIX}')
# Atomic groups instead of `*+`, which Python before 3.11.5 matches wrongly around a lookahead.
_JSON_STRING_RE = re.compile(r'"(?>[^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
# In a parameter that is not JSON (`5" screen`), a quotation must end on the same line, before the
# next tag.
_ONE_LINE_STRING_RE = re.compile(rf'"(?>(?:(?!{_TOOL_TAG_PREFIX})[^"\n])*)"')
_EXAMPLE_TOOL_NAME = "NAME"

# -- Wrapping around a reply ---------------------------------------------------------------------
_ELEMENT_PREFIX_RE = re.compile(
    r"<(/?)(?:\w+:|\|DSML\||longcat_)(?=(?:think|invoke|parameter|(?:tool|function)_call|tool_calls)\b|function_calls\b)"
)
_THOUGHT_DELIMITERS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought", "<channel|>"),
)
_ANALYSIS_CHANNEL_RE = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>analysis[^<]*<\|message\|>"
    r"(.*?)(?:<\|end\|>|(?=<\|(?:start|channel)\|>)|\Z)|\Aanalysis(?=[\sA-Z\"'])(.*?)assistantfinal",
    re.DOTALL,
)
_NEXT_TURN_RE = re.compile(
    r"<\|im_start\|>(?!assistant)|<start_of_turn>(?!model)|<\|(?:user|observation)\|>"
    r"|<\|start_header_id\|>(?!assistant)|<\|start\|>(?!assistant)",
    re.IGNORECASE,
)
_SPECIAL_TOKENS_RE = re.compile(
    r"<\|(?:im_start|start)\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>"
    r"|<\|channel\|>(?:final|commentary)[^<]*<\|message\|>|<start_of_turn>model"
    r"|<\|[\w ]{1,40}\|>|</?s>|<(?:end|start)_of_turn>|<eos>|<channel\|>"
)
_ROLE_PREFIX_RE = re.compile(r"\A\s*(?:Assistant|Final Answer):\s*")
_ANSWER_END_TAG_RE = re.compile(r"</(answer|final_answer|final|response|output)>\s*\Z")
_ANSWER_FENCE_RE = re.compile(
    r"\A\s*(?:[^\n`]{0,80}:\s+)?```(markdown|md|text|)\s*\n(.*)\n```\s*\Z", re.DOTALL
)
_BOXED_ANSWER_RE = re.compile(r"\A\s*\\boxed\{(.*)\}\s*\Z", re.DOTALL)
_ANSWER_KEYS = ("answer", "final_answer", "response")
_FOREIGN_CITATION_RE = re.compile(
    r"【[^】¶\n]{0,60}】|\ue200[^\ue201]*\ue201?|\bcite(?:turn\d+[a-z]+\d+)+|[\[(]?turn\d+[a-z]+\d+[\])]?"
    r"|:contentReference\[[^\]]*\](?:\{[^}]*\})?|\[cite(?:_start|_end|:[^\]]*|ation:[^\]]*)?\]"
    r"|<grok:render\b.{0,600}?</grok:render>",
    re.DOTALL,
)
"""Other systems' citation markers, which do not refer to anything that the run has read."""
_BRACKETED_CITATION_RE = re.compile(r"【(S\d{1,5})[†:\s]{0,3}(¶\d{1,5})[^】¶\n]{0,20}】")
"""Our citation format inside another system's brackets."""
_UNREADABLE_CALL_RE = re.compile(
    r"<\|[^\n]{1,60}?\|>|</?(?:\w+[:_])?(?:invoke|tool|function|parameter|arg)(?:_\w+)?[\s=>]"
    r"|\[\[?(?:/?TOOL|CALL)[^\]\n]*\]|<<TOOL:",
    re.IGNORECASE,
)
"""Signs of an unreadable call."""
_CODE_RE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_FORM_PATTERNS = [
    (re.compile(f"(?:{form.begin})(.*?)(?:{form.end}|\\Z)", re.DOTALL | re.MULTILINE), form)
    for form in FORMS
]
_CALL_WRAPPER_RE = re.compile(
    r"</?(?:tool_calls?|function_calls?|function|tool_use)>|<\|tool_calls(?:_section)?_(?:begin|end)\|>"
    r"|<\|start\|>assistant(?=\s*<<TOOL)"
)
_FENCED_TAGS_RE = re.compile(
    rf"```[\w-]*\s*((?:{_TOOL_TAG_PREFIX}(?:(?!```|{_TOOL_TAG_PREFIX}).)*>>\s*)+)```", re.DOTALL
)
_WRAPPERS_BEFORE_CALL_RE = re.compile(r"(?:<[^<>]*>|\s)+\Z")
"""Wrappers that may occur between a quotation mark and the call."""


def gives_up(answer: str) -> bool:
    """Whether an answer begins with `NOT_FOUND`."""
    return answer.lstrip(MARKUP).startswith(NOT_FOUND)


def inert(text: str) -> str:
    """Make tags, headers and role turns in web text harmless but still legible."""
    # Each character is replaced with exactly one other character, so that offsets in saved text
    # stay valid.
    replaced = _INJECTION_START_RE.sub(lambda m: _LOOKALIKE_CHARS[m[0]], text)
    return _ROLE_TURN_RE.sub(r"\1\2：", replaced)


def format_call(name: str, arguments: str) -> str:
    """Format a call as a tag; JSON is normalised, other arguments are left unchanged."""
    value = loose_json(arguments) if arguments.strip() else None
    if isinstance(value, str) and isinstance(twice := loose_json(value), dict):
        value = twice  # encoded twice
    if value in (None, {}):
        param = "" if value == {} else arguments.strip()
    else:
        param = json.dumps(value, ensure_ascii=False)
    return f"<<TOOL:{name}:{param}>>" if param else f"<<TOOL:{name}>>"


def parse(reply: str, tools: Collection[str] = ()) -> Reply:
    """Split a reply into thoughts, tool calls in tag order, and the text without the thoughts.

    The text keeps its tool tags, as it becomes the assistant's turn in the conversation. `tools`
    contains the names of the tools that can be called.
    """
    # Other formats are converted to ours first, so that only one grammar has to be secure.
    reply = _rewrite_as_tags(reply, {name.casefold(): name for name in tools})
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    kept: list[str] = []
    at, unclosed, unreadable = 0, False, 0
    while (token := _TAG_START_RE.search(reply, at)) is not None:
        begin = token.end()
        if token[0] == _THINK_OPEN:
            kept.append(reply[at : token.start()])
            close = reply.find(_THINK_CLOSE, begin)
            unclosed = close < 0
            thought = trim(reply[begin:] if unclosed else reply[begin:close])
            thoughts += [thought] if thought else []
            at = len(reply) if unclosed else close + len(_THINK_CLOSE)
            continue
        end = begin if token[2] == ">>" else _call_end(reply, begin, len(calls) + unreadable)
        if end is None:
            unreadable += 1
            end = begin
        else:
            calls.append(ToolCall(token[1], trim(reply[begin : max(begin, end - 2)])))
        kept.append(reply[at:end])
        at = end
    kept.append(reply[at:])
    text = trim("".join(kept))
    if tools and calls and all(call.name == _EXAMPLE_TOOL_NAME for call in calls):
        calls.clear()  # the model copied the example from the prompt
    nested = (
        bool(tools)
        and bool(calls)
        and (unreadable > 0 or any(_TOOL_TAG_PREFIX in call.param for call in calls))
    )
    if not calls:
        text = _without_wrapping(text)
    in_words = _CODE_RE.sub("", text)
    broken = not calls and (
        '"arguments"' in text or _UNREADABLE_CALL_RE.search(in_words) is not None
    )
    return Reply(tuple(thoughts), tuple(calls), text, unclosed, broken, nested)


def _call_end(reply: str, start: int, before: int) -> int | None:
    """Find the position after the `>>` that ends the call whose parameter begins at `start`.

    This is the first `>>` outside quotes and JSON or, if those are never closed, the first `>>`
    before the next tag; None if there is none. `before` is the number of calls before this one.
    """
    structured = reply[start:].lstrip()[:1] in _CLOSING_BRACKETS
    brackets: list[str] = []
    at = start
    while before < MAX_CALLS and (found := _STRUCTURE_RE.search(reply, at)) is not None:
        at, mark = found.start() + 1, found[0]
        if mark == '"':
            quoted = (_JSON_STRING_RE if structured else _ONE_LINE_STRING_RE).match(
                reply, found.start()
            )
            at = quoted.end() if quoted else at
        elif not brackets and mark == ">>":
            return found.end()
        elif not brackets and mark == _TOOL_TAG_PREFIX:
            break
        elif structured and mark in _CLOSING_BRACKETS:
            brackets.append(_CLOSING_BRACKETS[mark])
        elif brackets and mark == brackets[-1]:
            brackets.pop()
    end, following = reply.find(">>", start), reply.find(_TOOL_TAG_PREFIX, start)
    return None if end < 0 or 0 <= following < end else end + 2


def _rewrite_as_tags(reply: str, names: Mapping[str, str]) -> str:
    """Rewrite calls in other formats as tags; a reply in our format is returned unchanged.

    `names` maps lower-case tool names to the actual names.
    """
    reply = unwrap_reply(reply)
    before = reply
    for pattern, form in _FORM_PATTERNS:
        reply = pattern.sub(lambda found, form=form: _rewrite_match(found, form, names), reply)  # type: ignore[misc]
    if reply != before:
        reply = _CALL_WRAPPER_RE.sub("", reply)
    reply = _FENCED_TAGS_RE.sub(r"\1", reply)
    outside = trim(reply.rpartition(_THINK_CLOSE)[2])
    readers = (read_json,) if outside[:1] == "{" else (read_json, read_python)
    if outside[:1] in _CLOSING_BRACKETS and (tags := _calls_as_tags(outside, readers, names)):
        return reply.removesuffix(outside) + tags
    if not names:
        return reply
    head, newline, body = outside.partition("\n")
    if newline and head in names.values() and head.isupper() and isinstance(loose_json(body), dict):
        return format_call(head, body)
    return _correct_tool_names(_rewrite_actions(reply, names), names)


def unwrap_reply(reply: str) -> str:
    """Rewrite thoughts in our format, and drop user turns that the model invented."""
    if "｜" in reply:
        reply = re.sub(r"<(/?)｜DSML｜", r"<\1", reply)
        reply = re.sub(r"<｜([^<>｜\n]{1,40})｜>", lambda m: f"<|{m[1].replace('▁', '_')}|>", reply)
    reply = _ELEMENT_PREFIX_RE.sub(r"<\1", reply)
    for opens, closes in _THOUGHT_DELIMITERS:
        # Some chat templates add the opening tag, so the reply lacks it.
        if closes in reply and opens not in reply and opens != "<|channel>thought":
            reply = f"{opens}{reply}"
        reply = reply.replace(opens, _THINK_OPEN)
        if closes != "<channel|>" or _THINK_OPEN in reply:
            reply = reply.replace(closes, _THINK_CLOSE)
    reply = _ANALYSIS_CHANNEL_RE.sub(
        lambda m: f"{_THINK_OPEN}{m[1] or m[2] or ''}{_THINK_CLOSE}", reply
    )
    invented = _NEXT_TURN_RE.search(reply)
    return reply[: invented.start()] if invented and invented.start() else reply


def _without_wrapping(text: str) -> str:
    """Remove special tokens, and a fence, tag, role or JSON field around the entire answer."""
    text = _BRACKETED_CITATION_RE.sub(r"[\1\2]", text)
    text = trim(
        _ROLE_PREFIX_RE.sub("", _SPECIAL_TOKENS_RE.sub("", _FOREIGN_CITATION_RE.sub("", text)))
    )
    if (end := _ANSWER_END_TAG_RE.search(text)) and (opening := f"<{end[1]}>") in text:
        text = text[text.index(opening) + len(opening) : end.start()].strip()
    fenced = _ANSWER_FENCE_RE.match(text)
    if fenced and (fenced[1] or "¶" in fenced[2]) and (fenced[1] or "```" not in fenced[2]):
        text = fenced[2]
    if boxed := _BOXED_ANSWER_RE.match(text):
        text = boxed[1]
    if text[:1] in ("{", "`"):
        fields = loose_object(text) if text[:1] == "{" or text.startswith("```json") else {}
        values = [fields[key] for key in _ANSWER_KEYS if isinstance(fields.get(key), str)]
        text = values[0] if values else text
    return trim(text)


def _rewrite_match(found: re.Match[str], form: Form, names: Mapping[str, str]) -> str:
    """Rewrite the calls in a match as tags; quotations and non-calls are left unchanged."""
    if _is_quoted(found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]):
        return found[0]
    inside = found[1].strip()
    if inside.startswith(_TOOL_TAG_PREFIX) and inside.endswith(">>"):
        return inside
    whole = found[0] if form.read == (read_elements,) or "<" in inside else inside
    return (
        _calls_as_tags(inside, form.read, names)
        or _calls_as_tags(whole, form.read, names)
        or found[0]
    )


def _is_quoted(line: str) -> bool:
    """Whether the text after `line`, the beginning of a line, is in a quotation or inline code."""
    in_code = line.replace("```", "").count("`") % 2 == 1
    in_quotes = any(line.count(opens) > line.count(closes) for opens, closes in ("“”", "«»", "„“"))
    before = _WRAPPERS_BEFORE_CALL_RE.sub("", line)
    return in_code or in_quotes or before[-1:] in ("'", '"') or line.lstrip().startswith(">")


def _calls_as_tags(text: str, readers: tuple[Any, ...], names: Mapping[str, str]) -> str:
    """Convert the calls in `text` to tags; empty if it contains anything else."""
    for read in readers:
        if calls := read(text, names):
            return "\n".join(format_call(tool_name(name, names), args) for name, args in calls)
    return ""


def _rewrite_actions(reply: str, names: Mapping[str, str]) -> str:
    """Rewrite the first `Action: NAME` with its input, or take the text after `Final Answer:`.

    Everything after the action is dropped, since any observation there was invented by the model.
    """
    before, action, rest = _partition_line(reply, "Action:")
    name, _, rest = rest.partition("\n")
    known = names.get(name.strip(" `*[]").casefold())
    if action and known:
        _, _, action_input = rest.partition("Input:")
        param = _partition_line(action_input, "Observation:")[0].strip().strip("`").strip()
        return f"{_THINK_OPEN}{inert(before)}{_THINK_CLOSE}{format_call(known, param)}"
    before, final, answer = _partition_line(reply, "Final Answer:")
    thought = before.lstrip().startswith("Thought:")
    return answer if final and (thought or not before.strip()) else reply


def _partition_line(text: str, prefix: str) -> tuple[str, str, str]:
    """Split at the first line that starts with a prefix."""
    before, mark, after = f"\n{text}".partition(f"\n{prefix}")
    return before[1:], mark, after


def _correct_tool_names(reply: str, names: Mapping[str, str]) -> str:
    """Correct the case of names, rewrite `<NAME>…</NAME>`, and close the last tag if necessary."""
    for name in names.values():
        reply = _rewrite_element(reply, name)
    pieces = _TOOL_TAG_ANY_CASE_RE.split(reply)
    for n in range(1, len(pieces), 2):
        pieces[n] = f"{_TOOL_TAG_PREFIX}{names.get(pieces[n].casefold(), pieces[n])}"
    reply = "".join(pieces)
    head, opened, last = reply.rpartition(_TOOL_TAG_PREFIX)
    param = last.partition(":")[2].rstrip("`> \n")
    if opened and ">>" not in last and isinstance(loose_json(param), dict) and param[-1:] == "}":
        return f"{head}{opened}{last.partition(':')[0]}:{param}>>"
    return reply


def _rewrite_element(reply: str, name: str) -> str:
    """Rewrite `<NAME>…</NAME>`, whose fields may be nested elements."""
    done = ""
    while True:
        before, _, rest = reply.partition(f"<{name}>")
        inside, closed, after = rest.partition(f"</{name}>")
        if not closed:
            return done + reply
        fields = dict(FIELD.findall(inside))
        param = json.dumps(fields, ensure_ascii=False) if fields else inside
        done, reply = f"{done}{before}{format_call(name, param)}", after
