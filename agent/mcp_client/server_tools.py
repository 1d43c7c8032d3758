"""Tools of MCP servers as tools of a run: known from when they were allowed, called as others are.

A server is connected when one of its tools is called for the first time, or when it was never
reached before and its tools have to be known; several at the same time.

What a server says of a tool is a stranger's text. What a model is shown of it is short, without
markup of ours, and says whose words it is. A tool that has changed since it was allowed is not
called without a yes.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import re
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcp.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from agent.config import private_folder
from agent.errors import ResearchError, ToolError
from agent.files import write_atomic
from agent.mcp_client.connection import Connection, shown
from agent.protocol.replies import inert
from agent.tools.context import PERSON_TIMEOUT
from agent.tools.person import require_yes
from agent.tools.registry import Risk, Tool, ToolResult, ToolSource
from agent.tools.sources import CHARS_PER_TOKEN, register_source, show_passages
from agent.tools.toolset import matches_any
from browser.text.words import clean
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from pathlib import Path

    from mcp.types import CallToolResult

    from agent.mcp_client.server_settings import NamedServer
    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish

LONGEST_NAME: Final = 64
"""Characters: what providers of models take as the name of a function."""
LONGEST_FIELD: Final = 100
"""Characters of what is said of one parameter."""
MOST_FIELDS: Final = 30
MOST_CHOICES: Final = 20
DEEPEST: Final = 4
MOST_PICTURES: Final = 2
PICTURES: Final = ("image/jpeg", "image/png")
"""Kinds that every model that sees takes."""
_FIELD = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_DEFINES = ("name", "title", "description", "inputSchema", "annotations")


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as its server defines it: the fields that say what it is and does.

    One that differs in any of them is another tool.
    """

    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Definition:
        """Take what defines a tool out of what a server sends."""
        return cls({key: raw[key] for key in _DEFINES if raw.get(key) is not None})

    @property
    def name(self) -> str:
        """What the server calls it."""
        return str(self.raw["name"])

    @property
    def reads_only(self) -> bool:
        """Whether it says that it changes nothing."""
        return (self.raw.get("annotations") or {}).get("readOnlyHint") is True

    @property
    def described(self) -> str:
        """What it says of itself, as one short line that calls nothing."""
        return shown(self.raw.get("description") or self.raw.get("title") or "")

    @property
    def schema(self) -> dict[str, Any]:
        """Its parameters as a JSON Schema that holds no more than a call needs."""
        given = self.raw.get("inputSchema")
        given = given if isinstance(given, dict) else {}
        return {"type": "object", "properties": {}, **_slim(given, given.get("$defs", {}))}


def _slim(schema: Mapping[str, Any], defined: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Keep of a schema what a model needs to write a call, strangers' words cut and inert."""
    reference = str(schema.get("$ref", ""))
    if reference and isinstance(defined, dict):
        schema = {**(defined.get(reference.rpartition("/")[2]) or {}), **schema}
    kept: dict[str, Any] = {}
    if isinstance(schema.get("type"), str | list):
        kept["type"] = schema["type"]
    if depth and schema.get("description"):
        kept["description"] = shown(schema["description"], LONGEST_FIELD)
    if isinstance(schema.get("enum"), list):
        kept["enum"] = [
            shown(choice, LONGEST_FIELD) if isinstance(choice, str) else choice
            for choice in schema["enum"][:MOST_CHOICES]
        ]
    if depth >= DEEPEST:
        return kept
    properties = schema.get("properties")
    if isinstance(properties, dict):
        named = [name for name in properties if _FIELD.fullmatch(name)][:MOST_FIELDS]
        kept["properties"] = {
            name: _slim(properties[name], defined, depth + 1)
            for name in named
            if isinstance(properties[name], dict)
        }
        required = schema.get("required")
        kept["required"] = [n for n in named if isinstance(required, list) and n in required]
    if isinstance(schema.get("items"), dict):
        kept["items"] = _slim(schema["items"], defined, depth + 1)
    for either in ("anyOf", "oneOf"):
        if isinstance(schema.get(either), list):
            rows = (row for row in schema[either][:MOST_CHOICES] if isinstance(row, dict))
            kept["anyOf"] = [_slim(row, defined, depth + 1) for row in rows]
    return kept


def tool_names(server: NamedServer, names: Iterable[str]) -> dict[str, str]:
    """Name a server's tools for models: `mcp__server__tool`, 64 characters at most.

    Those that come out alike all get a piece of a hash, so that no name depends on their order.
    """
    alike = defaultdict(list)
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^A-Za-z0-9]", "_", name)
        alike[f"mcp__{server.slug}__{plain}"[:LONGEST_NAME]].append(name)
    named = {group[0]: full for full, group in alike.items() if len(group) == 1}
    for full, group in alike.items():
        for name in group if len(group) > 1 else ():
            piece = hashlib.sha256(name.encode()).hexdigest()[:8]
            named[name] = f"{full[: LONGEST_NAME - 9]}_{piece}"
    return named


