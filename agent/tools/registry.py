"""Defines tools, parses their parameters, and contains the registry of a run's tools."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from inspect import (
    Parameter,
    getdoc,
    isawaitable,
    iscoroutinefunction,
    signature,
    unwrap,
)
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticUserError,
    ValidationError,
    create_model,
)
from pydantic_core import to_jsonable_python

from agent.errors import ToolError, UsageError
from agent.guard.outgoing import Sent, Sink
from agent.guard.provenance import FUNCTION
from agent.protocol.forms import CALL_TOOL_SPEC
from agent.protocol.loose_json import repair_object
from agent.types import ToolTrait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic_core import ErrorDetails

    from agent.options import ToolSource
    from agent.tools.context import ToolContext
    from agent.types import Passage, ToolCall
    from browser.types import SearchResult


class Risk(StrEnum):
    """The effect of a call: none, on the agent's own data, or on the outside world (an action)."""

    READ = "read"
    WRITE = "write"
    EXTERNAL = "external"


CONFIRMS: Final = frozenset({ToolTrait.CONFIRMS})
"""The traits of a tool whose result only confirms the request."""
LOOKS: Final = frozenset({ToolTrait.LOOKS})
"""The traits of a tool that only shows more of a page."""
SHOWS_PAGE: Final = frozenset({ToolTrait.SHOWS_PAGE})
"""The traits of a tool whose result shows the open page."""


class Group(StrEnum):
    """Groups of tools that a prompt lists only by name until needed; the value is their purpose.

    Listing all their signatures would take up half of every request, and few questions need them.
    """

    BROWSER = "browser, for content that READ does not show"
    HANDS = "rarely needed"
    SITE = "many pages of a site"
    COMPUTING = "computing with figures read"
    MEMORY = "memory between runs"
    GOALS = "the user's goals"
    SKILLS = "instructions for later runs"
    WIKI = "the user's wiki"


class Params(BaseModel):
    """The parameters of a tool; plain text in a call fills the first field."""

    # Built on first use, because a run calls only a few of the fifty tools.
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, defer_build=True)


