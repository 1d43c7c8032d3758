"""The table of settings, with the type, bounds, default, help text and flag of each.

These are generated from it: the command-line options (`agent/cli/flags.py`), the keys of
`config.toml` and the `RESEARCH_…` variables (`agent/config.py`), and the REST schemas
(`agent/serve/schemas.py`) and the arguments of the MCP server's tools
(`agent/mcp/server.py`). `Flags`, the keyword arguments of `research()`, repeats the settings for
type checkers; a test compares the two. To add a setting, add a line here and one to `Flags`.

`research --help` loads this module, so it must not import pydantic. Its annotations must be
actual types, not strings, since pydantic and the command line read them.
"""

import dataclasses
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin

from agent.validation import Before, Bounds, Depth, split_list, split_paths

if TYPE_CHECKING:
    from agent.limits import DepthLimits, LimitSettings, WikiRules, parse_table

APP = "urchin-research"
MAX_STEPS = 200
"""Maximum number of steps: a run that needs more is in a loop, usually detected earlier."""
CONTEXT_WINDOW = 32_000
"""Default context window in tokens: every useful model supports it."""
MIN_CONTEXT_WINDOW = 4_000
"""Minimum context window in tokens: enough for the system prompt and one observation."""
MAX_SECONDS = 1e6
"""Maximum duration of a run in seconds (eleven days): event loops reject timers of years."""
MAX_USD = 1e6
"""Maximum budget in dollars: anything higher is probably a typo."""
MAX_SOURCES = 1_000
"""Maximum number of sources: nobody could read a report with more."""
MAX_DAYS = 1_000_000
"""Maximum age in days: Python cannot represent dates before year 1."""
MIN_TOKENS = 1_000
"""Minimum token limit for a run: fewer are not enough for one call."""
ToolSource = Literal["domain", "mcp", "memory", "system"]
"""Where a tool comes from; the user can disable each source (`--tool-sources`)."""
TOOL_SOURCES: tuple[ToolSource, ...] = get_args(ToolSource)
APPROVABLE = ("click", "type", "submit", "upload", "download", "login")
"""Actions on a site that can be approved before a run (`--yes ACT@SITE`)."""
RECORDINGS = (".webm", ".har")
"""File extensions of browser recordings (`--record FILE`)."""
SHAREABLE = ("file", "corpus", "memory", "page", "tool")
"""Private content that may be sent, to any destination, or only to one SITE, tool or server."""


def _to_list(value: Any, split: Callable[[str], tuple[str, ...]]) -> Any:
    """Accept a list, a single value, or a list written as a string."""
    if isinstance(value, str):
        return split(value)
    return (value,) if isinstance(value, Path) else value


def _parse_names(value: Any) -> Any:
    return _to_list(value, split_list)


def _parse_paths(value: Any) -> Any:
    return _to_list(value, split_paths)


def _parse_approvals(value: Any) -> Any:
    for name in _parse_names(value):
        act, _, site = str(name).partition("@")
        if act not in APPROVABLE or not site:
            raise ValueError(
                f"{name} must be ACT@SITE, where ACT is one of {', '.join(APPROVABLE)}"
            )
    return _parse_names(value)


def _parse_shares(value: Any) -> Any:
    for name in _parse_names(value):
        kind, at, site = str(name).partition("@")
        if kind not in SHAREABLE or (at and not site) or " " in site:
            raise ValueError(
                f"{name} must be KIND[@SITE], where KIND is one of {', '.join(SHAREABLE)}"
            )
    return _parse_names(value)


def _parse_recordings(value: Any) -> Any:
    for path in _parse_paths(value):
        if Path(path).suffix not in RECORDINGS:
            raise ValueError(f"{path} must end in .webm (video) or .har (requests)")
    return _parse_paths(value)


def _parse_hosts(value: Any) -> Any:
    # Of a URL or a network range, only the host would be used, which is not what the user meant.
    for name in _parse_names(value):
        if "/" in str(name):
            raise ValueError(f"{name!r} must be a host such as example.org or 127.0.0.1:8080")
    return _parse_names(value)


def _parse_date(value: Any) -> Any:
    # Search engines silently ignore dates in other formats.
    from datetime import datetime  # noqa: PLC0415 - not needed for `--help`

    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("Input should be a date such as 2025-01-31") from None
    return value


