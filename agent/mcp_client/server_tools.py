"""Makes MCP server tools available to runs.

Definitions are stored when the user allows a server's tools. A server is therefore contacted only
when one of its tools is first called, or if its tools are not yet known.

A tool description is untrusted text. The model sees a shortened version, without our markup, and
labelled as the server's words. A tool that has changed since it was allowed needs new approval.
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
from agent.mcp_client.connection import Connection, shown_line
from agent.protocol.call_results import to_json
from agent.protocol.replies import inert
from agent.tools.registry import Risk, Tool, ToolResult
from agent.tools.sources import register_call, show_passages
from agent.tools.toolset import matches_any
from agent.tools.user import require_approval
from browser.files import write_atomic
from browser.text.words import CHARS_PER_TOKEN, clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from pathlib import Path

    from mcp.types import CallToolResult

    from agent.mcp_client.server_settings import NamedServer
    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish

MAX_NAME: Final = 64
"""Maximum length of a function name that model providers accept, in characters."""
MAX_FIELD: Final = 100
"""Maximum length of a parameter description, in characters."""
MAX_FIELDS: Final = 30  # parameters per tool that the model sees
MAX_CHOICES: Final = 20  # enum values that the model sees
MAX_DEPTH: Final = 4  # levels of nested objects that the model sees
MAX_PICTURES: Final = 2  # per result; each costs about 1,500 tokens
IMAGE_TYPES: Final = ("image/jpeg", "image/png")
"""Image types that every vision model accepts."""
_FIELD_NAME_RE = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_DEFINITION_KEYS = ("name", "title", "description", "inputSchema", "annotations")


Definitions = dict[str, dict[str, Any]]
"""A server's tools by name, with the fields that define each tool.

If any of these fields changes, it counts as a different tool.
"""


def summary(definition: Mapping[str, Any]) -> str:
    """Return a tool's description as one short line that is safe to show."""
    return shown_line(definition.get("description") or definition.get("title") or "")


def parameter_schema(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's parameters, reduced to the parts that a call needs."""
    schema = definition.get("inputSchema")
    if not isinstance(schema, dict):
        schema = {}
    return {"type": "object", "properties": {}, **_safe_schema(schema, schema.get("$defs", {}))}


def _safe_schema(
    schema: Mapping[str, Any], defined: Mapping[str, Any], depth: int = 0
) -> dict[str, Any]:
    """Reduce a server's schema to the parts that a call needs, with short and inert strings."""
    reference = str(schema.get("$ref", ""))
    if reference and isinstance(defined, dict):
        schema = {**(defined.get(reference.rpartition("/")[2]) or {}), **schema}
    kept: dict[str, Any] = {}
    if isinstance(schema.get("type"), str | list):
        kept["type"] = schema["type"]
    if depth and schema.get("description"):
        kept["description"] = shown_line(schema["description"], MAX_FIELD)
    if isinstance(schema.get("enum"), list):
        kept["enum"] = [
            shown_line(choice, MAX_FIELD) if isinstance(choice, str) else choice
            for choice in schema["enum"][:MAX_CHOICES]
        ]
    if depth >= MAX_DEPTH:
        return kept
    properties = schema.get("properties")
    if isinstance(properties, dict):
        named = [name for name in properties if _FIELD_NAME_RE.fullmatch(name)][:MAX_FIELDS]
        kept["properties"] = {
            name: _safe_schema(properties[name], defined, depth + 1)
            for name in named
            if isinstance(properties[name], dict)
        }
        required = schema.get("required")
        kept["required"] = [n for n in named if isinstance(required, list) and n in required]
    if isinstance(schema.get("items"), dict):
        kept["items"] = _safe_schema(schema["items"], defined, depth + 1)
    for either in ("anyOf", "oneOf"):
        if isinstance(schema.get(either), list):
            rows = (row for row in schema[either][:MAX_CHOICES] if isinstance(row, dict))
            kept["anyOf"] = [_safe_schema(row, defined, depth + 1) for row in rows]
    return kept


def tool_names(server: NamedServer, names: Iterable[str]) -> dict[str, str]:
    """Map a server's tool names to names for models: `mcp__server__tool`, up to 64 characters.

    If names would collide, part of a hash is added to each of them, so that names do not depend on
    the tools' order.
    """
    groups = defaultdict(list)
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^A-Za-z0-9]", "_", name)
        groups[f"mcp__{server.slug}__{plain}"[:MAX_NAME]].append(name)
    model_names: dict[str, str] = {}
    for model_name, group in groups.items():
        for name in group:
            model_names[name] = model_name
            if len(group) > 1:
                digest = hashlib.sha256(name.encode()).hexdigest()[:8]
                model_names[name] = f"{model_name[: MAX_NAME - 9]}_{digest}"
    return model_names


