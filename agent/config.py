"""Loads settings, in order of precedence: flag, environment, file, default.

`agent/options.py` lists the settings, and only `agent/config.py` reads them. The Python API reads
the environment and the file only on request.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import platformdirs
from pydantic import TypeAdapter, ValidationError

from agent.errors import UsageError
from agent.options import APP, SETTINGS, Options, is_list, parse_setting_text, variables_of
from agent.validation import split_list
from browser.net.url import parse as parse_url
from browser.plugins import PluginBroken, load_plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from agent.limits import LimitSettings, WikiRules
    from agent.validation import Depth


Names: TypeAlias = "str | Sequence[str]"
PathName: TypeAlias = "str | Path"


class Flags(TypedDict, total=False):
    """The settings as keyword arguments; `None` means not set.

    `budget` is in USD; `budget_day` and `budget_month` apply to all runs in a calendar day or month
    (UTC). `timeout` and `model_timeout` are in seconds, `keep_days` in days, `context_window` and
    `max_tokens` in tokens. `research ask --help` explains each setting.
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
    plan: bool | None
    challenge: bool | None
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
    login: Names | None
    record: PathName | Sequence[PathName] | None
    solver: str | None
    allow: Names | None
    deny: Names | None
    allow_private: Names | None
    share: Names | None
    yes: Names | None
    private_search: bool | None
    online_metadata: bool | None
    allow_tasks: Names | None
    tool_sources: Names | None
    tool_allow: Names | None
    tool_deny: Names | None
    mcp_tool_allow: Names | None
    mcp_tool_deny: Names | None
    memory_tool_allow: Names | None
    memory_tool_deny: Names | None
    skill_allow: Names | None
    skill_deny: Names | None
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


@cache
def _adapter() -> TypeAdapter[Options]:
    # Pydantic resolves the annotations of `agent/options.py` here, since that module does not
    # import these names itself.
    from agent.limits import LimitSettings, WikiRules, parse_table  # noqa: F401, PLC0415

    return TypeAdapter(Options)


def load_options(values: Mapping[str, Any], *, config: bool = False) -> Options:
    """Validate settings; `config` adds those from the environment and the file.

    Raises a `UsageError` that names the setting and the problem.
    """
    below = {**file_settings()[0], **read_environment(os.environ)} if config else {}
    named = {name: value for name, value in values.items() if value is not None}
    return _validate_options({**below, **named})


def _validate_options(values: dict[str, Any]) -> Options:
    try:
        options = _adapter().validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(part for part in first["loc"] if isinstance(part, str)) or "settings"
        hint = "`research ask --help` lists the settings."
        problem = first["msg"].removeprefix("Value error, ")
        if first["type"] == "unexpected_keyword_argument":
            problem = "There is no such setting."
            if "." not in name and (near := get_close_matches(name, SETTINGS, 1)):
                hint = f"Did you mean {near[0].replace('_', '-')}?"
        raise UsageError(f"{name.replace('_', '-')}: {problem}", hint=hint) from error
    if not options.alias:
        return options
    full = {short: name for short, _, name in (one.partition("=") for one in options.alias)}
    return dataclasses.replace(
        options,
        model=full.get(options.model or "", options.model),
        judge=full.get(options.judge or "", options.judge),
        fallback=tuple(full.get(name, name) for name in options.fallback),
    )


def dump_options(
    options: Options, *, exclude: Collection[str] = (), changed_only: bool = False
) -> dict[str, Any]:
    """Return settings as JSON values, without secrets; with `changed_only`, only changed ones.

    `load_options` accepts the result.
    """
    left_out = {name for name, field in SETTINGS.items() if field.metadata["secret"]} | {*exclude}
    found: dict[str, Any] = _adapter().dump_python(
        options, mode="json", exclude=left_out, exclude_defaults=changed_only
    )
    return found


_last_good: dict[Path, tuple[tuple[int, int], dict[str, Any]]] = {}
"""The last valid content of each settings file read by this process, with its mtime and size."""


def file_settings() -> tuple[dict[str, Any], UsageError | None]:
    """Read the settings file; if it has become invalid, return its last valid values and the error.

    A long-running process thus picks up changes and is not affected by a half-edited file. The file
    is read again only if it has changed. Raises `UsageError` if the file was never valid.
    """
    path = config_path()
    version, known = _file_signature(path), _last_good.get(path)
    if known is not None and known[0] == version:
        return known[1], None
    try:
        values = read_file(path)
        _validate_options(values)
    except UsageError as error:
        if known is None:
            raise
        return known[1], error
    _last_good[path] = version, values
    return values, None


