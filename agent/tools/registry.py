"""Defines tools, parses their parameters, and holds the set of tools that a run has."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agent.errors import ToolError
from agent.protocol.replies import repair_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.tools.context import ToolContext
    from agent.types import Passage
    from browser.types import SearchResult


class Risk(StrEnum):
    """What a call may change: nothing, our own stores, or the outside world."""

    READ = "read"
    WRITE = "write"
    EXTERNAL = "external"


class ToolSource(StrEnum):
    """Where a tool comes from; a person can switch each source off (`--tool-sources`)."""

    DOMAIN = "domain"
    MCP = "mcp"
    MEMORY = "memory"
    SYSTEM = "system"


class Params(BaseModel):
    """Parameters of a tool; a bare text in a call fills the first field."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


NonEmpty = Annotated[str, Field(min_length=1)]
"""A text that is not empty."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: JSON data for the first line, and web text below it.

    `label` names where the web text came from. `passages`, `results` and `snapshot` are the same
    content as data, see `agent.types.Observation`. `blobs` (name, bytes) are stored with the run;
    `pictures` (JPEG or PNG) are stored and shown to the model too.
    """

    data: Any
    web: str = ""
    label: str = ""
    hint: str = ""
    blobs: tuple[tuple[str, bytes], ...] = ()
    pictures: tuple[bytes, ...] = ()
    passages: tuple[Passage, ...] = ()
    results: tuple[SearchResult, ...] = ()
    snapshot: str = ""


Finish = Callable[[], ToolResult]
"""The second half of a call, run in tag order when all calls of a step are done: the numbers of
sources must not depend on which call was faster."""
Handler = Callable[["ToolContext", Any], Awaitable[ToolResult | Finish]]
AS_WRITTEN, LENIENT, PICKED = "", "lenient", "fields"
"""How a parameter was parsed: exactly, as repaired JSON, or by the field names found in it."""


class ParsedParam(NamedTuple):
    """A parsed parameter; `tier` says how it was parsed."""

    arguments: Any
    tier: str = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model can call.

    params: the parameters. A tool without them gets the raw text, whose fields `schema` describes;
        an MCP tool gets a dict.
    capped: its results are cut at the protocol's limit; other tools limit theirs themselves.
    seconds: timeout of a call, where it is not the usual one.
    listed: the model is told of it. One that is not listed can still be called.
    on_page: it needs an open page; the model is told of it when a page is first open.
    acts: it may change the open page.
    lasting: it steers or starts later runs.
    schema: JSON Schema of the parameters, where `params` does not give it.
    server: the site that an MCP tool's arguments go to.
    free: an MCP tool that needs no yes of the person.
    """

    name: str
    description: str
    params: type[Params] | None
    run: Handler
    risk: Risk = Risk.READ
    capped: bool = True
    seconds: float | None = None
    listed: bool = True
    on_page: bool = False
    acts: bool = False
    lasting: bool = False
    source: ToolSource = ToolSource.DOMAIN
    schema: dict[str, Any] | None = None
    server: str = ""
    free: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of the parameters; {} if the tool describes no fields."""
        if self.schema:
            return self.schema
        return _params_schema(self.params) if self.params else {}

    def parse(self, param: str) -> ParsedParam:
        """Parse the raw parameter; raises `ToolError` with a hint that shows the form wanted."""
        if self.params is None and self.source is not ToolSource.MCP:
            return ParsedParam(param)
        properties = self.parameters.get("properties", {})
        required = frozenset(self.parameters.get("required", ()))
        first_error = ""
        # The first valid reading counts; the error shown is that of the likeliest reading.
        for tier, fields in _readings(param, list(properties), required):
            if self.params is None:
                if required <= fields.keys():  # the server itself checks the rest
                    arguments = {
                        name: _coerce(value, properties.get(name, {}))
                        for name, value in fields.items()
                    }
                    return ParsedParam(arguments, tier)
                continue
            try:
                return ParsedParam(self.params.model_validate(fields), tier)
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                first_error = first_error or f"{where}: {first['msg']}"
        raise ToolError(first_error or "it cannot be read", hint=f"Use {self.usage()}")

    def usage(self) -> str:
        """Show how the tool is called; optional fields have a question mark."""
        if not self.parameters:
            return f"<<TOOL:{self.name}:…>>"
        required = self.parameters.get("required", ())
        fields = ",".join(
            f'"{name}"{"" if name in required else "?"}:{_json_type(field)}'
            for name, field in self.parameters.get("properties", {}).items()
        )
        return f"<<TOOL:{self.name}:{{{fields}}}>>" if fields else f"<<TOOL:{self.name}>>"


