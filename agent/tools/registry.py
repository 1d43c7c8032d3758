"""What a tool is, how its parameter is read, and the set of tools that a run has."""

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
    """What a call may change: nothing, our own store, or the world outside."""

    READ = "read"
    WRITE = "write"
    EXTERNAL = "external"


class ToolSource(StrEnum):
    """Where a tool comes from: our own work, other programs' servers, memory, or what runs are."""

    DOMAIN = "domain"
    MCP = "mcp"
    MEMORY = "memory"
    SYSTEM = "system"


class Params(BaseModel):
    """Parameters of a tool; a bare string fills the first field."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


NonEmpty = Annotated[str, Field(min_length=1)]
"""A text that is not empty."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gives: JSON data for the first line, and web text below it.

    `label` names where the web text came from. `passages`, `results` and `snapshot` are what it
    shows, as data: see `agent.types.Observation`.
    `blobs` are kept with the run (name to bytes), such as screenshots; `pictures` (JPEG) are kept
    and shown to the model too.
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
"""The second half of a call, run in tag order when all calls of a step are done: what it numbers
(sources) then does not depend on which call was faster."""
Handler = Callable[["ToolContext", Any], Awaitable[ToolResult | Finish]]
AS_WRITTEN, LENIENT, PICKED = "", "lenient", "fields"
"""How a parameter was read: as it stands, as the JSON that was meant, by the fields named in it."""


class Reading(NamedTuple):
    """A parameter that was read: the arguments, and how they were come by."""

    arguments: Any
    tier: str = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; `capped` results are cut at the protocol's cap, others hold budgets of their own.

    `params` is what it takes; `seconds` what a call may take where that is not what every call may.
    One that is not `listed` can be called but is not told of, since another does the same and more;
    one `on_page` needs an open page and is told of with the first, and one that `acts` changes it.
    What a `lasting` one does steers what comes later, or sets it off.

    A tool without `params` is given the raw parameter, of which `schema` (JSON Schema) tells the
    fields. That of an MCP server is given a dict of them; `server` is the site that they go to, and
    one that is `free` needs no yes.
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
        """The JSON Schema of what it takes; {} of one that tells no fields."""
        return self.schema or (_schema_of(self.params) if self.params else {})

    def read(self, param: str) -> Reading:
        """Read the raw parameter; raises `ToolError` that shows the form wanted."""
        if self.params is None and self.source is not ToolSource.MCP:
            return Reading(param)
        fields = self.parameters.get("properties", {})
        required = frozenset(self.parameters.get("required", ()))
        why = ""
        # The first reading that is complete counts; the error told is that of the likeliest.
        for tier, given in _readings(param, list(fields), required):
            if self.params is None:
                if required <= given.keys():  # the server itself checks the rest
                    typed = {name: _typed(of, fields.get(name, {})) for name, of in given.items()}
                    return Reading(typed, tier)
                continue
            try:
                return Reading(self.params.model_validate(given), tier)
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                why = why or f"{where}: {first['msg']}"
        raise ToolError(why or "it cannot be read", hint=f"Use {self.usage()}")

    def usage(self) -> str:
        """Show how the tool is called, optional fields with a question mark."""
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
    """Yield what a parameter may mean, the likeliest first: (tier, fields)."""
    if not param:
        yield AS_WRITTEN, {}
        return
    if not param.startswith(_JSON_LIKE):
        if named := _named_values(param, names, begins=True):
            yield PICKED, named
        if names:  # a bare text is the first field
            yield AS_WRITTEN, {names[0]: _unquoted(param)}
        return
    try:
        read = json.loads(param, strict=False)  # raw newlines inside its strings are forgiven
    except ValueError:
        read = None
    tier = AS_WRITTEN if isinstance(read, dict) else LENIENT
    read = read if isinstance(read, dict) else repair_object(param)
    if read is not None:
        known = {name.casefold(): name for name in names}
        fields = {known.get(name.casefold(), name): value for name, value in read.items()}
        yield tier, fields
        missing = [name for name in names if name in required and name not in fields]
        unknown = [name for name in fields if name not in names]
        if len(missing) == len(unknown) == 1:  # the one needed under another name
            yield PICKED, {**fields, missing[0]: fields[unknown[0]]}
    yield PICKED, _named_values(param, names)


