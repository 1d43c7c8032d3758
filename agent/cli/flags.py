"""The command-line options: names, environment variables and help texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
EXISTING_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
MANY = click.IntRange(1, 1_000_000)
"""A count: at least one, and small enough for databases and calendars."""
DAYS = click.IntRange(0, 1_000_000)
"""An age in days, small enough for calendar dates."""


class Amount(click.FloatRange):
    """A finite number: `nan` and `inf` are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert to a float; fail if it is not finite."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


ABOVE_ZERO = Amount(min=0, min_open=True)


class Option:
    """An option, used as a decorator of a command and in the tables below."""

    def __init__(self, names: tuple[str, ...], settings: dict[str, Any]) -> None:
        self.names = names
        self.settings = settings

    def made(self) -> click.Option:
        """Make the click option, for help texts."""
        settings = dict(self.settings)
        kind: type[click.Option] = settings.pop("cls", click.Option)
        return kind(self.names, **settings)

    def __call__(self, function: F) -> F:
        """Add the option to a command."""
        return click.option(*self.names, **self.settings)(function)


def option(names: str | tuple[str, ...], metavar: str | None, text: str, **settings: Any) -> Option:
    """Make an option from its names, the placeholder of its value, and its help text."""
    names = (names,) if isinstance(names, str) else names
    return Option(names, {"metavar": metavar, "help": text, **settings})


def switch(names: str | tuple[str, ...], text: str, **settings: Any) -> Option:
    """Make an on/off option."""
    return option(names, None, text, is_flag=True, **settings)