NonEmpty = Annotated[str, Field(min_length=1)]
"""A non-empty string."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: JSON data for the first line, and web text below it.

    `label` is the origin of the web text. `passages`, `results` and `snapshot` are the same content
    as data; see `agent.types.Observation`. `blobs` (name, bytes) are stored with the run;
    `pictures` (JPEG or PNG) are stored and also shown to the model.
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
"""The second half of a call. It runs in tag order after all calls of a step, because source numbers
must not depend on the speed of calls."""
Handler = Callable[["ToolContext", Any], Awaitable[ToolResult | Finish]]
AS_WRITTEN, LENIENT, PICKED = "", "lenient", "fields"
"""How a parameter was parsed: exactly, as repaired JSON, or by its field names."""
Sends = Callable[["ToolContext", Any], Iterable[Sent]]
"""Declares the text that a call with these arguments sends, and its recipients."""


def sends_nothing(_context: ToolContext, _arguments: Any) -> Iterable[Sent]:
    """Declare that nothing is sent."""
    return ()


def sends_address(_context: ToolContext, arguments: Any) -> Iterable[Sent]:
    """Declare that the call requests `url`, if it has one."""
    # The reader separately checks which local files may be read.
    if arguments.url and not arguments.url.startswith("file:"):
        yield Sent(Sink.ADDRESS, arguments.url)


class ParsedParam(NamedTuple):
    """A parsed parameter; `tier` is the interpretation that succeeded."""

    arguments: Any
    tier: str = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model can call.

    A tool declares the strings that it sends, and whether it performs actions. A tool without a
    declaration is assumed to send all strings in its arguments, and to perform actions.

    - `params`: its parameters. A tool without `params` gets the raw text; an MCP tool gets a dict,
      with fields described by `schema`.
    - `raw`: whether the tool gets the raw text although `params` describes its fields.
    - `capped`: whether results are cut at the protocol's limit; other tools limit their results
      themselves.
    - `seconds`: the timeout of a call, if not the default.
    - `risk`: the effects that a call may have. An action on an open page needs approval where the
      user is logged in, and is not repeated if its outcome was not observed.
    - `sends`: the strings that a call sends and their recipients; None means all strings in the
      arguments.
    - `listed`: whether prompts list the tool. Unlisted tools can still be called.
    - `group`: the group of a tool that prompts list only by name; its parameters are shown when a
      tool of the group is first called.
    - `on_page`: whether the tool needs an open page; prompts list it only once a page is open.
    - `opens_page`: whether the tool opens a page.
    - `page_without_url`: whether the tool uses the open page if `url` is omitted.
    - `lasting`: whether the tool influences or starts later runs.
    - `allowed_task`: whether `--allow-tasks` also permits calls after memories were recalled, since
      they neither start a run nor visit a page.
    - `schema`: the JSON Schema of the parameters, if not from `params`.
    - `server`: the MCP server that receives the arguments, as a site.
    - `always_allowed`: whether the user always allows this MCP tool.
    - `is_source`: whether the result becomes a source of the run, if the tool does not register
      one.
    - `verb`: how a request for approval describes the action; `{field}` stands for an argument.
    - `approval`: the kind of action that permits calls in `--yes ACT@SITE`.
    - `may_submit`: whether a call may submit a form, which needs separate approval.
    - `entered_field`: the parameter that contains the value that a call enters into the page.
    - `takes_secret`: whether that value may be the name of a stored secret.
    - `verifies`: whether a successful call has checked its own effect, so that a repetition of the
      session does not compare what the page shows afterwards.
    - `activity`: what the run is doing during a call, as progress views show it ("searching"); ""
      shows the tool's name.
    - `traits`: properties of the results. A tool that does not change anything also has `READS`; a
      tool that uses or opens a page has `ON_PAGE`.
    - `playbook`: the parameter that describes a call in a run's playbook; "" omits the tool's
      calls, since refs are meaningless later, and typed text may be a secret.
    """

    name: str
    description: str
    params: type[Params] | None
    run: Handler
    risk: Risk = Risk.EXTERNAL
    sends: Sends | None = None
    raw: bool = False
    capped: bool = True
    seconds: float | None = None
    listed: bool = True
    group: Group | None = None
    on_page: bool = False
    opens_page: bool = False
    page_without_url: bool = False
    lasting: bool = False
    allowed_task: bool = False
    source: ToolSource = "domain"
    schema: dict[str, Any] | None = None
    server: str = ""
    always_allowed: bool = False
    is_source: bool = False
    verb: str = ""
    approval: str = "click"
    may_submit: bool = False
    entered_field: str = ""
    takes_secret: bool = False
    verifies: bool = False
    activity: str = ""
    traits: frozenset[ToolTrait] = frozenset()
    playbook: str = ""

    def describe(self, call: ToolCall) -> dict[str, Any]:
        """Return the `Observation` fields that this tool sets for a call's result."""
        traits = set(self.traits)
        if self.risk is Risk.READ:
            traits.add(ToolTrait.READS)
        if self.on_page or self.opens_page:
            traits.add(ToolTrait.ON_PAGE)
        request = ""
        if self.playbook:
            with suppress(ToolError):
                asked = getattr(self.parse(call.param).arguments, self.playbook)
                request = " ".join(asked.split())
        return {"capped": self.capped, "traits": frozenset(traits), "request": request}

    @property
    def acts(self) -> bool:
        """Whether the tool may change anything outside the agent, such as the open page."""
        return self.risk is Risk.EXTERNAL

    @property
    def site(self) -> str:
        """The recipient of the arguments, as a site: the tool's server, or the tool itself."""
        return self.server or FUNCTION + self.name

    def sent(self, context: ToolContext, arguments: Any) -> Iterable[Sent]:
        """Return the strings that a call sends."""
        if self.sends is not None:
            return self.sends(context, arguments)
        fields = arguments.model_dump() if isinstance(arguments, BaseModel) else arguments
        text = " ".join(_argument_strings(fields, self.parameters))
        return [Sent(Sink.TOOL, text)] if text else []

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the parameters; {} if the tool does not describe its fields."""
        if self.schema:
            return self.schema
        return _params_schema(self.params) if self.params else {}

    def parse(self, param: str) -> ParsedParam:
        """Parse the raw parameter; raises `ToolError` with a hint that shows the expected form."""
        if self.raw or (self.params is None and self.source != "mcp"):
            return ParsedParam(param)
        known = self._fields() or []
        required = frozenset(name for name, _, needed in known if needed)
        first_error = ""
        # The first valid interpretation is used; the error comes from the most likely one.
        for tier, fields in _candidate_parses(param, [name for name, *_ in known], required):
            if self.params is None:
                if required <= fields.keys():  # the server checks the rest
                    properties = self.parameters.get("properties", {})
                    arguments = {
                        name: _coerce(value, properties.get(name, {}))
                        for name, value in fields.items()
                    }
                    return ParsedParam(arguments, tier)
                continue
            try:
                return ParsedParam(self.params.model_validate(fields), tier)
            except ValidationError as error:
                first_error = first_error or _explain_error(error.errors()[0])
        raise ToolError(first_error or "the parameter cannot be parsed", hint=f"Use {self.usage()}")

    def usage(self) -> str:
        """Return an example call; optional fields are marked with a question mark."""
        fields = self._fields()
        if fields is None:
            return f"<<TOOL:{self.name}:…>>"
        shown = ",".join(f'"{name}"{"" if needed else "?"}:{kind}' for name, kind, needed in fields)
        return f"<<TOOL:{self.name}:{{{shown}}}>>" if fields else f"<<TOOL:{self.name}>>"

    def signature(self, *, short: bool = False) -> str:
        """Return the name and fields: `FIND(text, limit?: number)`; `FIND(text, …)` if `short`."""
        fields = self._fields()
        if fields is None:
            return f"{self.name}(text)"
        shown: list[str] = []
        for name, kind, needed in fields:
            if needed or not short:
                mark = "" if needed else "?"
                shown.append(
                    f"{name}{mark}" if kind == "text" or short else f"{name}{mark}: {kind}"
                )
            elif "…" not in shown:
                shown.append("…")
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    def _fields(self) -> list[tuple[str, str, bool]] | None:
        """List the fields: name, type as shown in prompts, and whether the field is required.

        Returns None if the tool does not describe its fields.
        """
        if self.params is not None and not self.schema:
            fields = [
                (name, _python_type(field.annotation), field.is_required())
                for name, field in self.params.model_fields.items()
            ]
            # A JSON Schema takes milliseconds to build, and a run only lists most of its tools.
            if all(kind for _, kind, _ in fields):
                return fields
        if not self.parameters:
            return None
        required = self.parameters.get("required", ())
        properties = self.parameters.get("properties", {})
        return [(name, _json_type(field), name in required) for name, field in properties.items()]


def _explain_error(error: ErrorDetails) -> str:
    """Explain why a field is invalid."""
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f'"{where}" is missing.'
    return f"{where}: {error['msg']}"


def _argument_strings(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Yield all strings in a tool's arguments, and the names of fields missing from its schema.

    Values from the schema itself (defaults, enum values) are omitted.
    """
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name, item in value.items():
            if name not in known:
                yield str(name)
            yield from _argument_strings(item, known.get(name, {}))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _argument_strings(item, schema.get("items", {}))
    elif not isinstance(value, bool) and value is not None and value != schema.get("default"):
        yield str(value)


