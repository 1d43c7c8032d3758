"""Which MCP servers there are: config.toml, files in the form of other clients, our own file.

A file holds `{"mcpServers": {name: {…}}}`, as Claude, Cursor and others write it, or `servers` as
VS Code does. Values may name variables of the environment: `${NAME}`, `${env:NAME}`,
`${NAME:-else}`.
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
from agent.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.config import Options

KEYS: Final = ("mcpServers", "servers")
LONGEST_SLUG: Final = 24
"""Characters of a server's name in the names of its tools, which have 64 in all."""
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}")


class ServerSettings(BaseModel):
    """How one server is reached, in the words of other clients.

    `timeout` is in seconds, of a call. Tools whose names match a pattern of `always_allow` need no
    yes; `headers` and `env` may hold secrets.
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

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: Any) -> Any:
        """Fill in variables, and the transport where it goes without saying."""
        if not isinstance(given, dict):
            raise ValueError("a server is an object with a command or a url")
        given = _with_variables(given)
        url = next((given[key] for key in ("url", "serverUrl", "httpUrl") if given.get(key)), "")
        if not url and not given.get("command"):
            raise ValueError("a server has a command or a url")
        said = str(given.get("type") or given.get("transport") or "").casefold()
        sse = said == "sse" or (not said and str(url).rstrip("/").endswith("/sse"))
        return {**given, "type": "stdio" if not url else "sse" if sse else "http"}


def _with_variables(value: Any) -> Any:
    """Put values of the environment in place of their names; an unknown name is an empty text."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda m: os.environ.get(m[1], m[2] or ""), value)
    if isinstance(value, dict):
        return {key: _with_variables(of) for key, of in value.items()}
    return [_with_variables(of) for of in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class NamedServer:
    """A server: its name as the person wrote it, as tools carry it, and the file it stands in."""

    name: str
    slug: str
    settings: ServerSettings
    origin: Path

    @property
    def site(self) -> str:
        """What it is called where words come from, and go to."""
        return f"mcp:{self.slug}"


def servers_of(options: Options, *, config: bool) -> list[NamedServer]:
    """Find the servers, the first of a name; `config` also reads our own file.

    Raises `UsageError` for a file or a server that is not as it should be.
    """
    files = [
        *options.mcp_config,
        *([servers_path()] if config and servers_path().is_file() else []),
    ]
    found: dict[str, NamedServer] = {}
    slugs: set[str] = set()
    for origin in (None, *files):
        for name, given in (read_servers(origin) if origin else options.mcp_servers).items():
            if name in found:
                continue
            # In letters, digits and `_`; the second of two that come out alike gets `_2`.
            plain = re.sub(r"[^A-Za-z0-9]+", "_", name)[:LONGEST_SLUG].strip("_") or "server"
            slug, n = plain, 1
            while slug in slugs:
                slug, n = f"{plain}_{n + 1}", n + 1
            slugs.add(slug)
            place = origin or config_path()
            found[name] = NamedServer(name, slug, settings_of(name, given, place), place)
    return list(found.values())


def read_servers(path: Path) -> dict[str, Any]:
    """Read the servers of a file; raises `UsageError` where it is none."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return dict(next(held[key] for key in KEYS if key in held))
    except (OSError, ValueError, TypeError, StopIteration) as error:
        said = str(error) or 'it has no "mcpServers"'
        hint = 'It holds {"mcpServers": {"name": {"command": "…", "args": ["…"]}}}.'
        raise UsageError(f"cannot read servers from {path}: {said}", hint=hint) from error


def write_servers(rows: Mapping[str, Any]) -> Path:
    """Write our own file whole, readable by its owner alone: it may hold secrets."""
    path = servers_path()
    private_folder(path.parent)
    write_atomic(path, (json.dumps({KEYS[0]: rows}, indent=2) + "\n").encode(), private=True)
    return path


def settings_of(name: str, given: Any, origin: Path) -> ServerSettings:
    """Read a server; raises `UsageError` that names what is wrong with it."""
    try:
        return ServerSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (name, *first["loc"])))
        said = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{origin}: {where}: {said}") from error