def changes(allowed: Mapping[str, Definition], live: Sequence[Definition]) -> dict[str, list[str]]:
    """Return how a server's tools differ from those allowed: names by `new`, `changed`, `gone`."""
    now = {one.name: one for one in live}
    told = {
        "new": [name for name in now if name not in allowed],
        "changed": [name for name in now if name in allowed and allowed[name] != now[name]],
        "gone": [name for name in allowed if name not in now],
    }
    return {how: names for how, names in told.items() if names}


class Server:
    """One server of a run: its connection, and its tools as the person allowed them.

    Naming a server allows the tools that it has then, which are kept in the data folder; it is
    another server where its command or address is another one.
    """

    def __init__(self, server: NamedServer, folder: Path, proxy: str | None) -> None:
        self.server = server
        self.connection = Connection(server, proxy)
        self._path = folder / "mcp" / f"{server.slug}.json"
        self._reached = [
            server.name,
            server.settings.command,
            *server.settings.args,
            server.settings.url,
        ]
        self._known: dict[str, Definition] = {}

    def allowed(self) -> dict[str, Definition] | None:
        """Return the allowed tools by name; None where it was not reached yet as it is set now."""
        try:
            held = json.loads(self._path.read_text(encoding="utf-8"))
            found = [Definition(row) for row in held["tools"]]
            return {row.name: row for row in found} if held["server"] == self._reached else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _allow(self, definitions: Iterable[Definition]) -> None:
        private_folder(self._path.parent)
        rows = {"server": self._reached, "tools": [dict(one.raw) for one in definitions]}
        write_atomic(self._path, json.dumps(rows).encode())

    async def _live(self) -> list[Definition]:
        return [Definition.of(row) for row in await self.connection.tools()]

    async def tools(self) -> list[Tool]:
        """Return its tools as they were allowed; as they are now where it was never reached."""
        found = self.allowed()
        if found is None:
            live = await self._live()
            self._allow(live)
            found = {one.name: one for one in live}
        self._known = found
        return self._as_tools(found.values())

    async def compared(self, *, allow: bool) -> tuple[list[Tool], dict[str, list[str]]]:
        """Return its tools as they are now, and how they differ from those allowed until now."""
        live, before = await self._live(), self.allowed()
        if allow or before is None:
            self._allow(live)
        return self._as_tools(live), changes(before, live) if before is not None else {}

    def _as_tools(self, definitions: Iterable[Definition]) -> list[Tool]:
        found, settings = list(definitions), self.server.settings
        names = tool_names(self.server, [one.name for one in found])
        return [
            Tool(
                names[one.name],
                f"{self.server.site} says: “{one.described}”",
                None,
                partial(self._call, one.name),
                Risk.READ if one.reads_only else Risk.EXTERNAL,
                capped=False,
                seconds=settings.timeout,
                source=ToolSource.MCP,
                schema=one.schema,
                server=self.server.site,
                free=one.reads_only or matches_any(one.name, settings.always_allow),
            )
            for one in found
        ]

    async def _call(self, name: str, context: ToolContext, arguments: dict[str, Any]) -> Finish:
        """Call a tool that is as it was allowed; the person decides about another."""
        # A server can change what a tool is behind the same name, after it was allowed.
        live, server = await self._live(), self.server
        differing = changes(self._known, live)
        if differing:
            context.record("mcp.changed", server=server.slug, **differing)
        if name in differing.get("gone", ()):
            raise ToolError(f"{server.name} has no {name} any more", hint="Go on without it.")
        if name in differing.get("changed", ()):
            now = next(one for one in live if one.name == name)
            context.extend_timeout(PERSON_TIMEOUT)
            effect = (
                f"calls {name} of {server.name}, which says other things of itself than when it "
                f"was allowed, now: “{now.described}”"
            )
            await require_yes(context, name, effect)
            self._known[name] = now
            self._allow(self._known.values())
        made = await self.connection.call(name, arguments)
        return partial(_result, context, server, name, made)


