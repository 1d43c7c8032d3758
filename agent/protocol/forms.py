"""The call formats of other systems. A new format needs a row and an example in the tests.

`agent.protocol.replies` decides whether such a format is a call or only a quotation.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent.protocol.loose_json import loose_json, loose_object, repair_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_CODE: Final = 8_000
"""Maximum length of Python code that is parsed as calls, in characters; a call has a few hundred.
"""
_NAMES, _ARGUMENTS = ("name", "tool", "tool_name"), ("arguments", "parameters", "args", "input")
FIELD = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)
CALL_TOOL: Final = "CALL_TOOL"
CALL_TOOL_SPEC: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": CALL_TOOL,
        "description": "calls one of the tools listed under “More tools”.",
        "parameters": {
            "properties": {
                "name": {"type": "string"},
                # Some providers reject objects without a description of their fields.
                "arguments": {"type": "string", "description": "JSON object"},
            },
            "required": ["name"],
            "type": "object",
        },
    },
}
"""The function through which a model calls tools that are not functions themselves."""


class Form(NamedTuple):
    """A call format: its name, the patterns of its beginning and end, and its argument format.

    Formats that can appear inside others are listed first. Text that contains one of these formats
    is not an answer.
    """

    name: str
    begin: str
    end: str
    read: tuple[Callable[[str, Mapping[str, str]], list[tuple[str, str]]], ...]


def read_json(text: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Read calls in JSON: an object, a list, or objects separated by `;` or newlines."""
    value = loose_json(text)
    if value is None and text.count("{") > 1:
        value = [loose_json(part) for part in re.split(r";\s*|(?<=\})\s*\n\s*(?=\{)", text)]
    if value is None and text.rstrip().endswith(("}", "]", "```")):
        value = repair_object(text)
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    rows = value if isinstance(value, list) else [value]
    calls = [_read_call(row) or _read_flat_call(row, names) for row in rows]
    return [call for call in calls if call] if all(calls) else []


def _read_call(row: Any) -> tuple[str, str] | None:
    """Read a JSON call whose arguments are in one field; returns the name and the arguments."""
    if isinstance(row, dict) and isinstance(row.get("function"), dict):
        row = row["function"]
    if not isinstance(row, dict):
        return None
    name = next((row[key] for key in _NAMES if isinstance(row.get(key), str)), "")
    arguments = next((row[key] for key in _ARGUMENTS if key in row), None)
    if arguments is None or not re.fullmatch(r"[\w.:-]+", name, re.ASCII):
        return None
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return name, arguments


def _read_flat_call(row: Any, names: Mapping[str, str]) -> tuple[str, str] | None:
    """Read a JSON call whose arguments are next to its name: `{"tool": "READ", "url": "…"}`.

    In a `name` field, the case must match, since other data may be named `read`.
    """
    if not isinstance(row, dict):
        return None
    key = next((key for key in _NAMES if str(row.get(key)).casefold() in names), None)
    if key is None or (key == "name" and row[key] not in names.values()):
        return None
    fields = {name: value for name, value in row.items() if name not in (key, "type")}
    return names[row[key].casefold()], json.dumps(fields, ensure_ascii=False)


_ELEMENT_NAME_RE = re.compile(
    r"(?:<?invoke\s+name|<function)\s*=\s*[\"']?([\w.-]+)|<tool_name>\s*([\w.-]+)"
    r"|\A\s*(?:<tool_call>)?\s*([\w.-]+)\s*(?=<arg_key>)"
)
_PARAMETER_RE = re.compile(
    r"<parameter(?:\s+name)?\s*=\s*[\"']?([\w.-]+)[^>]*>(.*?)(?:</parameter>|(?=<parameter)|\Z)"
    r"|<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)",
    re.DOTALL,
)


def read_elements(text: str, names: Mapping[str, str]) -> list[tuple[str, str]]:  # noqa: ARG001
    """Read a call written as XML-like elements, with its parameters as elements or JSON."""
    if (named := _ELEMENT_NAME_RE.search(text)) is None:
        return []
    name, rest = next(filter(None, named.groups())), text[named.end() :]
    fields = {
        m[1] or m[3].strip(): (m[2] or m[4] or "").strip() for m in _PARAMETER_RE.finditer(rest)
    }
    fields = fields or dict(FIELD.findall(rest.partition("<parameters>")[2]))
    return [(name, json.dumps(fields or loose_object(rest), ensure_ascii=False))]


