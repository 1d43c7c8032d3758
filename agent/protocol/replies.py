"""Parsing a model's reply: tool tags, thoughts and text.

`<<TOOL:NAME:param>>` calls a tool, `<<THINK>>…<</THINK>>` is a thought; the rest is text. The reply
is read once from left to right: tags inside a thought are not run, and an unclosed thought extends
to the end. A parameter ends at the first `>>` outside quotes and JSON.

Models are trained on other forms as well: `<think>…</think>`, `<tool_call>{…}</tool_call>`, a call
as JSON in a fence or alone. These are rewritten into ours before parsing. If the names of the tools
are known, so are `Action: NAME` with `Action Input: …`, `<NAME>…</NAME>`, names in the wrong case,
and a call that lacks only its closing `>>`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from agent import jsvalues as js
from agent.jsvalues import trim
from agent.types import Reply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

NOT_FOUND: Final = "NOT_FOUND"
"""An answer that begins with this word says that the evidence does not have the answer."""
MARKUP: Final = "*_`# \n"
"""Markdown that may come before that word."""

_THINK_OPEN = "<<THINK>>"
_THINK_CLOSE = "<</THINK>>"
_TOKEN = re.compile(r"<<THINK>>|<<TOOL:([A-Za-z0-9_]+)(>>|:)")
_TOOL_OPEN = "<<TOOL:"
_ANY_CASE = re.compile(r"<<tool:(\w+)", re.IGNORECASE)
_FIELD = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
# Prompt injection: a web text must not contain a tag, a result header, a role turn or our own
# delimiters. This finds where one begins.
_MARKERS = re.compile(
    r"<<(?=\s*(?:/\s*)?(?:TOOL|THINK))"
    r"|\[(?=\s*(?:Tool\s+result\s+for\b|HINT\s*:|Saved\s+memories\b|User\s+profile\b"
    r"|Learned\s+skills\b|Previous\s+conversation\b|Page\s*:|Selected\s+text\s*:))"
    r"|<(?=\s*(?:/\s*)?(?:web|guide|system|assistant|user|tool)\b)"
    r"|<(?=\|)"
    # Beginnings of the other forms of calls.
    r"|<(?=\s*(?:/\s*)?(?:think|thinking|reasoning|tool_calls?|function_call|tool_use)\b)"
    r"|<(?=/?(?-i:[A-Z][A-Z_]{2,}|mcp__\w+|memory_\w+|wiki_\w+|read_skill)>)"
    r"|\[(?=TOOL_CALLS\])"
    r'|"(?=(?:arguments|parameters|args|input|tool|tool_name)"\s*:)'
    r'|"(?=name"\s*:\s*"(?-i:[A-Z][A-Z_]{2,}|mcp__\w+)")',
    re.IGNORECASE,
)
_ROLE_TURN = re.compile(
    r"(?im)^([^\S\n]*(?:#+[^\S\n]*)?(?:system|assistant|user|human|tool|action|final answer))"
    r"([^\S\n]*):"
)
_OPENER_LOOKALIKES = {"<<": "‹‹", "[": "⟦", "<": "‹", '"': "“"}
_STRUCTURE = re.compile(rf'["{{}}\[\]]|>>|{_TOOL_OPEN}')
_QUOTED = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# In a parameter that is no JSON (`5" screen`), a quote must close on its line, before the next tag.
_QUOTED_BARE = re.compile(rf'"(?:(?!{_TOOL_OPEN})[^"\n])*+"')
_FENCE = re.compile(r"```(?:json)?\s*")
_THOUGHT_TAGS = ("think", "thinking", "reasoning")
_CALL_TAGS = ("tool_call", "tool_calls", "function_call", "tool_use")
_PLACEHOLDER = "NAME"
_CALL_MARKS = (_TOOL_OPEN, *(f"<{tag}>" for tag in _CALL_TAGS), "[TOOL_CALLS]", '"arguments"')
"""Signs of a call that could not be read."""
_NAMES, _ARGUMENTS = ("name", "tool", "tool_name"), ("arguments", "parameters", "args", "input")
MOST_CALLS: Final = 40
"""Calls of a reply that are parsed with quotes and brackets; the others, which a reply that repeats
itself has by the thousand, end at the next `>>`."""


def gives_up(answer: str) -> bool:
    """Whether an answer begins with `NOT_FOUND`."""
    return answer.lstrip(MARKUP).startswith(NOT_FOUND)


def inert(text: str) -> str:
    """Make tags, headers and role turns in a web text harmless, but still legible."""
    # Each character is replaced by one other, so that positions in a saved text stay valid.
    replaced = _MARKERS.sub(lambda m: _OPENER_LOOKALIKES[m[0]], text)
    return _ROLE_TURN.sub(r"\1\2：", replaced)


def format_call(name: str, arguments: str) -> str:
    """Format a call as a tag; JSON is written in one form, other arguments stay as they are."""
    value = loose_json(arguments) if arguments.strip() else None
    if value in (None, {}):
        param = "" if value == {} else arguments.strip()
    else:
        param = json.dumps(value, ensure_ascii=False)
    return f"<<TOOL:{name}:{param}>>" if param else f"<<TOOL:{name}>>"


def parse(reply: str, tools: Collection[str] = ()) -> Reply:
    """Split a reply into thoughts, tool calls in tag order, and the text without the thoughts.

    The text keeps its tool tags: it becomes the assistant's turn of the conversation. `tools` are
    the names of the tools that can be called.
    """
    # Other forms become ours first, so that there is only one grammar to keep safe.
    reply = _in_our_form(reply, {name.casefold(): name for name in tools})
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    kept: list[str] = []
    at, unclosed, unreadable = 0, False, 0
    while (token := _TOKEN.search(reply, at)) is not None:
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
    if tools and calls and all(call.name == _PLACEHOLDER for call in calls):
        calls.clear()  # the model copied the example of the prompt
    broken = not calls and any(mark in text for mark in _CALL_MARKS)
    return Reply(tuple(thoughts), tuple(calls), text, unclosed, broken)


def _call_end(reply: str, start: int, before: int) -> int | None:
    """Find the end of a call, behind its `>>`, whose parameter begins at `start`.

    This is the first `>>` outside quotes and JSON; if those never close, the first `>>` before the
    next tag; None if there is none. `before` is the number of calls before this one.
    """
    structured = reply[start:].lstrip()[:1] in _CLOSERS
    brackets: list[str] = []
    at = start
    while before < MOST_CALLS and (found := _STRUCTURE.search(reply, at)) is not None:
        at, mark = found.start() + 1, found[0]
        if mark == '"':
            quoted = (_QUOTED if structured else _QUOTED_BARE).match(reply, found.start())
            at = quoted.end() if quoted else at
        elif not brackets and mark == ">>":
            return found.end()
        elif not brackets and mark == _TOOL_OPEN:
            break
        elif structured and mark in _CLOSERS:
            brackets.append(_CLOSERS[mark])
        elif brackets and mark == brackets[-1]:
            brackets.pop()
    end, following = reply.find(">>", start), reply.find(_TOOL_OPEN, start)
    return None if end < 0 or 0 <= following < end else end + 2


def _in_our_form(reply: str, names: Mapping[str, str]) -> str:
    """Rewrite the forms of other protocols; a reply in our form is returned as it is.

    `names` maps the tools' names in lower case to the names.
    """
    for tag in _THOUGHT_TAGS:
        # Some chat templates write the opening tag themselves, so that the reply lacks it.
        if f"</{tag}>" in reply and f"<{tag}>" not in reply:
            reply = f"<{tag}>{reply}"
        reply = reply.replace(f"<{tag}>", _THINK_OPEN).replace(f"</{tag}>", _THINK_CLOSE)
    for tag in _CALL_TAGS:
        reply = _rewritten(reply, f"<{tag}>", f"</{tag}>", names)
    reply = _rewritten(reply, "[TOOL_CALLS]", "\n\n", names)
    if '"' in reply:
        reply = _rewritten(_rewritten(reply, "```json", "```", names), "```", "```", names)
        outside = trim(reply.rpartition(_THINK_CLOSE)[2])
        if outside[:1] in _CLOSERS and (tags := _tags(outside, names)):
            reply = reply.removesuffix(outside) + tags
    return _in_known_names(_rewrite_actions(reply, names), names) if names else reply


def _rewritten(reply: str, opens: str, closes: str, names: Mapping[str, str]) -> str:
    """Rewrite the calls between two marks, or behind an opening mark that is never closed."""
    head, *parts = reply.split(opens)
    done = [head]
    for part in parts:
        inside, mark, after = part.partition(closes)
        tags, bare = _tags(inside, names), inside.strip()
        if not tags and bare.startswith(_TOOL_OPEN) and bare.endswith(">>"):
            tags = inside
        done.append(f"{tags}{after}" if tags else f"{opens}{inside}{mark}{after}")
    return "".join(done)


def _tags(text: str, names: Mapping[str, str]) -> str:
    """Convert the calls in a JSON text to tags; empty if it is anything else."""
    value = loose_json(text)
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    rows = value if isinstance(value, list) else [value]
    calls = [_read_call(row) or _read_flat_call(row, names) for row in rows]
    return "\n".join(format_call(*call) for call in calls if call) if all(calls) else ""


def _read_call(row: Any) -> tuple[str, str] | None:
    """Read a call in JSON with its arguments in a field; returns name and arguments."""
    if isinstance(row, dict) and isinstance(row.get("function"), dict):
        row = row["function"]
    if not isinstance(row, dict):
        return None
    name = next((row[key] for key in _NAMES if isinstance(row.get(key), str)), "")
    arguments = next((row[key] for key in _ARGUMENTS if key in row), None)
    if arguments is None or not name.replace("_", "").isalnum() or not name.isascii():
        return None
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return name, arguments


def _read_flat_call(row: Any, names: Mapping[str, str]) -> tuple[str, str] | None:
    """Read a call with its arguments beside its name: `{"tool": "READ", "url": "…"}`.

    In the field `name` the case must match, since other data may have the name `read`.
    """
    if not isinstance(row, dict):
        return None
    key = next((key for key in _NAMES if str(row.get(key)).casefold() in names), None)
    if key is None or (key == "name" and row[key] not in names.values()):
        return None
    fields = {name: value for name, value in row.items() if name not in (key, "type")}
    return names[row[key].casefold()], json.dumps(fields, ensure_ascii=False)


def _rewrite_actions(reply: str, names: Mapping[str, str]) -> str:
    """Rewrite the first `Action: NAME` with its input, or take the text after `Final Answer:`.

    What follows the action is dropped: the model invented its observation.
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
    """Split at the first line that begins with a prefix."""
    before, mark, after = f"\n{text}".partition(f"\n{prefix}")
    return before[1:], mark, after


