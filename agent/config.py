"""Settings: flag > environment > file > default.

On the command line, click reads flags and environment, and uses the file as its default map. The
Python API takes keyword arguments, and reads environment and file only on request.
"""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, get_origin

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from agent.errors import UsageError
from agent.limits import EFFORTS, Depth, Effort, LimitSettings, WikiRules, parse_table
from browser.net.url import parse as parse_url
from browser.plugins import PluginBroken, load_plugin

APP = "urchin-research"
ENV_PREFIX = "RESEARCH_"
MAX_STEPS = 200
"""Maximum number of steps: more would be a loop. Repetition is usually detected much earlier."""
CONTEXT_WINDOW = 32_000
"""Default context window in tokens: every useful model supports it."""
Shared = Annotated[str, Field(pattern=r"^(file|corpus|memory|page|tool)(@\S+)?$")]
"""Private content that may be sent: to any destination, or only to one SITE, tool or server."""
Gate = Literal["domain", "mcp", "memory", "system"]
"""Tool sources; each can be disabled."""


def split_list(value: str) -> tuple[str, ...]:
    """Split a list at commas and white space, except between quotes."""
    words = shlex.shlex(value, posix=True)
    words.whitespace += ","
    words.whitespace_split = True
    words.commenters = words.escape = ""  # Windows paths contain backslashes
    words.quotes = '"'
    try:
        return tuple(words)
    except ValueError as error:  # an unclosed quote
        raise UsageError(f"{value!r} is not a valid list: {error}") from error


def _split(value: Any) -> Any:
    """Accept a single value or a list as text for a setting with several values."""
    if isinstance(value, str):
        return split_list(value)
    return (value,) if isinstance(value, Path) else value


def _split_paths(value: Any) -> Any:
    """Accept one path or several, separated only by commas: a path may contain spaces."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return (value,) if isinstance(value, Path) else value


APPROVABLE = ("click", "type", "submit", "upload", "download", "login")
"""Actions on a site that can be approved before a run (`--yes ACT@SITE`)."""


def _approvals(value: Any) -> Any:
    """Parse approvals such as `click@shop.example`; raises `ValueError` for other forms."""
    names = tuple(_split(value))
    for name in names:
        act, _, site = str(name).partition("@")
        if act not in APPROVABLE or not site:
            raise ValueError(f"{name} is not ACT@SITE, where ACT is one of {', '.join(APPROVABLE)}")
    return names


_Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
_Paths = Annotated[tuple[Path, ...], BeforeValidator(_split_paths)]


class Options(BaseModel):
    """The settings of a run: the flags with underscores, their limits and defaults.

    `research ask --help` explains each (see `agent/cli/flags.py`).
    """

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
    file: _Paths = ()
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
    share: Annotated[tuple[Shared, ...], BeforeValidator(_split)] = ()
    yes: Annotated[tuple[str, ...], BeforeValidator(_approvals)] = ()
    private_search: bool = False
    allow_tasks: _Names = ()
    tool_sources: Annotated[tuple[Gate, ...], BeforeValidator(_split)] = (
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
    mcp_config: _Paths = ()
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
    # `schema` is the name of a pydantic method.
    schema_file: Path | dict[str, Any] | None = Field(None, alias="schema")
    max_sources: int | None = Field(None, ge=1)
    continue_run: str | None = None
    session: str | None = None
    memory: bool = True
    memory_url: str | None = Field(None, exclude=True, repr=False)  # may hold a password
    data_dir: Path | None = None
    keep_days: int | None = Field(None, ge=1, le=1_000_000)  # within calendar dates
    namespace: str = "default"
    embeddings: str | None = None
    wiki: Path | None = None
    wiki_rules: Annotated[WikiRules, BeforeValidator(parse_table)] = WikiRules()
    limits: Annotated[LimitSettings, BeforeValidator(parse_table)] = LimitSettings()
    fresh: bool = False
    require_verified: bool = False
    dry_run: bool = False

    @field_validator("since")
    @classmethod
    def _day(cls, value: str | None) -> str | None:
        # Search engines silently ignore dates in other formats.
        if value is not None:
            try:
                datetime.fromisoformat(value)
            except ValueError:
                message = "Input should be a date such as 2025-01-31"
                raise PydanticCustomError("date", message) from None
        return value

    @field_validator("allow", "deny", "allow_private")
    @classmethod
    def _hosts(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        # Only the host of a URL or a network would count, which the user did not mean.
        if wrong := [value for value in values if "/" in value]:
            message = "{value} should be a host such as example.org or 127.0.0.1:8080"
            raise PydanticCustomError("host", message, {"value": repr(wrong[0])})
        return values

    @property
    def effort(self) -> Effort:
        """The preset limits of a run's depth."""
        return EFFORTS[self.depth]

    def without_servers(self) -> Options:
        """Return the same settings without the tools of MCP servers."""
        gates = tuple(gate for gate in self.tool_sources if gate != "mcp")
        return self.model_copy(update={"tool_sources": gates})

    @property
    def data(self) -> Path:
        """The data folder: runs, memory, caches."""
        return self.data_dir or default_data_dir()

    @property
    def memory_place(self) -> str | Path:
        """The memory database: a file in the data folder, or a shared one."""
        return self.memory_url or self.data / "memory.db"

    @property
    def wiki_folder(self) -> Path:
        """The folder of the wiki, which may not exist."""
        return self.wiki or self.data / "wiki"