_Names = Annotated[tuple[str, ...], Before(_parse_names)]
_Hosts = Annotated[tuple[str, ...], Before(_parse_hosts)]
_Paths = Annotated[tuple[Path, ...], Before(_parse_paths)]
_Usd = Annotated[float, Bounds(gt=0, le=MAX_USD)]
_Seconds = Annotated[float, Bounds(gt=0, le=MAX_SECONDS)]


def _default_limits() -> "LimitSettings":
    from agent.limits import LimitSettings  # noqa: PLC0415 - as above

    return LimitSettings()


def _default_rules() -> "WikiRules":
    from agent.limits import WikiRules  # noqa: PLC0415 - as above

    return WikiRules()


def setting(
    default: Any,
    text: str,
    metavar: str | None = None,
    *,
    flag: str | tuple[str, ...] | None = "",
    page: str = "",
    secret: bool = False,
    **more: Any,
) -> Any:
    """Declare a setting: its default (or default factory), help text and value placeholder.

    `flag` contains its names on the command line (default: `--name`); None if it has no flag.
    `page` is the label of its control on the web page. `secret` settings are never recorded or
    shown. `more` contains `variables` (other environment variables that set it) and arguments for
    click, such as `exists`.
    """
    metadata = {"help": text, "metavar": metavar, "flag": flag, "page": page, "secret": secret}
    metadata |= more
    if callable(default):
        return dataclasses.field(default_factory=default, repr=not secret, metadata=metadata)
    return dataclasses.field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True)