_JSON_PREFIXES = ("{", "```", "“{", "[{")
_QUOTE_PAIRS = ('""', "''", "“”")


def _candidate_parses(
    param: str, names: Sequence[str], required: frozenset[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the possible interpretations of a parameter, most likely first, as (tier, fields)."""
    if not param:
        yield AS_WRITTEN, {}
        return
    if not param.startswith(_JSON_PREFIXES):
        if found := _find_fields(param, names, at_start=True):
            yield PICKED, found
        if names:  # plain text fills the first field
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
        if len(missing) == len(unknown) == 1:  # the required field has an incorrect name
            yield PICKED, {**fields, missing[0]: fields[unknown[0]]}
    yield PICKED, _find_fields(param, names)


def _find_fields(param: str, names: Sequence[str], *, at_start: bool = False) -> dict[str, str]:
    """Find `name: value` pairs for known fields, in any kind of brackets and quotes.

    With `at_start`, the text must begin with a pair, since otherwise it is an ordinary sentence.
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
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in _QUOTE_PAIRS else text


def _coerce(value: Any, field: dict[str, Any]) -> Any:
    """Parse a number, a boolean or a list written as a string."""
    if not isinstance(value, str) or field.get("type", "string") == "string":
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


_JSON_TYPES = {"string": "text", "integer": "number", "boolean": "true|false", "array": "list"}


def _json_type(field: dict[str, Any]) -> str:
    """Return a field's type as displayed by `usage`."""
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    kind = field.get("type", "value")
    return _JSON_TYPES.get(kind, kind) if isinstance(kind, str) else "value"


_PYTHON_TYPES = {str: "text", int: "number", float: "number", bool: "true|false", list: "list"}


def _python_type(annotation: Any) -> str:
    """Return the name that `_json_type` uses for a type; "" if only the JSON Schema reveals it."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _python_type(args[0])
    if origin is Literal and len(args) > 1:
        return "|".join(map(str, args))
    if origin in (Union, UnionType):
        others = [choice for choice in args if choice is not NoneType]
        return _python_type(others[0]) if len(others) == 1 else ""
    return _PYTHON_TYPES.get(origin or annotation, "")


@cache
def _params_schema(params: type[Params]) -> dict[str, Any]:
    schema = compact_schema(params.model_json_schema())
    schema.pop("description", None)  # the class's docstring; the tool has a separate description
    return schema


def compact_schema(
    schema: dict[str, Any], definitions: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Shorten a JSON Schema for a prompt: no titles, no empty defaults, no `null` alternatives.

    References are replaced with their `definitions`.
    """
    definitions = schema.get("$defs", definitions or {})
    if "$ref" in schema:
        target = compact_schema(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return {key: value for key, value in target.items() if key != "description"}
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return compact_schema({**choices[0], **rest}, definitions)
    uninformative = {"default": (None, ""), "minLength": (1,)}
    compact = {
        key: value
        for key, value in schema.items()
        if key not in {"title", "$defs"} and value not in uninformative.get(key, ())
    }
    if "properties" in compact:
        compact["properties"] = {
            name: compact_schema(field, definitions)
            for name, field in compact["properties"].items()
        }
    if "items" in compact:
        compact["items"] = compact_schema(compact["items"], definitions)
    return compact


class Registry:
    """A run's tools by name; a later tool replaces an earlier one with the same name.

    `off` maps the names of disabled tools to the reasons.
    """

    def __init__(self, tools: Iterable[Tool] = (), off: Mapping[str, str] | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.off = off or {}

    def get(self, name: str) -> Tool | None:
        """Return the tool with exactly this name, or None."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def lines(self) -> list[str]:
        """Describe the tools for a prompt by signature, but list grouped tools only by name."""
        return [*map(_line, self.shown()), *self._names(on_page=False)]

    def names(self) -> list[str]:
        """List the tools in each group that does not need an open page, one line per group."""
        return self._names(on_page=False)

    def shown(self) -> list[Tool]:
        """Return the tools that a prompt describes in full from the start."""
        return [tool for tool in self if tool.listed and tool.group is None]

    def groups(self) -> dict[str, dict[str, list[str]]]:
        """Return each group's tools by name, and the lines that describe them with signatures.

        The lines for the browser tools also name tools that are rarely needed on a page.
        """
        groups: dict[str, dict[str, list[str]]] = {}
        for tool in self:
            if tool.group is not None:
                row = groups.setdefault(tool.group.name, {"tools": [], "lines": []})
                row["tools"].append(tool.name)
                is_described = tool.opens_page  # the prompt already shows its only field
                row["lines"] += [_line(tool)] if tool.listed and not is_described else []
        if Group.BROWSER.name in groups:
            groups[Group.BROWSER.name]["lines"] += self._names(on_page=True)
        return groups

    def _names(self, *, on_page: bool) -> list[str]:
        lines = []
        for group in Group:
            tools = [tool for tool in self if tool.listed and tool.group is group]
            if group is Group.BROWSER:  # the others are described once a page is open
                tools = [tool for tool in tools if tool.opens_page]
            if tools and (group is Group.HANDS) is on_page:
                names = ", ".join(tool.signature(short=True) for tool in tools)
                lines.append(f"- {group}: {names}")
        return lines


def _line(tool: Tool) -> str:
    return f"- `{tool.signature()}` {tool.description}".rstrip()


_TEXT_PARAM_SCHEMA = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""The parameters for a caller's function that takes one string."""


def tool_specs(tools: Registry) -> list[dict[str, Any]]:
    """Describe the tools in OpenAI's tool-calling format.

    Grouped tools are called through a single function, so that the tool list at the start of each
    request stays the same throughout the run.
    """
    specs = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters or _TEXT_PARAM_SCHEMA,
            },
        }
        for tool in tools.shown()
    ]
    return [*specs, CALL_TOOL_SPEC] if tools.groups() else specs


def tool(
    name: str, description: str, risk: Risk = Risk.EXTERNAL, **settings: Any
) -> Callable[[Callable[..., Awaitable[ToolResult | Finish]]], Tool]:
    """Decorate an async function as a tool; `settings` are additional fields of the `Tool`.

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


reading_tool = partial(tool, risk=Risk.READ)
"""Decorates a tool that does not change anything; it must still declare what it sends."""


def _params_from_signature(function: Callable[..., object]) -> type[Params]:
    """Build a `Params` class from a function's parameters, except the first."""
    parameters = [*signature(function).parameters.values()][1:]
    # Annotations are strings that can be resolved only in the function's module.
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
    risk: Risk = Risk.EXTERNAL,
    *,
    fields: dict[str, Any],
    **settings: Any,
) -> Callable[[Handler], Tool]:
    """Decorate a function as a tool that parses its raw parameter itself.

    `fields` contains the schema's fields, each as a type or as (type, default).
    """
    definitions: dict[str, Any] = {
        field: type_ if isinstance(type_, tuple) else (type_, ...)
        for field, type_ in fields.items()
    }
    params = create_model(name, __base__=Params, **definitions)
    return lambda run: Tool(name, description, params, run, risk, raw=True, **settings)