_JSON_LIKE = ("{", "```", "“{", "[{")
_QUOTES = ('""', "''", "“”")


def _readings(
    param: str, names: Sequence[str], required: frozenset[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the possible readings of a parameter, the likeliest first, as (tier, fields)."""
    if not param:
        yield AS_WRITTEN, {}
        return
    if not param.startswith(_JSON_LIKE):
        if found := _find_fields(param, names, at_start=True):
            yield PICKED, found
        if names:  # a bare text is the first field
            yield AS_WRITTEN, {names[0]: _unquote(param)}
        return
    tier = AS_WRITTEN
    try:
        parsed = json.loads(param, strict=False)  # allows raw newlines inside strings
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        tier, parsed = LENIENT, repair_object(param)
    if parsed is not None:
        known = {name.casefold(): name for name in names}
        fields = {known.get(name.casefold(), name): value for name, value in parsed.items()}
        yield tier, fields
        missing = [name for name in names if name in required and name not in fields]
        unknown = [name for name in fields if name not in names]
        if len(missing) == len(unknown) == 1:  # the required field under a wrong name
            yield PICKED, {**fields, missing[0]: fields[unknown[0]]}
    yield PICKED, _find_fields(param, names)


def _find_fields(param: str, names: Sequence[str], *, at_start: bool = False) -> dict[str, str]:
    """Find `name: value` pairs for known fields, in any kind of brackets and quotes.

    With `at_start` the text must begin with a pair: words before it make it an ordinary sentence.
    """
    if not names:
        return {}
    name = "|".join(map(re.escape, names))
    if at_start and not re.match(rf"[\"'“‘<]?\b(?:{name})\b[\"'”’>]?\s*(?:[:=]|(?<=>)\S)", param):
        return {}
    head = rf"[\"'“‘<]?\b({name})\b[\"'”’>]?\s*[:=]?\s*"
    value = r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|“[^”]*”|[^,}<>\s][^,}<\n]*)"
    return {found: _unquote(text.strip()) for found, text in re.findall(head + value, param)}


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in _QUOTES else text


def _coerce(value: Any, field: dict[str, Any]) -> Any:
    """Parse a number, a boolean or a list that was written as text."""
    if not isinstance(value, str) or field.get("type", "string") == "string":
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


_JSON_TYPES = {"string": "text", "integer": "number", "boolean": "true|false", "array": "list"}


def _json_type(field: dict[str, Any]) -> str:
    """Name a field's type as `usage` shows it."""
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    kind = field.get("type", "value")
    return _JSON_TYPES.get(kind, kind) if isinstance(kind, str) else "value"


@cache
def _params_schema(params: type[Params]) -> dict[str, Any]:
    schema = _compact(params.model_json_schema(), {})
    schema.pop("description", None)  # the class's docstring; the tool has its own description
    return schema


def _compact(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Shorten a JSON Schema for a prompt: no titles, no empty defaults, no `null` alternatives.

    References are replaced by what they refer to in `definitions`.
    """
    definitions = schema.get("$defs", definitions)
    if "$ref" in schema:
        target = _compact(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return {key: value for key, value in target.items() if key != "description"}
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return _compact({**choices[0], **rest}, definitions)
    uninformative = {"default": (None, ""), "minLength": (1,)}
    compact = {
        key: value
        for key, value in schema.items()
        if key not in {"title", "$defs"} and value not in uninformative.get(key, ())
    }
    if "properties" in compact:
        compact["properties"] = {
            name: _compact(field, definitions) for name, field in compact["properties"].items()
        }
    if "items" in compact:
        compact["items"] = _compact(compact["items"], definitions)
    return compact


class Registry:
    """The tools of a run by name; later ones replace earlier ones of the same name.

    `off` maps the names of tools that are switched off to the reason.
    """

    def __init__(self, tools: Iterable[Tool] = (), off: Mapping[str, str] | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.off = off or {}

    def get(self, name: str) -> Tool | None:
        """Return the tool with exactly this name, or None."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def lines(self, *, on_page: bool = False) -> list[str]:
        """List usage and description of the page tools, or of all other tools."""
        listed = (tool for tool in self if tool.listed and tool.on_page is on_page)
        return [f"- `{tool.usage()}` {tool.description}".rstrip() for tool in listed]


_TEXT_PARAM = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""Parameters of a caller's own function, which takes one text."""


def tool_specs(tools: Registry, *, on_page: bool = False) -> list[dict[str, Any]]:
    """Describe the page tools, or all other tools, in the form of OpenAI's tool calling."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters or _TEXT_PARAM,
            },
        }
        for tool in tools
        if tool.listed and tool.on_page is on_page
    ]


def tool(
    name: str, description: str, risk: Risk = Risk.READ, **settings: Any
) -> Callable[[Callable[..., Awaitable[ToolResult | Finish]]], Tool]:
    """Decorate an async function as a tool; `settings` are further fields of the `Tool`.

    The function's parameters after the context become the tool's parameters, with their types,
    defaults and bounds (`Annotated[int, Field(ge=1)]`).
    """

    def decorate(function: Callable[..., Awaitable[ToolResult | Finish]]) -> Tool:
        params = _params_from_signature(function)

        async def run(context: ToolContext, arguments: Any) -> ToolResult | Finish:
            fields = {name: getattr(arguments, name) for name in params.model_fields}
            return await function(context, **fields)

        return Tool(name, description, params, run, risk, **settings)

    return decorate


def _params_from_signature(function: Callable[..., object]) -> type[Params]:
    """Build a `Params` class from a function's parameters after the first."""
    parameters = [*signature(function).parameters.values()][1:]
    # Annotations are strings that only resolve in the function's own module.
    annotated = SimpleNamespace(__annotations__={p.name: p.annotation for p in parameters})
    hints = get_type_hints(annotated, vars(sys.modules[function.__module__]), include_extras=True)
    fields: dict[str, Any] = {
        p.name: (hints[p.name], ... if p.default is Parameter.empty else p.default)
        for p in parameters
    }
    return create_model(function.__name__, __base__=Params, **fields)


def raw_tool(
    name: str,
    description: str,
    risk: Risk = Risk.READ,
    *,
    fields: dict[str, Any],
    **settings: Any,
) -> Callable[[Handler], Tool]:
    """Decorate a function as a tool that parses its raw parameter itself.

    `fields` are the fields for its schema: types, or (type, default).
    """
    definitions: dict[str, Any] = {
        field: type_ if isinstance(type_, tuple) else (type_, ...)
        for field, type_ in fields.items()
    }
    schema = _params_schema(create_model(name, __base__=Params, **definitions))
    return lambda run: Tool(name, description, None, run, risk, schema=schema, **settings)


def tools_from_functions(functions: Mapping[str, Callable[[str], Awaitable[Any]]]) -> list[Tool]:
    """Make tools of a caller's async functions, each of which takes one text.

    We do not know what they do, so each counts as an effect on the outside world.
    """

    async def call(
        function: Callable[[str], Awaitable[Any]], _: ToolContext, param: str
    ) -> ToolResult:
        return ToolResult(await function(param))

    return [
        Tool(
            name,
            (function.__doc__ or "").strip().split("\n")[0],
            None,
            partial(call, function),
            Risk.EXTERNAL,
        )
        for name, function in functions.items()
    ]
