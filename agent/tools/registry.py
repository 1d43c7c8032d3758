"""What a tool is, and the set of those that a run has."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agent.errors import ToolError
from agent.protocol.replies import repair_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.tools.context import ToolContext
    from agent.types import Passage
    from browser.types import SearchResult


AS_WRITTEN, LENIENT, PICKED = "", "lenient", "fields"
"""How a parameter was read: as it stands, as the JSON that was meant, by the fields named in it."""
_JSON_LIKE = ("{", "```", "“{", "[{")


@dataclass(frozen=True, slots=True)
class Form:
    """What a tool takes: its fields in order, and those it must have."""

    names: tuple[str, ...]
    required: frozenset[str]

    @property
    def first(self) -> str | None:
        """The field that a bare parameter fills."""
        return next(iter(self.names), None)


def readings(param: str, form: Form) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give what a parameter may mean, the likeliest first: (tier, fields)."""
    if not param:
        yield AS_WRITTEN, {}
        return
    if not param.startswith(_JSON_LIKE):
        if named := picked_out(param, form.names, begins=True):
            yield PICKED, named
        yield from bare(param, form)
        return
    strict = _strict_object(param)
    mended = repair_object(param) if strict is None else None
    for tier, read in ((AS_WRITTEN, strict), (LENIENT, mended)):
        if read is not None:
            fields = _in_case(read, form)
            yield tier, fields
            yield PICKED, renamed(fields, form)
    yield PICKED, picked_out(param, form.names)


def bare(param: str, form: Form) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read a parameter as the value of the tool's first field."""
    if form.first:
        yield AS_WRITTEN, {form.first: _unquoted(param)}


def _in_case(fields: Mapping[str, Any], form: Form) -> dict[str, Any]:
    """Write names that are right but for their case as the tool has them."""
    known = {name.casefold(): name for name in form.names}
    return {known.get(name.casefold(), name): value for name, value in fields.items()}


def renamed(fields: Mapping[str, Any], form: Form) -> dict[str, Any]:
    """Put the one value of an unknown name into the one field that is needed and missing."""
    missing = [name for name in form.names if name in form.required and name not in fields]
    unknown = [name for name in fields if name not in form.names]
    if len(missing) != 1 or len(unknown) != 1:
        return dict(fields)
    return {**fields, missing[0]: fields[unknown[0]]}


def picked_out(param: str, names: Sequence[str], *, begins: bool = False) -> dict[str, str]:
    """Find `name: value` for each field, in whatever brackets and quotes it stands.

    `begins` asks that the text begins so: words before it make it an ordinary sentence.
    """
    if not names:
        return {}
    either = "|".join(map(re.escape, names))
    head = rf"[\"'“‘<]?\b({either})\b[\"'”’>]?\s*[:=]?\s*"
    if begins and not re.match(rf"[\"'“‘<]?\b(?:{either})\b[\"'”’>]?\s*(?:[:=]|(?<=>)\S)", param):
        return {}
    value = r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|“[^”]*”|[^,}<>\s][^,}<\n]*)"
    found = re.findall(head + value, param)
    return {name: _unquoted(text.strip()) for name, text in found}


def _strict_object(param: str) -> dict[str, Any] | None:
    """Read a JSON object; raw newlines inside its strings are forgiven."""
    try:
        value = json.loads(param, strict=False)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _unquoted(param: str) -> str:
    quoted = len(param) > 1 and (param[0] + param[-1]) in ('""', "''", "“”")
    return param[1:-1] if quoted else param


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


class NoParams(Params):
    """Nothing."""


Needed = Annotated[str, Field(min_length=1)]
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


@dataclass(frozen=True, slots=True)
class Reading:
    """A parameter that was read: the arguments, and how they were come by."""

    arguments: Any
    tier: str = AS_WRITTEN


