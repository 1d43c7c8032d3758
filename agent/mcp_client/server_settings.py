"""Finds configured MCP servers in config.toml, in other clients' files and in our server file.

A file contains `{"mcpServers": {name: {…}}}`, as in Claude, Cursor and others, or `servers`
instead, as in VS Code. Values may contain environment variables: `${NAME}`, `${env:NAME}`,
`${NAME:-default}`.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from agent.config import config_path, private_folder, servers_path
from agent.errors import UsageError
from browser.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.options import Options

SERVER_MAP_KEYS: Final = ("mcpServers", "servers")
MAX_SLUG: Final = 24
"""Maximum length of the server name in the names of its tools, which may have 64 characters."""
_VARIABLE_RE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}")


class ServerSettings(BaseModel):
    """The settings of one server, in the format of other clients.

    `timeout` applies to each call, in seconds. Tools whose names match a pattern in `always_allow`
    do not need approval. With `trust_read_only`, the same applies to tools that the server declares
    read-only (`readOnlyHint`). `headers` and `env` may contain secrets.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = Field("", validation_alias=AliasChoices("url", "serverUrl", "httpUrl"))
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    transport: Literal["stdio", "sse", "http"] = Field("stdio", validation_alias="type")
    disabled: bool = False
    timeout: float | None = Field(None, gt=0)
    always_allow: tuple[str, ...] = Field(
        (), validation_alias=AliasChoices("alwaysAllow", "autoApprove", "always_allow")
    )
    trust_read_only: bool = Field(
        False, validation_alias=AliasChoices("trustReadOnly", "trust_read_only")
    )

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, settings: Any) -> Any:
        """Expand variables, and infer the transport if it is not given."""
        if not isinstance(settings, dict):
            raise ValueError("a server must be an object with a command or a url")
        settings = _expand_variables(settings)
        urls = [settings[key] for key in ("url", "serverUrl", "httpUrl") if settings.get(key)]
        if not urls:
            if not settings.get("command"):
                raise ValueError("a server needs either a command or a url")
            return {**settings, "type": "stdio"}
        transport = str(settings.get("type") or settings.get("transport") or "").casefold()
        if not transport and str(urls[0]).rstrip("/").endswith("/sse"):
            transport = "sse"
        return {**settings, "type": "sse" if transport == "sse" else "http"}


def _expand_variables(value: Any) -> Any:
    """Replace variables with their values in all strings; unset ones default to empty strings."""
    if isinstance(value, str):
        return _VARIABLE_RE.sub(lambda m: os.environ.get(m[1], m[2] or ""), value)
    if isinstance(value, dict):
        return {key: _expand_variables(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_expand_variables(inner) for inner in value]
    return value


@dataclass(frozen=True, slots=True)
class NamedServer:
    """A configured server: its name, the `slug` in its tools' names, and its settings file."""

    name: str
    slug: str
    settings: ServerSettings
    origin: Path

    @property
    def site(self) -> str:
        """The server's name as a site, for recording the origins and destinations of data."""
        return f"mcp:{self.slug}"


def find_servers(options: Options, *, config: bool) -> list[NamedServer]:
    """Find all configured servers; if two have the same name, the first takes precedence.

    `config` also reads our server file. Raises `UsageError` for an invalid file or server.
    """
    sources = [(config_path(), options.mcp_servers)]
    sources += [(path, read_servers(path)) for path in options.mcp_config]
    if config and servers_path().is_file():
        sources.append((servers_path(), read_servers(servers_path())))
    found: dict[str, NamedServer] = {}
    slugs: set[str] = set()
    for origin, servers in sources:
        for name, settings in servers.items():
            if name in found:
                continue
            # Slugs contain letters, digits and `_`; a duplicate slug gets the suffix `_2`.
            base = re.sub(r"[^A-Za-z0-9]+", "_", name)[:MAX_SLUG].strip("_") or "server"
            slug, n = base, 1
            while slug in slugs:
                slug, n = f"{base}_{n + 1}", n + 1
            slugs.add(slug)
            found[name] = NamedServer(name, slug, parse_settings(name, settings, origin), origin)
    return list(found.values())


def read_servers(path: Path) -> dict[str, Any]:
    """Read the servers in a file; raises `UsageError` if there are none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return dict(next(content[key] for key in SERVER_MAP_KEYS if key in content))
    except (OSError, ValueError, TypeError, StopIteration) as error:
        reason = str(error) or 'it has no "mcpServers"'
        hint = 'Expected format: {"mcpServers": {"name": {"command": "…", "args": ["…"]}}}.'
        raise UsageError(f"cannot read servers from {path}: {reason}", hint=hint) from error


def write_servers(rows: Mapping[str, Any]) -> Path:
    """Write our server file, readable only by its owner, and return its path."""
    path = servers_path()
    private_folder(path.parent)
    write_atomic(
        path, (json.dumps({SERVER_MAP_KEYS[0]: rows}, indent=2) + "\n").encode(), private=True
    )
    return path


def parse_settings(name: str, settings: Any, origin: Path) -> ServerSettings:
    """Validate a server's settings; raises a `UsageError` that describes the problem."""
    try:
        return ServerSettings.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (name, *first["loc"])))
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{origin}: {where}: {message}") from error