class Options:
    """The settings of a run. `load_options` in `agent/config.py` creates and validates them."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    model: str | None = setting(
        None,
        "Language model: openai/…, ollama/…, scripted:FILE, …, or `extractive` (none).",
        "NAME",
        page="Model",
    )
    alias: _Names = setting((), "Define a short name for a model.", "SHORT=NAME")
    judge: str | None = setting(None, "Model that judges claims that code cannot decide.", "NAME")
    base_url: str | None = setting(None, "URL of an OpenAI-compatible endpoint.", "URL")
    fallback: _Names = setting((), "Model to use when the previous one fails.", "NAME")
    native_tools: bool | None = setting(
        None,
        "Call tools as functions or with text tags (the default depends on the provider).",
        flag="--native-tools/--text-tools",
    )
    guided: bool | None = setting(
        None,
        "Do the searching and reading in code (default: only for small models).",
        flag="--guided/--no-guided",
    )
    vision: bool = setting(False, "Send screenshots to models that accept images.")
    model_sees: bool | None = setting(
        None,
        "Whether the model accepts images (default: yes, until it rejects one).",
        flag="--model-sees/--model-blind",
    )
    context_window: Annotated[int, Bounds(ge=MIN_CONTEXT_WINDOW)] = setting(
        CONTEXT_WINDOW, f"Context window in tokens (default: {CONTEXT_WINDOW}).", "TOKENS"
    )
    model_timeout: _Seconds = setting(
        120, "Give up after N seconds without output from the model (default: 120).", "SECONDS"
    )
    dry_run: bool = setting(False, "Show the prompt and estimated cost without sending anything.")
    depth: Depth = setting("standard", "How thorough to be (default: standard).", page="Depth")
    report: bool = setting(False, "Write a report with sections instead of a short answer.")
    plan: bool = setting(
        False, "Edit and approve the plan before the search starts.", page="Plan first"
    )
    challenge: bool = setting(
        False, "Search for evidence against each central claim (on by default with --depth deep)."
    )
    instruction: str | None = setting(
        None, "Extra instruction for the model.", "TEXT", flag=("-s", "--instruction")
    )
    schema: Path | dict[str, Any] | None = setting(
        None, "Also return the answer as JSON that matches this JSON Schema.", "FILE"
    )
    search: _Names = setting((), "Search providers, in order of preference.", "A,B,C")
    searxng_url: str | None = setting(None, "URL of a SearXNG instance.", "URL")
    search_url: _Names = setting(
        (), "Add a search engine by its URL; {query} is replaced by the query.", "NAME=URL"
    )
    tool: _Names = setting((), "Enable a plug-in's tool.", "NAME")
    site: str | None = setting(None, "Search only this site.", "DOMAIN", page="Only this site")
    since: Annotated[str, Before(_parse_date)] | None = setting(
        None, "Search only pages newer than this date.", "DATE"
    )
    lang: str | None = setting(None, "Language of the results.", "CODE")
    region: str | None = setting(None, "Region of the results.", "CODE")
    corpus: Path | None = setting(
        None, "Search this folder, or zotero:COLLECTION, first.", "DIR", page="Sources"
    )
    file: _Paths = setting((), "Add a file as context.", "PATH", page="Files")
    attach: bool = setting(False, "Use a running Chrome.", page="Sources")
    cdp: str | None = setting(None, "Browser to attach to.", "URL|chrome|msedge")
    headed: bool = setting(False, "Show the browser window.")
    storage_state: Path | None = setting(
        None, "Cookies and storage to load into the browser.", "FILE", exists=True
    )
    login: _Names = setting((), "Use the session saved by `research login NAME URL`.", "NAME")
    record: Annotated[tuple[Path, ...], Before(_parse_recordings)] = setting(
        (), "Record the browser: .webm (video) or .har (requests).", "FILE"
    )
    solver: str | None = setting(
        None, "Captcha-solving service: 2captcha, … (default: none).", "NAME[=URL]"
    )
    allow: _Hosts = setting((), "Visit only these sites.", "HOST")
    deny: _Hosts = setting((), "Never visit these sites.", "HOST")
    allow_private: _Hosts = setting((), "Allow access to this private address.", "HOST[:PORT]")
    share: Annotated[tuple[str, ...], Before(_parse_shares)] = setting(
        (),
        f"Kind of private content that may be sent: {', '.join(SHAREABLE)}.",
        "KIND[@SITE]",
    )
    yes: Annotated[tuple[str, ...], Before(_parse_approvals)] = setting(
        (),
        f"Approve an action on a site in advance: {', '.join(APPROVABLE)}.",
        "ACT@SITE",
    )
    private_search: bool = setting(
        False, "Use only words from the question and from public pages in searches."
    )
    online_metadata: bool = setting(
        False, "Fill in missing citation details for PDFs from Crossref and arXiv."
    )
    proxy: str | None = setting(
        None,
        "Proxy for web requests; HTTPS_PROXY works too.",
        "URL",
        variables=("HTTPS_PROXY", "https_proxy"),
    )
    ignore_robots: bool = setting(
        False, "Ignore robots.txt; only for your own sites. URLs that you name are always read."
    )
    allow_tasks: _Names = setting(
        (),
        "Let the model create tasks, reminders and monitors that notify TARGET (see --notify).",
        "TARGET",
    )
    tool_sources: Annotated[tuple[ToolSource, ...], Before(_parse_names)] = setting(
        TOOL_SOURCES,
        f"Tool sources to enable: {', '.join(TOOL_SOURCES)} (default: all).",
        "A,B",
    )
    tool_allow: _Names = setting(
        (), "Allow only matching tools, such as FETCH_* or mcp__*.", "PATTERN"
    )
    tool_deny: _Names = setting((), "Disable matching tools.", "PATTERN")
    mcp_tool_allow: _Names = setting((), "Allow only matching MCP tools.", "PATTERN")
    mcp_tool_deny: _Names = setting((), "Disable matching MCP tools.", "PATTERN")
    memory_tool_allow: _Names = setting(
        (), "Allow only matching memory tools.", "PATTERN", flag=None
    )
    memory_tool_deny: _Names = setting((), "Disable matching memory tools.", "PATTERN", flag=None)
    skill_allow: _Names = setting(
        (), "Allow only skills (SKILL.md) with matching names.", "PATTERN"
    )
    skill_deny: _Names = setting((), "Disable skills with matching names.", "PATTERN")
    mcp_config: _Paths = setting(
        (), "File with MCP servers in the standard `mcpServers` format.", "FILE", exists=True
    )
    mcp_servers: dict[str, Any] = setting(
        dict, "MCP servers, in `mcpServers` format.", flag=None, secret=True
    )
    service: _Names = setting(
        (),
        "Use another URL for a service of `audit` and `recheck`: crossref, doi, archive.",
        "NAME=URL",
        flag=None,
    )
    smtp_url: str | None = setting(
        None, "Mail server for notifications.", "URL", flag=None, secret=True
    )
    channels: dict[str, Any] = setting(
        dict, "Channels for `research channels`.", flag=None, secret=True
    )
    max_steps: Annotated[int, Bounds(ge=1, le=MAX_STEPS)] | None = setting(
        None, "Maximum number of steps (default: depends on --depth).", "N"
    )
    budget: _Usd | None = setting(
        None, "Maximum cost of the run in dollars.", "USD", page="Budget, USD"
    )
    budget_day: _Usd | None = setting(
        None, "Maximum cost of all runs in a day (UTC), in dollars.", "USD"
    )
    budget_month: _Usd | None = setting(
        None, "Maximum cost of all runs in a month, in dollars.", "USD"
    )
    max_tokens: Annotated[int, Bounds(ge=MIN_TOKENS)] | None = setting(
        None, "Maximum number of input and output tokens for all model calls.", "N"
    )
    timeout: _Seconds | None = setting(
        None,
        "Maximum run time in seconds, excluding waits for input.",
        "SECONDS",
        page="Time limit, seconds",
    )
    max_sources: Annotated[int, Bounds(ge=1, le=MAX_SOURCES)] | None = setting(
        None, "Maximum number of sources (default: depends on --depth).", "N"
    )
    continue_run: str | None = setting(
        None,
        "Continue a conversation (default: the last one).",
        "[RUN]",
        flag=("-c", "--continue"),
        is_flag=False,
        flag_value="",
    )
    session: str | None = setting(None, "Use the conversation with this name.", "NAME")
    memory: bool = setting(
        True, "Use and store memories (default: on).", flag="--memory/--no-memory"
    )
    memory_url: str | None = setting(
        None,
        "Memory database to share between machines: postgresql://… (default: memory.db).",
        "URL",
        secret=True,
    )
    data_dir: Path | None = setting(None, "Folder for runs and memory.", "DIR")
    keep_days: Annotated[int, Bounds(ge=1, le=MAX_DAYS)] | None = setting(
        None, "Delete runs older than N days.", "N"
    )
    namespace: str = setting("default", "Memory namespace.", "NAME")
    embeddings: str | None = setting(None, "Embedding model for memory search.", "local|NAME")
    wiki: Path | None = setting(
        None,
        "Wiki folder (default: `wiki` in the data folder).",
        "DIR",
        file_okay=False,
    )
    wiki_rules: "Annotated[WikiRules, Before(parse_table)]" = setting(
        _default_rules, "Wiki rules, as a table: see docs/memory.md.", flag=None
    )
    limits: "Annotated[LimitSettings, Before(parse_table)]" = setting(
        _default_limits, "Other limits, as a table: see `LimitSettings`.", flag=None
    )
    fresh: bool = setting(False, "Bypass caches.")
    require_verified: bool = setting(False, "Exit with code 4 unless every sentence is supported.")

    @property
    def depth_limits(self) -> "DepthLimits":
        """The preset limits for the run's depth."""
        from agent.limits import DEPTH_LIMITS  # noqa: PLC0415 - as above

        return DEPTH_LIMITS[self.depth]

    @property
    def challenges(self) -> int:
        """The number of claims to search for evidence against."""
        from agent.limits import CHALLENGES  # noqa: PLC0415 - as above

        return CHALLENGES if self.challenge else self.depth_limits.challenges

    def without_servers(self) -> "Options":
        """Return the same settings without MCP tools."""
        sources = tuple(source for source in self.tool_sources if source != "mcp")
        return dataclasses.replace(self, tool_sources=sources)

    @property
    def data(self) -> Path:
        """The data folder: runs, memory, caches."""
        return self.data_dir or default_data_dir()

    @property
    def memory_location(self) -> str | Path:
        """The memory database: a file in the data folder, or a shared one."""
        return self.memory_url or self.data / "memory.db"

    @property
    def wiki_folder(self) -> Path:
        """The wiki folder, which may not exist."""
        return self.wiki or self.data / "wiki"