def _file_signature(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


class LiveOptions:
    """The settings of a long-running process, which follow changes to the settings file.

    `given` settings override those from the environment and the file. If the file becomes invalid,
    `report(message, hint)` is called once, and the last valid values stay in effect.
    """

    def __init__(self, given: Mapping[str, Any], report: Callable[[str, str], None]) -> None:
        self.given = dict(given)
        self._report = report
        self._reported = ""
        self._options = load_options(self.given, config=True)

    def current(self) -> Options:
        """Return the current settings."""
        _, broken = file_settings()
        try:
            self._options = load_options(self.given, config=True)
        except UsageError as error:  # the file is valid, but not together with `given`
            broken = error
        if broken is not None and str(broken) != self._reported:
            self._report(f"{broken}; using the previous settings", broken.hint)
        self._reported = str(broken or "")
        return self._options


def read_file(path: Path | None = None) -> dict[str, Any]:
    """Read the settings file, or return `{}` if it is missing. Raises `UsageError` if invalid."""
    path = path or config_path()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        hint = "Fix the line, or move the file elsewhere."
        raise UsageError(f"{path} is not valid TOML: {error}", hint=hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return {key.replace("-", "_"): value for key, value in values.items()}


def read_template(name: str) -> dict[str, Any]:
    """Read a saved question: its settings and, if present, `question` and `export`.

    Raises `UsageError` if the template does not exist or a setting is invalid.
    """
    folder = config_path().parent / "templates"
    templates = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if name not in templates:
        hint = f"Available templates: {', '.join(templates) or 'none yet'}."
        raise UsageError(f"no template {name!r} in {folder}", hint=hint)
    values = read_file(templates[name])
    if unknown := sorted(values.keys() - SETTINGS.keys() - _EXTRA_TEMPLATE_KEYS):
        raise UsageError(
            f"the template {name} sets an unknown option: {unknown[0]}",
            hint="A template may set `question` and the options listed by `research ask --help`.",
        )
    load_options({key: value for key, value in values.items() if key not in _EXTRA_TEMPLATE_KEYS})
    return {
        key: value if key in _EXTRA_TEMPLATE_KEYS else parse_setting_text(key, value)
        for key, value in values.items()
    }


_EXTRA_TEMPLATE_KEYS = frozenset({"question", "export"})
"""Keys that a template may contain in addition to settings."""


def read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Read settings from RESEARCH_… variables; unset and empty ones are ignored.

    List items are separated by commas or whitespace. Raises `UsageError` for an unclosed quote.
    """
    found = {}
    for name in SETTINGS:
        if value := next(filter(None, map(environ.get, variables_of(name))), None):
            try:
                found[name] = split_list(value) if is_list(name) else value
            except ValueError as error:
                raise UsageError(f"{variables_of(name)[0]}: {error}") from error
    return found


def provider_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the API keys in an environment: for models, search engines and other services."""
    return {name: value for name, value in environ.items() if name.endswith("_API_KEY")}


def read_setting(name: str) -> Any:
    """Return one setting from the environment or the file, unvalidated; None if it is not set."""
    in_environment = read_environment(os.environ).get(name)
    return in_environment if in_environment is not None else read_file().get(name)


def config_path() -> Path:
    """Return the path of the settings file: RESEARCH_CONFIG or, if unset, the default path."""
    named = os.environ.get("RESEARCH_CONFIG")
    return Path(named) if named else platformdirs.user_config_path(APP) / "config.toml"


def servers_path() -> Path:
    """Return the path of the file that `research mcp add` writes, next to the settings file."""
    return config_path().with_name("mcp.json")


def private_folder(path: Path) -> Path:
    """Create a folder that only its owner can access; raises `UsageError` on failure."""
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
        raise UsageError(
            f"{url!r} is not a web address", hint="Use a URL such as http://host:port/path."
        )
    return parsed.netloc


def find_plugin(kind: str, name: str) -> Any:
    """Load the plug-in with this name; returns None if unknown, raises `UsageError` if broken."""
    try:
        return load_plugin(kind, name)
    except PluginBroken as error:
        raise UsageError(str(error), hint=error.hint) from error


def make_plugin(kind: str, name: str, *args: object) -> Any:
    """Call a plug-in's factory, or return None if there is no such plug-in. Raises `UsageError`."""
    make = find_plugin(kind, name)
    try:
        return make(*args) if make is not None else None
    except Exception as error:  # third-party code can raise any exception
        raise UsageError(f"the {kind} plug-in {name!r} failed to load: {error}") from error