def _in_known_names(reply: str, names: Mapping[str, str]) -> str:
    """Correct the case of names, rewrite `<NAME>…</NAME>`, and close an unclosed last tag."""
    for name in names.values():
        reply = _rewrite_element(reply, name)
    pieces = _ANY_CASE.split(reply)
    for n in range(1, len(pieces), 2):
        pieces[n] = f"{_TOOL_OPEN}{names.get(pieces[n].casefold(), pieces[n])}"
    reply = "".join(pieces)
    head, opened, last = reply.rpartition(_TOOL_OPEN)
    param = last.partition(":")[2].rstrip("`> \n")
    if opened and ">>" not in last and isinstance(loose_json(param), dict) and param[-1:] == "}":
        return f"{head}{opened}{last.partition(':')[0]}:{param}>>"
    return reply


def _rewrite_element(reply: str, name: str) -> str:
    """Rewrite `<NAME>…</NAME>`, which may have its fields as elements inside."""
    done = ""
    while True:
        before, _, rest = reply.partition(f"<{name}>")
        inside, closed, after = rest.partition(f"</{name}>")
        if not closed:
            return done + reply
        fields = dict(_FIELD.findall(inside))
        param = json.dumps(fields, ensure_ascii=False) if fields else inside
        done, reply = f"{done}{before}{format_call(name, param)}", after


def loose_json(text: str) -> Any | None:
    """Parse a text as JSON, else the object from its first to its last brace; None if neither."""
    plain = js.trim(_FENCE.sub("", text))
    start, end = plain.find("{"), plain.rfind("}")
    for candidate in (plain, plain[start : end + 1] if 0 <= start < end else ""):
        try:
            return json.loads(candidate, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):  # RecursionError: nested too deeply
            continue
    return None


def loose_object(text: str) -> dict[str, Any]:
    """Parse the JSON object in a text; empty if there is none."""
    value = loose_json(text)
    return value if isinstance(value, dict) else {}


def repair_object(text: str) -> dict[str, Any] | None:
    """Parse an object in JSON with wrong quotes, commas or brackets; None if that fails."""
    import json_repair  # noqa: PLC0415 - hardly ever needed

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError):  # RecursionError: nested too deeply
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) and value else None


def _refuse_constant(name: str) -> Any:
    """Refuse `NaN` and `Infinity`, which Python's parser accepts by default."""
    raise ValueError(f"{name} is no JSON")