@dataclass(slots=True)
class ServerTools:
    """The tools of all servers of a run; `diagnostics` tell of those that did not start."""

    tools: list[Tool] = field(default_factory=list)
    diagnostics: list[str] = field(default_factory=list)


@asynccontextmanager
async def open_servers(
    servers: Sequence[NamedServer], folder: Path, proxy: str | None = None, *, connect: bool = True
) -> AsyncIterator[ServerTools]:
    """Return the tools of servers; those that were connected are let go at the end of the block.

    Without `connect` those of servers that were never reached are not known.
    """
    opened, found = [], ServerTools()
    for server in (Server(s, folder, proxy) for s in servers if not s.settings.disabled):
        if connect or server.allowed() is not None:
            opened.append(server)
        else:
            never = "was never reached: `research mcp test` reaches it"
            found.diagnostics.append(f"{server.server.name} {never}")
            await server.connection.close()
    try:
        known = await asyncio.gather(*(server.tools() for server in opened), return_exceptions=True)
        for tools in known:
            if isinstance(tools, ResearchError):
                found.diagnostics.append(f"{tools}. {tools.hint}")
            elif isinstance(tools, BaseException):
                raise tools
            else:
                found.tools += tools
        yield found
    finally:
        await asyncio.gather(*(server.connection.close() for server in opened))


def _result(
    context: ToolContext, server: NamedServer, name: str, made: CallToolResult
) -> ToolResult:
    """Return what a tool said as a source of the run: text, pictures, and the names of the rest."""
    text = clean("\n\n".join(_texts(made))).strip()
    room = context.limits.read_tokens * CHARS_PER_TOKEN
    if made.is_error:
        raise ToolError(f"{server.name}: {shown(text) or 'it failed, and does not say why'}")
    pictures = _pictures(made) if context.vision else ()
    data: dict[str, Any] = {"server": server.site}
    if not text:
        return ToolResult({**data, "done": True}, pictures=pictures)
    if len(context.evidence.sources) >= context.limits.max_sources:
        return ToolResult(data, text[:room], server.site, pictures=pictures)
    url = f"mcp://{server.slug}/{name}"
    document = Document(url, title=f"{name} ({server.name})", text=text[: 8 * room], kind="text")
    page = Page(url, url, "mcp", Outcome.OK, datetime.now(UTC), document=document)
    source = register_source(context, page)
    block, passages = show_passages(context, source)
    data |= {"source": source.name, "passages": len(source.passages)}
    if len(passages) < len(source.passages):
        data["shown"] = len(passages)
    if len(text) > len(document.text):
        data["cut"] = len(text) - len(document.text)
    return ToolResult(data, block, server.site, pictures=pictures, passages=passages)


def _texts(made: CallToolResult) -> Iterable[str]:
    """Yield the texts of a result; what is no text is named."""
    for part in made.content:
        if isinstance(part, TextContent):
            yield part.text
        elif isinstance(part, ImageContent | AudioContent):
            yield f"[{inert(part.mime_type)}, {len(part.data) * 3 // 4:,} bytes]"
        elif isinstance(part, ResourceLink):
            yield f"[{part.name}: {part.uri}] {part.description or ''}"
        elif isinstance(part, EmbeddedResource):
            held = part.resource
            text = held.text if isinstance(held, TextResourceContents) else ""
            yield text or f"[{held.uri}, {held.mime_type or 'of no named type'}]"
    if not made.content and made.structured_content is not None:
        yield json.dumps(made.structured_content, ensure_ascii=False)


def _pictures(made: CallToolResult) -> tuple[bytes, ...]:
    found = []
    for part in made.content:
        if isinstance(part, ImageContent) and part.mime_type in PICTURES:
            try:
                found.append(base64.b64decode(part.data, validate=True))
            except binascii.Error:
                continue
    return tuple(found[:MOST_PICTURES])