class _Several(click.Option):
    """An option that may be repeated; its environment variable holds a list."""

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Split the variable like the settings do; click would split paths at `:`."""
        from agent.config import split_list  # noqa: PLC0415 - `--help` needs none of it

        value = self.resolve_envvar_value(ctx)
        return value if value is None else split_list(value)


several = partial(option, multiple=True, cls=_Several)
# None if the flag is not given. The environment, the settings file and the default then decide.
_toggle = partial(switch, default=None)

_RUN: tuple[Option, ...] = (
    option(
        "--model",
        "NAME",
        "Language model: openai/…, ollama/…, scripted:FILE, …, or extractive for none.",
    ),
    several("--alias", "SHORT=NAME", "Define a short name for a model."),
    option("--judge", "NAME", "Model that judges claims which rules cannot decide."),
    option("--base-url", "URL", "URL of an OpenAI-compatible endpoint."),
    several("--fallback", "NAME", "Model to use when the previous one fails."),
    _toggle(
        "--native-tools/--text-tools",
        "Call tools as functions or with text tags (default: by provider).",
    ),
    _toggle(
        "--guided/--no-guided",
        "Let rules search and read for the model (default: only for small models).",
    ),
    _toggle("--vision", "Send screenshots to models that accept images."),
    _toggle(
        "--model-sees/--model-blind",
        "Whether the model accepts images (default: try until it refuses one).",
    ),
    option("--context-window", "TOKENS", "Context window in tokens (default: 32000).", type=int),
    option(
        "--model-timeout",
        "SECONDS",
        "Give up after N seconds without output from the model (default: 120).",
        type=float,
    ),
    _toggle("--dry-run", "Show the prompt and estimated cost without sending anything."),
    option(
        "--depth",
        None,
        "How thorough to be (default: standard).",
        type=click.Choice(["quick", "standard", "deep"]),
    ),
    _toggle("--report", "Write a report with sections instead of a short answer."),
    _toggle("--challenge", "Search for the contrary of each central claim (default: if deep)."),
    option(("-s", "--instruction"), "TEXT", "Extra instruction for the model."),
    option("--schema", "FILE", "Also answer as JSON that follows this JSON Schema.", type=PATH),
    option("--search", "A,B,C", "Search providers, in order of preference."),
    option("--searxng-url", "URL", "URL of a SearXNG instance."),
    several("--search-url", "NAME=URL", "Engine URL; {query} is replaced by the query."),
    several("--tool", "NAME", "Enable a plug-in's tool."),
    option("--site", "DOMAIN", "Search only this site."),
    option("--since", "DATE", "Search only for pages newer than this."),
    option("--lang", "CODE", "Language of the results."),
    option("--region", "CODE", "Region of the results."),
    option("--corpus", "DIR", "Search the files in this folder first.", type=PATH),
    several("--file", "PATH", "Add a file as context.", type=PATH),
    _toggle("--attach", "Use a running Chrome."),
    option("--cdp", "URL|chrome|msedge", "Browser to attach to."),
    _toggle("--headed", "Show the browser window."),
    option(
        "--storage-state",
        "FILE",
        "Cookies and storage to load into the browser.",
        type=EXISTING_FILE,
    ),
    option("--solver", "NAME[=URL]", "Captcha-solving service: 2captcha, … (default: none)."),
    several("--allow", "HOST", "Visit only these sites."),
    several("--deny", "HOST", "Never visit these sites."),
    several("--allow-private", "HOST[:PORT]", "Allow this private address."),
    several(
        "--share",
        "KIND[@SITE]",
        "Private content that may be sent: file, corpus, memory, page, tool.",
    ),
    several(
        "--yes",
        "ACT@SITE",
        "Approve an action on a site in advance: click, type, submit, upload, download, login.",
    ),
    _toggle(
        "--private-search", "Use only words from the question and from public pages in searches."
    ),
    option(
        "--proxy",
        "URL",
        "Proxy for web requests; HTTPS_PROXY works too.",
        envvar=["RESEARCH_PROXY", "HTTPS_PROXY", "https_proxy"],
    ),
    _toggle(
        "--ignore-robots",
        "Ignore robots.txt; only for your own sites. URLs that you name are always read.",
    ),
    several(
        "--allow-tasks",
        "TARGET",
        "Let the model create tasks, reminders and monitors that notify TARGET (see --notify).",
    ),
    option(
        "--tool-sources",
        "A,B",
        "Tool sources to enable: domain, mcp, memory, system (default: all).",
    ),
    several("--tool-allow", "PATTERN", "Allow only matching tools, such as FETCH_* or mcp__*."),
    several("--tool-deny", "PATTERN", "Disable matching tools."),
    several("--mcp-tool-allow", "PATTERN", "Allow only matching tools of MCP servers."),
    several("--mcp-tool-deny", "PATTERN", "Disable matching tools of MCP servers."),
    several("--skill-allow", "PATTERN", "Allow only skills (SKILL.md) with matching names."),
    several("--skill-deny", "PATTERN", "Disable skills with matching names."),
    several(
        "--mcp-config",
        "FILE",
        "File that lists MCP servers in the usual `mcpServers` format.",
        type=EXISTING_FILE,
    ),
    option("--max-steps", "N", "Maximum number of steps (default: from --depth).", type=int),
    option("--budget", "USD", "Maximum cost of the run in dollars.", type=float),
    option(
        "--budget-day", "USD", "Maximum cost of all runs of a day (UTC), in dollars.", type=float
    ),
    option("--budget-month", "USD", "Maximum cost of all runs of a month, in dollars.", type=float),
    option(
        "--max-tokens", "N", "Maximum number of tokens, in and out, of all model calls.", type=int
    ),
    option("--timeout", "SECONDS", "Maximum duration of the run.", type=float),
    option("--max-sources", "N", "Maximum number of sources (default: from --depth).", type=int),
    option(
        ("-c", "--continue", "continue_run"),
        "[RUN]",
        "Continue a conversation (default: the last one).",
        is_flag=False,
        flag_value="",
    ),
    option("--session", "NAME", "Use the conversation with this name."),
    _toggle("--memory/--no-memory", "Use and store memories (default: on)."),
    option(
        "--memory-url",
        "URL",
        "Memory shared by several machines: postgresql://… (default: memory.db).",
    ),
    option("--data-dir", "DIR", "Folder for runs and memory.", type=PATH),
    option("--keep-days", "N", "Delete runs older than N days.", type=int),
    option("--namespace", "NAME", "Memory namespace."),
    option("--embeddings", "local|NAME", "Embedding model for memory search."),
    option(
        "--wiki",
        "DIR",
        "Wiki that runs may read (default: `wiki` in the data folder).",
        type=FOLDER,
    ),
    _toggle("--fresh", "Bypass caches."),
)
_OUTPUT: tuple[Option, ...] = (
    several(
        "--export",
        "FILE",
        "Also write a file: .md .html .pdf .docx .json .jsonl .bib .ris .csl.json .xml .warc.gz …",
        type=PATH,
    ),
    _toggle("--require-verified", "Exit with 4 unless every sentence is supported."),
    switch(("--json", "as_json"), "Print the report as JSON."),
    switch(("--events", "as_events"), "Print events as JSON Lines."),
    switch(("-q", "--quiet"), "Show no progress."),
    option(
        ("-v", "--verbose"), None, "Show more progress: the model's text and results.", count=True
    ),
)


def run_flags(*shown: str) -> Callable[[F], F]:
    """Add all flags of a run. The command's help shows only those named in `shown`."""

    # The others are hidden but work: the command accepts every flag of `ask`.
    def visible(row: Option) -> Option:
        return Option(row.names, {"hidden": row.names[0] not in shown, **row.settings})

    return _adder([visible(row) for row in _RUN] if shown else _RUN)