def tools_from_functions(functions: Mapping[str, Callable[..., Any]]) -> list[Tool]:
    """Create tools from a caller's functions, async or not.

    Their parameters and docstrings describe them to the model. They may return any JSON value, or
    anything that pydantic converts to one. Since they do not declare anything, they are assumed to
    send their input and to perform actions.
    """
    return [_tool_from_function(name, function) for name, function in functions.items()]


def _tool_from_function(name: str, function: Callable[..., Any]) -> Tool:
    params = _params_of_function(name, function)
    is_async = iscoroutinefunction(unwrap(function)) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async `__call__`
    )

    async def run(_: ToolContext, arguments: Any) -> ToolResult:
        fields = {} if params is None else dict(arguments)
        bound = partial(function, **fields) if params else partial(function, arguments)
        result = bound() if is_async else await asyncio.to_thread(bound)
        if isawaitable(result):
            result = await result
        return ToolResult(to_jsonable_python(result, fallback=str))

    description = " ".join((getdoc(function) or "").split())
    return Tool(name, description, params, run, is_source=True)


def _params_of_function(name: str, function: Callable[..., Any]) -> type[Params] | None:
    """Build the parameters of a caller's function.

    Returns None if the function's only parameter is untyped or has a name that starts with `_`; the
    function then receives the raw text. Raises `UsageError` for parameters that a model cannot
    provide, and for values that cannot be called.
    """
    if not callable(function):
        hint = "Pass functions by name, such as tools={'TIDES': tides}."
        raise UsageError(f"the tool {name} is not a function: {function!r:.80}", hint=hint)
    try:
        parameters = [*signature(function, eval_str=True).parameters.values()]
        by_name = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if len(parameters) == 1 and parameters[0].kind in (
            Parameter.POSITIONAL_ONLY,
            Parameter.POSITIONAL_OR_KEYWORD,
        ):
            [only] = parameters
            if only.annotation is only.empty or only.name.startswith("_"):
                return None
        if len(by_name) < len(parameters):
            raise TypeError("it has parameters that cannot be passed by name")
        fields: dict[str, Any] = {
            p.name: (
                Any if p.annotation is p.empty else p.annotation,
                ... if p.default is p.empty else p.default,
            )
            for p in by_name
        }
        params = create_model(name, __base__=Params, **fields)
        params.model_json_schema()
    except (NameError, TypeError, ValueError, PydanticUserError) as error:
        raise UsageError(
            f"the tool {name} cannot be described to a model: {error}",
            hint="Give each parameter a name and a JSON type: str, int, float, bool, list, …",
        ) from error
    return params