SETTINGS = {field.name: field for field in dataclasses.fields(Options)}
"""The settings by name."""


def variables_of(name: str) -> list[str]:
    """Return the environment variables for a setting; its RESEARCH_… variable comes first."""
    return [f"RESEARCH_{name.upper()}", *SETTINGS[name].metadata.get("variables", ())]


def _conversions(name: str) -> list[Before]:
    parts = getattr(SETTINGS[name].type, "__metadata__", ())
    return [part for part in parts if isinstance(part, Before)]


def is_list(name: str) -> bool:
    """Return whether a setting has several values."""
    return bool(_conversions(name)) and get_origin(get_args(SETTINGS[name].type)[0]) is tuple


def parse_setting_text(name: str, value: Any) -> Any:
    """Split a list written as a string, as in a template; leave an invalid value unchanged."""
    for part in _conversions(name):
        try:
            return part.convert(value)
        except ValueError:
            return value  # reported later by validation
    return value


def schema_type(name: str, *, explain: bool = True) -> Any:
    """Return the type of an optional field for a setting, with its bounds and help text."""
    from pydantic import Field  # noqa: PLC0415 - as above

    kind: Any = SETTINGS[name].type
    text = SETTINGS[name].metadata["help"] if explain else None
    return Annotated[kind | None, Field(description=text)]