Finish = Callable[[], ToolResult]
"""The second half of a call, run in tag order when all calls of a step are done: what it numbers
(sources) then does not depend on which call was faster."""
Handler = Callable[["ToolContext", Any], Awaitable[ToolResult | Finish]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; `capped` results are cut at the protocol's cap, others hold budgets of their own.

    `seconds` is what a call may take where that is not what every call may; one that is not
    `listed` can be called but is not told of, since another does the same and more; one `on_page`
    is told of with the first page that is opened, and one that `acts` changes it. What a `lasting`
    one does steers what comes later, or sets it off. A tool without `params` gets the raw
    parameter; `shape` says which fields it reads from it.

    Of a tool of an MCP server the `schema` (JSON Schema) stands in place of params, its arguments
    are a dict, `server` is the site that they go to, and one that is `free` needs no yes.
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
    shape: type[Params] | None = None
    source: ToolSource = ToolSource.DOMAIN
    schema: dict[str, Any] | None = None
    server: str = ""
    free: bool = False

    def read(self, param: str) -> Reading:
        """Read the raw parameter; raises `ToolError` that shows the form wanted."""
        if self.params is None and self.schema is None:
            return Reading(param)
        form = self._form()
        ways = [*readings(param, form)]
        failure: ValidationError | None = None
        if self.params is None:
            return self._as_schema(ways, form)
        for tier, fields in ways:
            try:
                return Reading(self.params.model_validate(fields), tier)
            except ValidationError as error:
                failure = failure or error
        raise self._unreadable(failure)

    def _as_schema(self, ways: list[tuple[str, dict[str, Any]]], form: Form) -> Reading:
        """Take the first reading that has what is required; the server itself checks the rest."""
        fields = self.parameters.get("properties", {})
        for tier, given in ways:
            if form.required <= given.keys():
                typed = {name: _typed(value, fields.get(name, {})) for name, value in given.items()}
                return Reading(typed, tier)
        raise self._unreadable(None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of what it takes; {} of one that takes the raw parameter."""
        params = self.params or self.shape
        return self.schema or (_schema_of(params) if params else {})

    def _form(self) -> Form:
        taken = self.parameters
        return Form(tuple(taken.get("properties", ())), frozenset(taken.get("required", ())))

    def _unreadable(self, failure: ValidationError | None) -> ToolError:
        if failure is None:
            return ToolError("it cannot be read", hint=f"Use {self.usage()}")
        first = failure.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return ToolError(f"{where}: {first['msg']}", hint=f"Use {self.usage()}")

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

    def __iter__(self) -> Any:
        return iter(self._tools.values())

    def lines(self, *, on_page: bool = False) -> list[str]:
        """Tell how each tool is called and what it does: those of a page, or the others."""
        told = (tool for tool in self if tool.listed and tool.on_page is on_page)
        return [f"- `{tool.usage()}` {tool.description}".rstrip() for tool in told]


def tool(
    name: str, description: str, risk: Risk = Risk.READ, **settings: Any
) -> Callable[[Callable[..., Awaitable[ToolResult | Finish]]], Tool]:
    """Make a tool of an async function; `settings` are further fields of the `Tool`.

    What the function takes after the context is what a call may hold: names, types, defaults and
    bounds (`Annotated[int, Field(ge=1)]`) stand in its signature alone.
    """

    def made(function: Callable[..., Awaitable[ToolResult | Finish]]) -> Tool:
        params = params_of(function)

        async def run(context: ToolContext, given: Any) -> ToolResult | Finish:
            return await function(context, **{n: getattr(given, n) for n in params.model_fields})

        return Tool(name, description, params, run, risk, **settings)

    return made


def raw_tool(
    name: str, description: str, risk: Risk = Risk.READ, **fields: Any
) -> Callable[[Handler], Tool]:
    """Make a tool of a function that reads its parameter by itself; `fields` are those it reads."""
    taken: dict[str, Any] = {
        n: of if isinstance(of, tuple) else (of, ...) for n, of in fields.items()
    }
    shape = create_model(name, __base__=Params, **taken)
    return lambda run: Tool(name, description, None, run, risk, shape=shape)


def params_of(function: Callable[..., object]) -> type[Params]:
    """Read what a function takes after its first parameter as parameters of a tool."""
    taken = [*signature(function).parameters.values()][1:]
    written = SimpleNamespace(__annotations__={each.name: each.annotation for each in taken})
    hints = get_type_hints(written, vars(sys.modules[function.__module__]), include_extras=True)
    fields: dict[str, Any] = {
        each.name: (hints[each.name], ... if each.default is Parameter.empty else each.default)
        for each in taken
    }
    return create_model(function.__name__, __base__=Params, **fields)


def from_functions(functions: Mapping[str, Callable[[str], Awaitable[Any]]]) -> list[Tool]:
    """Make tools of a caller's async functions."""
    return [_from_function(name, function) for name, function in functions.items()]


def _from_function(name: str, function: Callable[[str], Awaitable[Any]]) -> Tool:
    async def run(_: ToolContext, param: str) -> ToolResult:
        return ToolResult(await function(param))

    described = (function.__doc__ or "").strip().split("\n")[0]
    return Tool(name, described, None, run, Risk.EXTERNAL)


_JSON_TYPES = {"string": "text", "integer": "number", "boolean": "true|false", "array": "list"}


def _json_type(field: dict[str, Any]) -> str:
    """Write a field's type as `usage` does."""
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    kind = field.get("type", "value")
    return _JSON_TYPES.get(kind, kind) if isinstance(kind, str) else "value"


def _typed(value: Any, field: dict[str, Any]) -> Any:
    """Read a number, a switch or a list that was written as a text."""
    if not isinstance(value, str) or field.get("type", "string") == "string":
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


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


@cache
def _schema_of(params: type[Params]) -> dict[str, Any]:
    schema = _slim(params.model_json_schema())
    schema.pop("description", None)  # of the class; the tool has one of its own
    return schema


def _slim(schema: dict[str, Any], models: dict[str, Any] | None = None) -> dict[str, Any]:
    """Leave out what tells a model nothing: titles, empty defaults, that what is asked for is some.

    A model within it stands where it is used; `models` are those there are, by name.
    """
    models = schema.get("$defs", models or {})
    if "$ref" in schema:
        within = _slim(models[schema["$ref"].rpartition("/")[2]], models)
        return {key: value for key, value in within.items() if key != "description"}
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return _slim({**choices[0], **rest}, models)
    kept = {key: value for key, value in schema.items() if key not in {"title", "$defs"}}
    if kept.get("default") in (None, ""):
        kept.pop("default", None)
    if kept.get("minLength") == 1:
        del kept["minLength"]
    if "properties" in kept:
        kept["properties"] = {name: _slim(of, models) for name, of in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _slim(kept["items"], models)
    return kept