_NAME_PREFIXES = frozenset(
    "function functions call to json commentary assistant default_api tool".split()
)
_SPECIAL_TOKENS_RE = re.compile(r"<\|[^|>]*\|>|\[(?:ARGS|TOOL_CALLS)\]|\[CALL_ID\]\w*")


def tool_name(text: str, names: Mapping[str, str] | None = None) -> str:
    """Return a tool's name without the parts that servers add, as in `functions.READ:0`."""
    words = re.findall(r"[\w-]+", _SPECIAL_TOKENS_RE.sub(" ", text))
    found = next((word for word in words if word.casefold() not in _NAME_PREFIXES), text)
    return (names or {}).get(found.casefold(), found)


def read_named(text: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Read a name followed by JSON: `functions.READ:0<|…|>{…}`, `call:READ{url:<|"|>…}`."""
    calls = []
    for part in text.split("[TOOL_CALLS]"):
        head, brace, body = part.replace('<|"|>', '"').replace("<escape>", '"').partition("{")
        if not brace:
            continue
        arguments = f"{brace}{body}".strip().removesuffix("```").strip()
        fields = loose_object(arguments) or repair_object(arguments)
        name = tool_name(head, names)
        if re.fullmatch(r"[\w-]+", name) and (fields is not None or "{}" in arguments):
            calls.append((name, json.dumps(fields or {}, ensure_ascii=False)))
    return calls


def read_python(text: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Read calls to offered tools written in Python; nothing is executed."""
    calls = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for `"\d"`
            body = ast.parse(_SPECIAL_TOKENS_RE.sub("", text)[:MAX_CODE].strip()).body
        nodes = [statement.value for statement in body if isinstance(statement, ast.Expr)]
        if len(nodes) == 1 and isinstance(nodes[0], ast.List):
            nodes = nodes[0].elts
        for found in nodes:
            is_print = isinstance(found, ast.Call) and ast.unparse(found.func) == "print"
            node = found.args[0] if is_print and found.args else found  # type: ignore[attr-defined]
            if not isinstance(node, ast.Call):
                return []
            name = names.get(tool_name(ast.unparse(node.func).removesuffix(".call")).casefold())
            fields = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
            bare = [ast.literal_eval(argument) for argument in node.args[:1]]
            if name is None:
                return []
            calls.append((name, json.dumps(fields) if fields or not bare else str(bare[0])))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return []
    return calls


_ALL_READERS = (read_json, read_elements, read_named, read_python)
FORMS: Final = (
    Form("anthropic, minimax, dsml, step3", r"<invoke\b", r"</invoke>", (read_elements,)),
    Form("qwen3-coder, seed, llama", r"<function=", r"</function>", (read_elements,)),
    Form("deepseek, kimi", r"<\|tool_call_begin\|>", r"<\|tool_call_end\|>", (read_named,)),
    Form("harmony", r"<\|channel\|>commentary\s+to=|<\|start\|>assistant to=",
         r"<\|call\|>|(?=<\|start\|>)", (read_named,)),
    Form("lfm2", r"<\|tool_call_start\|>", r"<\|tool_call_end\|>", (read_python, read_json)),
    Form("gemma 4", r"<\|tool_call>", r"<tool_call\|>", (read_named,)),
    Form("functiongemma", r"<start_function_call>", r"<end_function_call>", (read_named,)),
    Form("granite", r"<\|tool_call\|>", r"(?=<\|)", (read_json,)),
    Form("mistral", r"\[TOOL_CALLS\]", r"</s>|\n\n", (read_json, read_named)),
    Form("llama", r"<\|python_tag\|>", r"<\|e\w+_id\|>", (read_json, read_python)),
    Form("llama 4", r"<\|python_start\|>", r"<\|python_end\|>", (read_python,)),
    Form("internlm", r"<\|action_start\|>(?:<\|\w+\|>)?", r"<\|action_end\|>", (read_json,)),
    Form("command-r", r"<\|START_ACTION\|>|^Action:(?=\s*```json)", r"<\|END_ACTION\|>",
         (read_json,)),
    Form("phi-4", r"\bfunctools(?=\[)", r"(?<=\}\])", (read_json,)),
    Form("hermes, glm, jamba, nemotron, olmo",
         r"<(?:tool_calls?|function_calls?|tool_use|TOOLCALL)>",
         r"</(?:tool_calls?|function_calls?|tool_use|TOOLCALL)>", _ALL_READERS),
    Form("gemma 3", r"```tool_(?:code|call)\b", r"```", (read_python, read_json)),
    Form("a fence of JSON", r"```json\b", r"```", (read_json,)),
    Form("a fence", r"```(?=[\s{\[])", r"```", (read_json,)),
)  # fmt: skip