def default_data_dir() -> Path:
    """Return this user's data folder."""
    import platformdirs  # noqa: PLC0415 - as above

    return platformdirs.user_data_path(APP)


_COMMAND_OR_FLAG = re.compile(
    r"`research (?P<command>\w+)[^`]*`"
    r"|(?P<quote>`?)--(?P<no>no-)?(?P<flag>[a-z][a-z-]+)"
    r"(?:[ =](?P<value>[A-Z][^\s`.,;]*|extractive))?(?P=quote)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_PAGE_CONTROLS = {"doctor": "“Doctor” in Settings", "keys": "“Keys” in Settings"}
"""Commands for which the web page has a control."""
_TERMINAL_ONLY = "\0"
"""Marks a sentence that makes sense only on the command line."""


Surface = Literal["shell", "page", "python", "api"]
"""The interface that shows a hint: terminal, web page, Python or REST."""


def hint_for(surface: Surface, hint: str, fields: Container[str] = ()) -> str:
    """Rewrite a hint that names flags and commands for the interface that shows it.

    In Python, a flag becomes a keyword argument; in the REST API, it becomes one of the request's
    `fields` or a server setting. On the web page, flags and commands are replaced with the names of
    their controls; a flag without a control is replaced with the server setting. Sentences about
    features that the page lacks are left out.
    """

    def in_python(match: re.Match[str]) -> str:
        name = (match["flag"] or "").replace("-", "_")
        if name not in SETTINGS:
            return match[0]
        value = "False" if match["no"] else repr(match["value"]) if _is_value(match) else "…"
        return f"`{name}={value}`"

    def in_request(match: re.Match[str]) -> str:
        name = (match["flag"] or "").replace("-", "_")
        if name not in SETTINGS:
            return match[0]
        if name not in fields:
            return f"the server’s setting `{name}`"
        return f'`"{name}": "{match["value"]}"`' if _is_value(match) else f"`{name}`"

    def on_page(match: re.Match[str]) -> str:
        name = (match["flag"] or "").replace("-", "_")
        if name not in SETTINGS:
            return _PAGE_CONTROLS.get(match["command"] or "", _TERMINAL_ONLY)
        label = SETTINGS[name].metadata["page"]
        if not label:
            return f"the server’s setting `{name}`"
        return f"“{label}: none”" if _is_value(match) else f"“{label}”"

    if surface == "shell":
        return hint
    rewrite = {"python": in_python, "api": in_request, "page": on_page}[surface]
    found = [_COMMAND_OR_FLAG.sub(rewrite, one) for one in _SENTENCE_END.split(hint)]
    return " ".join(f"{one[:1].upper()}{one[1:]}" for one in found if _TERMINAL_ONLY not in one)


def _is_value(match: re.Match[str]) -> bool:
    """Return whether a flag's value is literal, such as `extractive`, and not a placeholder."""
    return (match["value"] or "").islower()
