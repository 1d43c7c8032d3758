"""Tools of MCP servers as tools of a run: known from when they were allowed, called as others are.

A server is connected when one of its tools is called for the first time, or when it was never
reached before and its tools have to be known; several at the same time.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
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

from agent.errors import ResearchError, ToolError
from agent.mcp_client.connection import Connection
from agent.mcp_client.definitions import AllowedTools, changes, shown, tool_names
from agent.protocol.replies import inert
from agent.tools.context import PATIENCE_SECONDS
from agent.tools.person import needs_yes
from agent.tools.registry import Risk, Tool, ToolResult, ToolSource
from agent.tools.sources import CHARS_PER_TOKEN, passages_block, register
from agent.tools.toolset import matches
from browser.text.words import clean
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from pathlib import Path

    from mcp.types import CallToolResult

    from agent.mcp_client.definitions import Definition
    from agent.mcp_client.server_settings import NamedServer
    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish

MOST_PICTURES: Final = 2
PICTURES: Final = ("image/jpeg", "image/png")
"""Kinds that every model that sees takes."""


@dataclass(slots=True)
class ServerTools:
    """The tools of all servers of a run, and what there is to say of them.

    `told` are diagnostics: a server that did not start, one whose tools are others now.
    """

    tools: list[Tool] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


@asynccontextmanager
async def open_servers(
    servers: Sequence[NamedServer], folder: Path, proxy: str | None = None, *, connect: bool = True
) -> AsyncIterator[ServerTools]:
    """Give the tools of servers; those that were connected are let go at the end of the block.

    Without `connect` those of servers that were never reached are not known.
    """
    opened = [Server.of(one, folder, proxy) for one in servers if not one.settings.disabled]
    unknown = [] if connect else [one for one in opened if one.allowed.read() is None]
    opened = [server for server in opened if server not in unknown]
    try:
        known = await asyncio.gather(*(server.tools() for server in opened), return_exceptions=True)
        never = "was never reached: `research mcp test` reaches it"
        found = ServerTools(told=[f"{one.connection.server.name} {never}" for one in unknown])
        for tools in known:
            if isinstance(tools, ResearchError):
                found.told.append(f"{tools}. {tools.hint}")
            elif isinstance(tools, BaseException):
                raise tools
            else:
                found.tools += tools
        yield found
    finally:
        await asyncio.gather(*(server.connection.close() for server in opened))


@dataclass(slots=True)
class Server:
    """One server of a run: its connection, and its tools as they were allowed."""

    connection: Connection
    allowed: AllowedTools
    _known: dict[str, Definition] = field(default_factory=dict)

    @classmethod
    def of(cls, server: NamedServer, folder: Path, proxy: str | None) -> Server:
        """Give a server that is not connected yet; what is allowed is kept in the data folder."""
        return cls(Connection(server, proxy), AllowedTools(folder, server))

    async def tools(self) -> list[Tool]:
        """Give its tools as they were allowed; as they are now where it was never reached."""
        found = self.allowed.read()
        if found is None:
            live = await self.connection.tools()
            self.allowed.write(live)
            found = {one.name: one for one in live}
        self._known = found
        names = tool_names(self.connection.server, found)
        return [self._tool(names[name], one) for name, one in found.items()]

    async def compared(self, *, allow: bool) -> tuple[list[Tool], dict[str, list[str]]]:
        """Give its tools as they are now, and how they differ from those allowed until now."""
        live = await self.connection.tools()
        before = self.allowed.read()
        if allow or before is None:
            self.allowed.write(live)
        names = tool_names(self.connection.server, [one.name for one in live])
        tools = [self._tool(names[one.name], one) for one in live]
        return tools, changes(before, live) if before is not None else {}

    def _tool(self, name: str, definition: Definition) -> Tool:
        server = self.connection.server
        free = matches(definition.name, server.settings.always_allow)
        return Tool(
            name,
            f"{server.site} says: “{definition.described}”",
            None,
            partial(self._call, definition.name),
            Risk.READ if definition.reads_only else Risk.EXTERNAL,
            capped=False,
            seconds=server.settings.timeout,
            source=ToolSource.MCP,
            schema=definition.schema,
            server=server.site,
            free=free or definition.reads_only,
        )

    async def _call(
        self, name: str, context: ToolContext, arguments: dict[str, Any]
    ) -> Finish | ToolResult:
        await self._still_allowed(name, context)
        made = await self.connection.call(name, arguments)
        return partial(_result, context, self.connection.server, name, made)

    async def _still_allowed(self, name: str, context: ToolContext) -> None:
        """Hold a tool as it is now against what was allowed; the person decides about another."""
        live = await self.connection.tools()
        differing = changes(self._known, live)
        server = self.connection.server
        if differing:
            context.record("mcp.changed", server=server.slug, **differing)
        if name in differing.get("gone", ()):
            raise ToolError(f"{server.name} has no {name} any more", hint="Go on without it.")
        if name in differing.get("changed", ()):
            now = next(one for one in live if one.name == name)
            context.wait_longer(PATIENCE_SECONDS)
            effect = f"calls {name} of {server.name}, which says other things of itself than when it was allowed, now: “{now.described}”"  # noqa: E501
            await needs_yes(context, name, effect)
            self._known[name] = now
            self.allowed.write(self._known.values())


def _result(
    context: ToolContext, server: NamedServer, name: str, made: CallToolResult
) -> ToolResult:
    """Give what a tool said as a source of the run: text, pictures, and the names of the rest."""
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
    source = register(context, page)
    block, passages = passages_block(context, source)
    data |= {"source": source.name, "passages": len(source.passages)}
    if len(passages) < len(source.passages):
        data["shown"] = len(passages)
    if len(text) > len(document.text):
        data["cut"] = len(text) - len(document.text)
    return ToolResult(data, block, server.site, pictures=pictures, passages=passages)


def _texts(made: CallToolResult) -> Iterable[str]:
    """Give the texts of a result; what is no text is named."""
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