def compare_definitions(allowed: Definitions, live: Definitions) -> dict[str, list[str]]:
    """Compare a server's tools with the allowed ones; list `new`, `changed` and `gone` names."""
    differences = {
        "new": [name for name in live if name not in allowed],
        "changed": [name for name in live if name in allowed and allowed[name] != live[name]],
        "gone": [name for name in allowed if name not in live],
    }
    return {kind: names for kind, names in differences.items() if names}


class Server:
    """One of a run's servers: its connection, and its tools in the versions that the user allowed.

    By configuring a server, the user allows the tools that it offers when it is first reached.
    These are stored in the data folder. A server with a different command or address is treated as
    a different server.
    """

    def __init__(self, server: NamedServer, folder: Path, proxy: str | None) -> None:
        self.server = server
        self.connection = Connection(server, proxy)
        self._path = folder / "mcp" / f"{server.slug}.json"
        self._identity = [
            server.name,
            server.settings.command,
            *server.settings.args,
            server.settings.url,
        ]
        self._known: Definitions = {}

    def allowed(self) -> Definitions | None:
        """Return the allowed tools; None if the server was never reached with its settings."""
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            definitions = {str(row["name"]): row for row in stored["tools"]}
            return definitions if stored["server"] == self._identity else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _allow(self, definitions: Definitions) -> None:
        """Store these definitions as the allowed ones."""
        private_folder(self._path.parent)
        content = json.dumps({"server": self._identity, "tools": list(definitions.values())})
        write_atomic(self._path, content.encode())

    async def _fetch_definitions(self) -> Definitions:
        return {
            str(row["name"]): {
                key: row[key] for key in _DEFINITION_KEYS if row.get(key) is not None
            }
            for row in await self.connection.tools()
        }

    async def tools(self) -> list[Tool]:
        """Return the allowed tools; if the server was never reached, allow all its tools first."""
        allowed = self.allowed()
        if allowed is None:
            allowed = await self._fetch_definitions()
            self._allow(allowed)
        self._known = allowed
        return self._as_tools(allowed)

    async def compare_with_allowed(self, *, allow: bool) -> tuple[list[Tool], dict[str, list[str]]]:
        """Return the server's current tools, and their differences from the allowed ones.

        With `allow`, the current tools replace the allowed ones.
        """
        live, allowed = await self._fetch_definitions(), self.allowed()
        if allow or allowed is None:
            self._allow(live)
        differences = {} if allowed is None else compare_definitions(allowed, live)
        return self._as_tools(live), differences

    def _as_tools(self, definitions: Definitions) -> list[Tool]:
        settings, names = self.server.settings, tool_names(self.server, definitions)
        tools = []
        for name, definition in definitions.items():
            # A server's declarations about its tools are used only if the user trusts them.
            says_reads_only = (definition.get("annotations") or {}).get("readOnlyHint") is True
            reads_only = settings.trust_read_only and says_reads_only
            tool = Tool(
                names[name],
                f"{self.server.site} says: “{summary(definition)}”",
                None,
                partial(self._call, name),
                Risk.READ if reads_only else Risk.EXTERNAL,
                capped=False,
                seconds=settings.timeout,
                source="mcp",
                schema=parameter_schema(definition),
                server=self.server.site,
                always_allowed=reads_only or matches_any(name, settings.always_allow),
            )
            tools.append(tool)
        return tools

    async def _call(self, name: str, context: ToolContext, arguments: dict[str, Any]) -> Finish:
        """Call a tool. If it has changed since it was allowed, the user is asked first."""
        # A server can change what a tool does, under the same name, after it was allowed.
        live, server = await self._fetch_definitions(), self.server
        differences = compare_definitions(self._known, live)
        if differences:
            context.record("mcp.changed", server=server.slug, **differences)
        if name in differences.get("gone", ()):
            raise ToolError(f"{server.name} no longer has {name}", hint="Continue without it.")
        if name in differences.get("changed", ()):
            effect = (
                f"call {name} of {server.name}, whose definition has changed since it was "
                f"allowed; its description is now “{summary(live[name])}”"
            )
            await require_approval(context, name, effect)
            self._known[name] = live[name]
            self._allow(self._known)
        result = await self.connection.call(name, arguments)
        return partial(_tool_result, context, server, name, arguments, result)