def _named_values(param: str, names: Sequence[str], *, begins: bool = False) -> dict[str, str]:
    """Find `name: value` for each field, in whatever brackets and quotes it stands.

    `begins` asks that the text begins so: words before it make it an ordinary sentence.
    """
    if not names:
        return {}
    either = "|".join(map(re.escape, names))
    if begins and not re.match(rf"[\"'“‘<]?\b(?:{either})\b[\"'”’>]?\s*(?:[:=]|(?<=>)\S)", param):
        return {}
    head = rf"[\"'“‘<]?\b({either})\b[\"'”’>]?\s*[:=]?\s*"
    value = r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|“[^”]*”|[^,}<>\s][^,}<\n]*)"
    return {name: _unquoted(text.strip()) for name, text in re.findall(head + value, param)}


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in _QUOTES else text


def _typed(value: Any, field: dict[str, Any]) -> Any:
    """Read a number, a switch or a list that was written as a text."""
    if not isinstance(value, str) or field.get("type", "string") == "string":
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


_JSON_TYPES = {"string": "text", "integer": "number", "boolean": "true|false", "array": "list"}


def _json_type(field: dict[str, Any]) -> str:
    """Write a field's type as `usage` does."""
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    kind = field.get("type", "value")
    return _JSON_TYPES.get(kind, kind) if isinstance(kind, str) else "value"


@cache
def _schema_of(params: type[Params]) -> dict[str, Any]:
    schema = _slim(params.model_json_schema(), {})
    schema.pop("description", None)  # of the class; the tool has one of its own
    return schema


def _slim(schema: dict[str, Any], models: dict[str, Any]) -> dict[str, Any]:
    """Leave out what tells a model nothing: titles, empty defaults, that what is asked for is some.

    A model within it stands where it is used; `models` are those there are, by name.
    """
    models = schema.get("$defs", models)
    if "$ref" in schema:
        within = _slim(models[schema["$ref"].rpartition("/")[2]], models)
        return {key: value for key, value in within.items() if key != "description"}
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return _slim({**choices[0], **rest}, models)
    empty = {"default": (None, ""), "minLength": (1,)}
    kept = {
        key: value
        for key, value in schema.items()
        if key not in {"title", "$defs"} and not (key in empty and value in empty[key])
    }
    if "properties" in kept:
        kept["properties"] = {name: _slim(of, models) for name, of in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _slim(kept["items"], models)
    return kept


class Registry:
    """The tools of a run by name; later ones replace earlier ones of the same name.

    `off` says of tools that are not among them why.
    """

    def __init__(self, tools: Iterable[Tool] = (), off: Mapping[str, str] | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.off = off or {}

    def get(self, name: str) -> Tool | None:
        """Find a tool by its exact name."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def lines(self, *, on_page: bool = False) -> list[str]:
        """Write how each tool is called and what it does: those of a page, or the others."""
        listed = (tool for tool in self if tool.listed and tool.on_page is on_page)
        return [f"- `{tool.usage()}` {tool.description}".rstrip() for tool in listed]


_TEXT_PARAM = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""Of a caller's own function, which takes one text."""


def tool_specs(tools: Registry, *, on_page: bool = False) -> list[dict[str, Any]]:
    """Describe each tool by name, purpose and JSON Schema: those of a page, or the others."""
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
    """Make a tool of an async function; `settings` are further fields of the `Tool`.

    What the function takes after the context is what a call may hold: names, types, defaults and
    bounds (`Annotated[int, Field(ge=1)]`) stand in its signature alone.
    """

    def made(function: Callable[..., Awaitable[ToolResult | Finish]]) -> Tool:
        params = _params_of(function)

        async def run(context: ToolContext, given: Any) -> ToolResult | Finish:
            return await function(context, **{n: getattr(given, n) for n in params.model_fields})

        return Tool(name, description, params, run, risk, **settings)

    return made


def _params_of(function: Callable[..., object]) -> type[Params]:
    """Read what a function takes after its first parameter as parameters of a tool."""
    taken = [*signature(function).parameters.values()][1:]
    # Annotations are texts, and belong to the function's module: the class would not find them.
    written = SimpleNamespace(__annotations__={each.name: each.annotation for each in taken})
    hints = get_type_hints(written, vars(sys.modules[function.__module__]), include_extras=True)
    fields: dict[str, Any] = {
        each.name: (hints[each.name], ... if each.default is Parameter.empty else each.default)
        for each in taken
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
    """Make a tool of a function that reads its parameter by itself.

    `fields` are those it reads: types, or (type, default).
    """
    taken: dict[str, Any] = {
        n: of if isinstance(of, tuple) else (of, ...) for n, of in fields.items()
    }
    schema = _schema_of(create_model(name, __base__=Params, **taken))
    return lambda run: Tool(name, description, None, run, risk, schema=schema, **settings)


def from_functions(functions: Mapping[str, Callable[[str], Awaitable[Any]]]) -> list[Tool]:
    """Make tools of a caller's async functions, each of which takes one text."""

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
