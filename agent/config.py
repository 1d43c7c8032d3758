"""One resolver of settings: flag > environment > file > default.

The command line reads flags and environment itself (click) and the file as its default map; the
Python front door takes keyword arguments and reads environment and file only when asked to.
"""

from __future__ import annotations

import os
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from agent.errors import UsageError
from agent.limits import EFFORTS, Depth, Effort, LimitSettings, WikiRules, underscored
from browser.net.url import parse as parse_url
from browser.plugins import PluginBroken, load_plugin

APP = "urchin-research"
MAX_STEPS = 200
"""More is no research, but a loop; circles are noticed long before."""
CONTEXT_WINDOW = 32_000
"""Tokens that every model of use takes at once."""
ENV_PREFIX = "RESEARCH_"
Shared = Literal["file", "corpus", "memory", "page", "tool"]
"""What a person can let a run send where it likes."""
Gate = Literal["domain", "mcp", "memory", "system"]
"""Where tools come from; each can be closed."""


def _several(value: Any) -> Any:
    """Take one value, or names separated by commas, where several may stand."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return (value,) if isinstance(value, Path) else value


_Names = Annotated[tuple[str, ...], BeforeValidator(_several)]


class Options(BaseModel):
    """What a run is told: the flags of the contract with underscores, and their defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    model: str | None = None
    alias: _Names = ()
    base_url: str | None = None
    fallback: _Names = ()
    judge: str | None = None
    native_tools: bool | None = None
    guided: bool | None = None
    model_sees: bool | None = None
    vision: bool = False
    model_timeout: float = Field(120, gt=0)
    context_window: int = Field(CONTEXT_WINDOW, ge=4_000)
    depth: Depth = "standard"
    report: bool = False
    instruction: str | None = None
    search: _Names = ()
    searxng_url: str | None = None
    search_url: _Names = ()
    tool: _Names = ()
    site: str | None = None
    since: str | None = None
    lang: str | None = None
    region: str | None = None
    corpus: Path | None = None
    file: Annotated[tuple[Path, ...], BeforeValidator(_several)] = ()
    attach: bool = False
    cdp: str | None = None
    headed: bool = False
    storage_state: Path | None = None
    solver: str | None = None
    allow: _Names = ()
    deny: _Names = ()
    allow_private: _Names = ()
    proxy: str | None = None
    ignore_robots: bool = False
    share: Annotated[tuple[Shared, ...], BeforeValidator(_several)] = ()
    allow_tasks: _Names = ()
    tool_sources: Annotated[tuple[Gate, ...], BeforeValidator(_several)] = (
        "domain",
        "mcp",
        "memory",
        "system",
    )
    tool_allow: _Names = ()
    tool_deny: _Names = ()
    mcp_tool_allow: _Names = ()
    mcp_tool_deny: _Names = ()
    memory_tool_allow: _Names = ()
    memory_tool_deny: _Names = ()
    mcp_config: Annotated[tuple[Path, ...], BeforeValidator(_several)] = ()
    service: _Names = ()
    mcp_servers: dict[str, Any] = Field(default_factory=dict, exclude=True, repr=False)  # secrets
    smtp_url: str | None = Field(None, exclude=True, repr=False)  # may hold a password
    channels: dict[str, Any] = Field(default_factory=dict, exclude=True, repr=False)
    max_steps: int | None = Field(None, ge=1, le=MAX_STEPS)
    budget: float | None = Field(None, gt=0)
    budget_day: float | None = Field(None, gt=0)
    budget_month: float | None = Field(None, gt=0)
    max_tokens: int | None = Field(None, ge=1_000)
    timeout: float | None = Field(None, gt=0)
    schema_file: Path | dict[str, Any] | None = Field(None, alias="schema")
    max_sources: int | None = Field(None, ge=1)
    continue_run: str | None = None
    session: str | None = None
    memory: bool = True
    memory_url: str | None = Field(None, exclude=True, repr=False)  # may hold a password
    data_dir: Path | None = None
    keep_days: int | None = Field(None, ge=1, le=1_000_000)  # years that a calendar has
    namespace: str = "default"
    embeddings: str | None = None
    wiki: Path | None = None
    wiki_rules: Annotated[WikiRules, BeforeValidator(underscored)] = WikiRules()
    limits: Annotated[LimitSettings, BeforeValidator(underscored)] = LimitSettings()
    fresh: bool = False
    require_verified: bool = False
    dry_run: bool = False

    @field_validator("since")
    @classmethod
    def _day(cls, value: str | None) -> str | None:
        """Take an ISO date; engines would pass over another form without a word."""
        if value is not None:
            try:
                datetime.fromisoformat(value)
            except ValueError:
                said = "Input should be a date such as 2025-01-31"
                raise PydanticCustomError("date", said) from None
        return value

    @field_validator("allow", "deny", "allow_private")
    @classmethod
    def _hosts(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        """Take hosts; of an address or a network only the host would count, without a word."""
        for value in values:
            if "/" in value:
                said = "{value} should be a host such as example.org or 127.0.0.1:8080"
                raise PydanticCustomError("host", said, {"value": repr(value)})
        return values

    @property
    def effort(self) -> Effort:
        """How far a run goes where its limits are not named."""
        return EFFORTS[self.depth]

    def without_servers(self) -> Options:
        """Give the same settings with the tools of MCP servers off."""
        gates = tuple(gate for gate in self.tool_sources if gate != "mcp")
        return self.model_copy(update={"tool_sources": gates})

    @property
    def data(self) -> Path:
        """The data folder: runs, memory, caches."""
        return self.data_dir or default_data_dir()

    @property
    def memory_place(self) -> str | Path:
        """The database of the memory: a file in the data folder, unless machines share one."""
        return self.memory_url or self.data / "memory.db"

    @property
    def wiki_folder(self) -> Path:
        """Where the wiki is, if there is one."""
        return self.wiki or self.data / "wiki"


def options(given: dict[str, Any], *, config: bool = False) -> Options:
    """Check settings; `config` also reads environment and file below what is given.

    Raises `UsageError` that names the setting and what is wrong with it.
    """
    below = {**file_settings()[0], **read_environment(os.environ)} if config else {}
    named = {key: value for key, value in given.items() if value is not None}
    return _checked({**below, **named})


def file_settings() -> tuple[dict[str, Any], UsageError | None]:
    """Read the settings file; where it is broken now, the values from when it last was not.

    A process that lives on takes a changed file so and is not ended by one that is half edited:
    the second value says what is wrong with it. Raises `UsageError` where no reading was good.
    """
    path = config_path()
    try:
        values = read_file(path)
        _checked(values)
    except UsageError as error:
        if path not in _GOOD:
            raise
        return _GOOD[path], error
    _GOOD[path] = values
    return values, None


_GOOD: dict[Path, dict[str, Any]] = {}
"""What each settings file said when it could last be read in this process."""


def _checked(values: dict[str, Any]) -> Options:
    try:
        return _without_aliases(Options(**values))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(part for part in first["loc"] if isinstance(part, str)) or "settings"
        hint = "See `research --help` for the settings there are."
        raise UsageError(f"{name.replace('_', '-')}: {first['msg']}", hint=hint) from error


def _without_aliases(settings: Options) -> Options:
    """Put the models' own names in place of short ones."""
    if not settings.alias:
        return settings
    names = {short: name for short, _, name in (one.partition("=") for one in settings.alias)}

    def full(name: str | None) -> str | None:
        return names.get(name, name) if name else name

    fallback = tuple(names.get(name, name) for name in settings.fallback)
    models = {"model": full(settings.model), "judge": full(settings.judge), "fallback": fallback}
    return settings.model_copy(update=models)


def config_path() -> Path:
    """The settings file, in the user's config folder unless RESEARCH_CONFIG names another."""
    named = os.environ.get(f"{ENV_PREFIX}CONFIG")
    return Path(named) if named else platformdirs.user_config_path(APP) / "config.toml"


def servers_path() -> Path:
    """The file of MCP servers that `research mcp add` writes: beside the settings file."""
    return config_path().with_name("mcp.json")


def default_data_dir() -> Path:
    """The data folder of this user."""
    return platformdirs.user_data_path(APP)


def private_folder(path: Path) -> Path:
    """Make a folder that only its owner can read; raises `UsageError` where that fails."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.stat().st_mode & 0o077:
            path.chmod(0o700)
    except OSError as error:
        raise UsageError(
            f"cannot use the data folder {path}: {error.strerror}",
            hint="Name another one with --data-dir.",
        ) from error
    return path


def read_file(path: Path | None = None) -> dict[str, Any]:
    """Read the settings file; `{}` where there is none, `UsageError` where it is broken."""
    path = path or config_path()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    try:
        return {key.replace("-", "_"): value for key, value in tomllib.loads(text).items()}
    except tomllib.TOMLDecodeError as error:
        hint = "Mend the line, or move the file away."
        raise UsageError(f"{path} is not valid TOML: {error}", hint=hint) from error


def read_environment(environ: os._Environ[str] | dict[str, str]) -> dict[str, Any]:
    """Read RESEARCH_… variables that name a setting; unset and empty ones are left out."""
    fields = Options.model_fields.items()
    names = {f"{ENV_PREFIX}{(field.alias or name).upper()}": name for name, field in fields}
    return {names[key]: value for key, value in environ.items() if key in names and value}


def host_port(url: str) -> str:
    """Give host and port of an address; raises `UsageError` where it is none."""
    parsed = parse_url(url)
    if parsed is None:
        raise UsageError(f"{url!r} is not a web address", hint="Write it as http://host:port/path.")
    return parsed.netloc


def plugged(kind: str, name: str) -> Any:
    """Load the plug-in of this name; None where there is none. Raises `UsageError`."""
    try:
        return load_plugin(kind, name)
    except PluginBroken as error:
        raise UsageError(str(error), hint=error.hint) from error


def made(kind: str, name: str, *given: object) -> Any:
    """Load a plug-in and call what it names; None where there is none. Raises `UsageError`."""
    make = plugged(kind, name)
    try:
        return make(*given) if make is not None else None
    # A package of somebody else's may fail in any way.
    except Exception as error:
        raise UsageError(f"the {kind} plug-in {name!r} cannot be made: {error}") from error