def only_run_flags(*names: str) -> Callable[[F], F]:
    """Add only the named flags of a run."""
    return _adder([row for row in _RUN if row.names[0] in names])


def output_flags(function: F) -> F:
    """Add the flags for printed and written output."""
    return _adder(_OUTPUT)(function)


def question_options() -> list[click.Option]:
    """Make the options of a question for the help text, without loading any run code."""
    return [row.made() for row in (*_RUN, *_OUTPUT)]


def _adder(rows: Sequence[Option]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for row in reversed(rows):  # the last applied decorator comes first in the help
            function = Option(row.names, _with_variable(row))(function)
        return function

    return add


def _with_variable(row: Option) -> dict[str, Any]:
    """Add the environment variable to an option's settings, unless the row names one."""
    parameter = next((name for name in row.names if not name.startswith("-")), None)
    name = parameter or next(name for name in row.names if name.startswith("--"))
    plain = name.split("/")[0].removeprefix("--").replace("as_", "", 1).replace("-", "_")
    return {"envvar": f"RESEARCH_{plain.upper()}", "show_envvar": True, **row.settings}


def drop_unset(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out flags that were not given, so that other settings apply."""
    return {name: value for name, value in flags.items() if value not in (None, ())}


# Where data is stored: from the flag, environment, settings file or default. Commands that read no
# other setting find the data of runs with it.


def data_folder() -> Path:
    """Return the data folder from the settings file, or the user's default one."""
    from agent.config import default_data_dir, read_file  # noqa: PLC0415 - `--help` needs none of it

    named = read_file().get("data_dir")
    return Path(str(named)) if named else default_data_dir()


def _namespace() -> str:
    from agent.config import read_file  # noqa: PLC0415 - as above

    return str(read_file().get("namespace") or "default")


data_dir_option = option(
    "--data-dir",
    "DIR",
    "Folder for runs and memory.",
    type=FOLDER,
    envvar="RESEARCH_DATA_DIR",
    default=data_folder,
)
namespace_option = option(
    "--namespace", None, "Memory namespace.", envvar="RESEARCH_NAMESPACE", default=_namespace
)
PLACES = frozenset({"--data-dir", "--namespace", "--wiki", "--jobs-url"})
"""Options allowed anywhere in a command: see `put_places_first` in `agent.cli.group`."""


def is_given(ctx: click.Context, name: str) -> bool:
    """Tell whether a flag or the environment set an option of the group."""
    group = ctx.parent or ctx
    return group.get_parameter_source(name) is not ParameterSource.DEFAULT


# Options of several commands.

json_option = switch(("--json", "as_json"), "Print as JSON.")


def number_option(default: int, text: str) -> Option:
    """Make the option `-n`: a count of at least one."""
    return option(("-n", "--number"), None, text, default=default, type=MANY, show_default=True)


class NonBlank(click.types.StringParamType):
    """A text that is not blank; otherwise raises `UsageError`."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        self._what = what
        self._hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse a blank text."""
        text = super().convert(value, param, ctx)
        if not text.strip():
            raise UsageError(f"{self._what} must not be empty", hint=self._hint)
        return text


# Servers.

MIN_TOKEN = 16
"""Minimum length of a token in characters: anyone who reaches the port can guess without limit."""


def port_option(default: int, text: str = "Port to listen on; 0 chooses a free one.") -> Option:
    """Make the option `--port`."""
    kind = click.IntRange(0, 65535)
    return option("--port", None, text, default=default, type=kind, show_default=True)


def token_option(variable: str) -> Option:
    """Make the option `--token`; `variable` is its environment variable."""

    def check(_: click.Context, __: click.Parameter, token: str | None) -> str | None:
        if token is not None and len(token) < MIN_TOKEN:
            raise UsageError(f"a token must have at least {MIN_TOKEN} characters")
        return token

    text = "Token that clients must send (default: a random one)."
    return option("--token", "TEXT", text, envvar=variable, callback=check)


# Jobs.

JOBS_URL = "RESEARCH_JOBS_URL"
jobs_url_option = option(
    "--jobs-url",
    "URL",
    "Jobs shared by several machines: postgresql://… (default: jobs.db in the data folder).",
    envvar=JOBS_URL,
)
notify_option = several(
    "--notify", "TARGET", "Notify mailto:ADDRESS, https://…, desktop: or feed:FILE; repeatable."
)
host_delay_option = option(
    "--host-delay",
    "S",
    "Minimum seconds between two requests to one host, over all questions (default: 0.2).",
    type=Amount(min=0),
)


def retry_option(default: int) -> Option:
    """Make the option `--retry`: the number of retries after a failure."""
    kind, text = click.IntRange(0, 20), "Retry failures up to N times."
    return option("--retry", "N", text, type=kind, default=default, show_default=True)


# Timestamps, and the data to check them.

calendars_option = several(
    ("--calendar", "calendars"),
    "URL",
    "OpenTimestamps calendar: a URL, or `public` for the project's public ones; repeatable.",
)
complete_option = switch("--complete", "Fetch pending Bitcoin proofs from the calendars.")


def require_stamper(authority: str | None, calendars: tuple[str, ...], *, complete: bool) -> None:
    """Raise `click.UsageError` if no timestamping service is named."""
    if not (authority or calendars or complete):
        raise click.UsageError("Name a timestamping authority, or use --calendar or --complete.")


roots_option = option(
    "--roots", "FILE", "Root certificates of timestamping authorities.", type=EXISTING_FILE
)
_BLOCK = re.compile(r"(\d{1,9})=([0-9a-fA-F]{160})")


def _read_blocks(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[int, bytes]:
    found = [_BLOCK.fullmatch(value) for value in values]
    if not all(found):
        raise click.BadParameter(
            "a block must be HEIGHT=HEADER, with 80 bytes in hex as the header."
        )
    return {int(block[1]): bytes.fromhex(block[2]) for block in found if block}


blocks_option = several(
    ("--block", "blocks"),
    "HEIGHT=HEADER",
    "Header of a Bitcoin block that a proof refers to (80 bytes in hex); repeatable.",
    callback=_read_blocks,
)