Names: TypeAlias = str | Sequence[str]
PathName: TypeAlias = str | Path


class Flags(TypedDict, total=False):
    """The same settings as keyword arguments; `None` means not given.

    `budget` is in USD; `budget_day` and `budget_month` apply to all runs of a day and a month
    (UTC). `timeout` and `model_timeout` are in seconds, `keep_days` in days, `context_window` and
    `max_tokens` in tokens. `research ask --help` explains each.
    """

    alias: Names | None
    base_url: str | None
    fallback: Names | None
    judge: str | None
    native_tools: bool | None
    guided: bool | None
    model_sees: bool | None
    vision: bool | None
    model_timeout: float | None
    context_window: int | None
    depth: Depth | None
    report: bool | None
    instruction: str | None
    search: Names | None
    searxng_url: str | None
    search_url: Names | None
    tool: Names | None
    site: str | None
    since: str | None
    lang: str | None
    region: str | None
    corpus: PathName | None
    file: PathName | Sequence[PathName] | None
    attach: bool | None
    cdp: str | None
    headed: bool | None
    storage_state: PathName | None
    solver: str | None
    allow: Names | None
    deny: Names | None
    allow_private: Names | None
    share: Names | None
    yes: Names | None
    private_search: bool | None
    allow_tasks: Names | None
    tool_sources: Names | None
    tool_allow: Names | None
    tool_deny: Names | None
    mcp_tool_allow: Names | None
    mcp_tool_deny: Names | None
    memory_tool_allow: Names | None
    memory_tool_deny: Names | None
    mcp_config: PathName | Sequence[PathName] | None
    service: Names | None
    mcp_servers: dict[str, Any] | None
    smtp_url: str | None
    channels: dict[str, Any] | None
    proxy: str | None
    ignore_robots: bool | None
    max_steps: int | None
    budget: float | None
    budget_day: float | None
    budget_month: float | None
    max_tokens: int | None
    timeout: float | None
    schema: PathName | dict[str, Any] | None
    max_sources: int | None
    continue_run: str | None
    session: str | None
    memory_url: str | None
    data_dir: PathName | None
    keep_days: int | None
    namespace: str | None
    embeddings: str | None
    wiki: PathName | None
    wiki_rules: WikiRules | dict[str, Any] | None
    limits: LimitSettings | dict[str, Any] | None
    fresh: bool | None
    require_verified: bool | None
    dry_run: bool | None


def load_options(values: Mapping[str, Any], *, config: bool = False) -> Options:
    """Validate settings; with `config`, environment and file supply what `values` omit.

    Raises a `UsageError` that names the setting and the problem.
    """
    below = {**file_settings()[0], **read_environment(os.environ)} if config else {}
    named = {name: value for name, value in values.items() if value is not None}
    return _validated({**below, **named})