@dataclass(slots=True)
class ServerTools:
    """The tools of all servers in a run; `diagnostics` lists failed servers, with reasons."""

    tools: list[Tool] = field(default_factory=list)
    diagnostics: list[str] = field(default_factory=list)


@asynccontextmanager
async def open_servers(
    servers: Sequence[NamedServer], folder: Path, proxy: str | None = None, *, connect: bool = True
) -> AsyncIterator[ServerTools]:
    """Yield the tools of the given servers; all connections are closed at the end of the block.

    Without `connect`, a server that has never been reached is only reported in the diagnostics.
    """
    opened, found = [], ServerTools()
    for server in (Server(s, folder, proxy) for s in servers if not s.settings.disabled):
        if connect or server.allowed() is not None:
            opened.append(server)
        else:
            reason = "has never been connected: run `research mcp test`"
            found.diagnostics.append(f"{server.server.name} {reason}")
            await server.connection.close()
    try:
        results = await asyncio.gather(*(s.tools() for s in opened), return_exceptions=True)
        for tools in results:
            if isinstance(tools, ResearchError):
                found.diagnostics.append(f"{tools}. {tools.hint}")
            elif isinstance(tools, BaseException):
                raise tools
            else:
                found.tools += tools
        yield found
    finally:
        await asyncio.gather(*(server.connection.close() for server in opened))


def _tool_result(
    context: ToolContext,
    server: NamedServer,
    name: str,
    arguments: dict[str, Any],
    result: CallToolResult,
) -> ToolResult:
    """Convert a server's result: text becomes a source, and images are shown to the model."""
    text = clean("\n\n".join(_texts(result))).strip()
    max_chars = context.limits.read_tokens * CHARS_PER_TOKEN
    if result.is_error:
        raise ToolError(
            f"{server.name}: {shown_line(text) or 'it failed without an error message'}"
        )
    pictures = _pictures(result) if context.vision else ()
    data: dict[str, Any] = {"server": server.site}
    if not text:
        return ToolResult({**data, "done": True}, pictures=pictures)
    if context.evidence.pages_read >= context.max_sources:
        return ToolResult(data, text[:max_chars], server.site, pictures=pictures)
    address, given = f"mcp://{server.slug}/{name}", to_json(arguments) if arguments else ""
    source = register_call(context, address, f"{server.name}: {name}", given, text, via="mcp")
    block, passages = show_passages(context, source)
    data |= {"source": source.name, "passages": len(source.passages)}
    if len(passages) < len(source.passages):
        data["shown"] = len(passages)
    if len(text) > len(source.text):
        data["cut"] = len(text) - len(source.text)
    return ToolResult(data, block, server.site, pictures=pictures, passages=passages)


def _texts(result: CallToolResult) -> Iterable[str]:
    """Yield the text parts of a result, and a short description of every other part."""
    for part in result.content:
        if isinstance(part, TextContent):
            yield part.text
        elif isinstance(part, ImageContent | AudioContent):
            yield f"[{inert(part.mime_type)}, {len(part.data) * 3 // 4:,} bytes]"
        elif isinstance(part, ResourceLink):
            yield f"[{part.name}: {part.uri}] {part.description or ''}"
        elif isinstance(part, EmbeddedResource):
            resource = part.resource
            text = resource.text if isinstance(resource, TextResourceContents) else ""
            yield text or f"[{resource.uri}, {resource.mime_type or 'of unknown type'}]"
    if not result.content and result.structured_content is not None:
        yield json.dumps(result.structured_content, ensure_ascii=False)


def _pictures(result: CallToolResult) -> tuple[bytes, ...]:
    found = []
    for part in result.content:
        if isinstance(part, ImageContent) and part.mime_type in IMAGE_TYPES:
            try:
                found.append(base64.b64decode(part.data, validate=True))
            except binascii.Error:
                continue
    return tuple(found[:MAX_PICTURES])