def _validated(values: dict[str, Any]) -> Options:
    try:
        options = Options(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(part for part in first["loc"] if isinstance(part, str)) or "settings"
        hint = "`research ask --help` lists the settings."
        raise UsageError(f"{name.replace('_', '-')}: {first['msg']}", hint=hint) from error
    if not options.alias:
        return options
    full = {short: name for short, _, name in (one.partition("=") for one in options.alias)}
    return options.model_copy(
        update={
            "model": full.get(options.model or "", options.model),
            "judge": full.get(options.judge or "", options.judge),
            "fallback": tuple(full.get(name, name) for name in options.fallback),
        }
    )


_last_good: dict[Path, dict[str, Any]] = {}
"""The last valid content of each settings file in this process."""


def file_settings() -> tuple[dict[str, Any], UsageError | None]:
    """Read the settings file; if it is invalid now, return its last valid values and the error.

    A long-running process thus picks up changes, and a half-edited file does not stop it. Raises
    `UsageError` if the file was never valid.
    """
    path = config_path()
    try:
        values = read_file(path)
        _validated(values)
    except UsageError as error:
        if path not in _last_good:
            raise
        return _last_good[path], error
    _last_good[path] = values
    return values, None


def read_file(path: Path | None = None) -> dict[str, Any]:
    """Read the settings file, or return `{}` if it is missing. Raises `UsageError` if invalid."""
    path = path or config_path()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        hint = "Fix the line, or move the file away."
        raise UsageError(f"{path} is not valid TOML: {error}", hint=hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return {key.replace("-", "_"): value for key, value in values.items()}


def read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Read the RESEARCH_… variables of settings; unset and empty ones are ignored.

    Lists are separated by commas or white space.
    """
    found: dict[str, Any] = {}
    for name, field in Options.model_fields.items():
        value = environ.get(f"{ENV_PREFIX}{(field.alias or name).upper()}")
        if value:
            found[name] = split_list(value) if get_origin(field.annotation) is tuple else value
    return found


def provider_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the API keys of an environment: of models, search engines and other services."""
    return {name: value for name, value in environ.items() if name.endswith("_API_KEY")}


def config_path() -> Path:
    """Return the settings file: in the user's config folder, unless RESEARCH_CONFIG is set."""
    named = os.environ.get(f"{ENV_PREFIX}CONFIG")
    return Path(named) if named else platformdirs.user_config_path(APP) / "config.toml"


def servers_path() -> Path:
    """Return the MCP servers file that `research mcp add` writes, next to the settings file."""
    return config_path().with_name("mcp.json")


def default_data_dir() -> Path:
    """Return the data folder of this user."""
    return platformdirs.user_data_path(APP)


def private_folder(path: Path) -> Path:
    """Create a folder that only its owner can read; raises `UsageError` on failure."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.stat().st_mode & 0o077:
            path.chmod(0o700)
    except OSError as error:
        raise UsageError(
            f"cannot use the data folder {path}: {error.strerror}",
            hint="Choose another folder with --data-dir.",
        ) from error
    return path


def host_port(url: str) -> str:
    """Return the host and port of a web address; raises `UsageError` if it is invalid."""
    parsed = parse_url(url)
    if parsed is None:
        raise UsageError(f"{url!r} is not a web address", hint="Write it as http://host:port/path.")
    return parsed.netloc


def find_plugin(kind: str, name: str) -> Any:
    """Load the plug-in of this name, or return None. Raises `UsageError` if it is broken."""
    try:
        return load_plugin(kind, name)
    except PluginBroken as error:
        raise UsageError(str(error), hint=error.hint) from error


def make_plugin(kind: str, name: str, *args: object) -> Any:
    """Call a plug-in's factory, or return None without such a plug-in. Raises `UsageError`."""
    make = find_plugin(kind, name)
    try:
        return make(*args) if make is not None else None
    except Exception as error:  # a third-party package may fail in any way
        raise UsageError(f"the {kind} plug-in {name!r} failed to load: {error}") from error
