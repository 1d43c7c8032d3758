"""The options of commands, in one place: names, environment variables, help."""

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
"""How many of anything: one at least, and no more than databases and calendars can count."""
DAYS = click.IntRange(0, 1_000_000)
"""An age in days, within the years that a calendar has."""


class Amount(click.FloatRange):
    """A number that is one: `nan` and `inf` are in no range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what cannot be counted, spent or waited for."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


ABOVE_ZERO = Amount(min=0, min_open=True)


class Option:
    """An option, used as the decorator of a command; the tables below are made of them too."""

    def __init__(self, names: tuple[str, ...], settings: dict[str, Any]) -> None:
        self.names = names
        self.settings = settings

    def made(self) -> click.Option:
        """Make the option itself, for a page of help."""
        settings = dict(self.settings)
        kind: type[click.Option] = settings.pop("cls", click.Option)
        return kind(self.names, **settings)

    def __call__(self, function: F) -> F:
        """Add the option to a command."""
        return click.option(*self.names, **self.settings)(function)


def option(names: str | tuple[str, ...], metavar: str | None, text: str, **settings: Any) -> Option:
    """Make an option: its names, what its value is called, and what `--help` says of it."""
    names = (names,) if isinstance(names, str) else names
    return Option(names, {"metavar": metavar, "help": text, **settings})


def switch(names: str | tuple[str, ...], text: str, **settings: Any) -> Option:
    """Make an option that is on or off."""
    return option(names, None, text, is_flag=True, **settings)


class _Several(click.Option):
    """An option that may be repeated; its variable holds a list."""

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Split the variable as the settings do: click takes `:` between paths."""
        from agent.config import split_list  # noqa: PLC0415 - `--help` needs none of it

        value = self.resolve_envvar_value(ctx)
        return value if value is None else split_list(value)


several = partial(option, multiple=True, cls=_Several)
# None where it is not given: environment, file and default then say what holds.
_toggle = partial(switch, default=None)

_RUN: tuple[Option, ...] = (
    option("--model", "NAME", "extractive, openai/…, ollama/…, scripted:FILE, …"),
    several("--alias", "SHORT=NAME", "A short name for a model."),
    option("--judge", "NAME", "Model that judges what code leaves open."),
    option("--base-url", "URL", "Any OpenAI-compatible endpoint."),
    several("--fallback", "NAME", "The next model when the first fails."),
    _toggle(
        "--native-tools/--text-tools", "Tools as functions or by text tags (told by the provider)."
    ),
    _toggle("--guided/--no-guided", "Rules search and read for the model (for small ones)."),
    _toggle("--vision", "Screenshots to models that see."),
    _toggle(
        "--model-sees/--model-blind",
        "Whether the model takes pictures (default: until it refuses one).",
    ),
    option("--context-window", "TOKENS", "What the model takes at once (32000).", type=int),
    option("--model-timeout", "SECONDS", "Silence of the model at most (120).", type=float),
    _toggle("--dry-run", "Prompt and likely cost; nothing is sent."),
    option(
        "--depth",
        None,
        "How far to go (standard).",
        type=click.Choice(["quick", "standard", "deep"]),
    ),
    _toggle("--report", "A report in sections instead of an answer."),
    option(("-s", "--instruction"), "TEXT", "An instruction that the model is given as well."),
    option("--schema", "FILE", "The answer also as JSON of this JSON Schema.", type=PATH),
    option("--search", "A,B,C", "Search providers, in order."),
    option("--searxng-url", "URL", "Where a SearXNG is."),
    several("--search-url", "NAME=URL", "Where one is reached; {query}: yours."),
    several("--tool", "NAME", "A tool of a plug-in."),
    option("--site", "DOMAIN", "Search only this site."),
    option("--since", "DATE", "Search only what is newer."),
    option("--lang", "CODE", "Language of the results."),
    option("--region", "CODE", "Region of the results."),
    option("--corpus", "DIR", "Local files as the first provider.", type=PATH),
    several("--file", "PATH", "A file as context.", type=PATH),
    _toggle("--attach", "Use a Chrome that is open."),
    option("--cdp", "URL|chrome|msedge", "Which Chrome to attach to."),
    _toggle("--headed", "Show the launched browser."),
    option("--storage-state", "FILE", "Cookies and storage to start with.", type=EXISTING_FILE),
    option("--solver", "NAME[=URL]", "Who solves captchas: 2captcha, … (nobody)."),
    several("--allow", "HOST", "Reach only these sites."),
    several("--deny", "HOST", "Never reach these sites."),
    several("--allow-private", "HOST[:PORT]", "A private address that is fine."),
    several(
        "--share",
        "KIND[@SITE]",
        "Private content that may be sent: file, corpus, memory, page, tool.",
    ),
    several(
        "--yes",
        "ACT@SITE",
        "Approve click, type, submit, upload, download or login on a site beforehand.",
    ),
    _toggle("--private-search", "Search only with words of the question and of public pages."),
    option(
        "--proxy",
        "URL",
        "Proxy behind the guard; HTTPS_PROXY works too.",
        envvar=["RESEARCH_PROXY", "HTTPS_PROXY", "https_proxy"],
    ),
    _toggle(
        "--ignore-robots",
        "Ignore robots.txt, on your own sites; addresses that you name are read anyway.",
    ),
    several(
        "--allow-tasks",
        "TARGET",
        "Let the model set tasks, reminders, monitors, which tell TARGET (as --notify).",
    ),
    option("--tool-sources", "A,B", "Of domain, mcp, memory, system: whose tools (all)."),
    several("--tool-allow", "PATTERN", "Only these tools, as FETCH_* or mcp__*."),
    several("--tool-deny", "PATTERN", "Never these tools."),
    several("--mcp-tool-allow", "PATTERN", "Of MCP servers only these."),
    several("--mcp-tool-deny", "PATTERN", "Of MCP servers never these."),
    several("--mcp-config", "FILE", "MCP servers as others list them.", type=EXISTING_FILE),
    option("--max-steps", "N", "Steps at most (as the depth says).", type=int),
    option("--budget", "USD", "Dollars at most.", type=float),
    option("--budget-day", "USD", "Dollars of all runs of a day (UTC).", type=float),
    option("--budget-month", "USD", "Dollars of all runs of a month.", type=float),
    option("--max-tokens", "N", "Tokens at most, in and out, of all model calls.", type=int),
    option("--timeout", "SECONDS", "Seconds at most.", type=float),
    option("--max-sources", "N", "Sources at most (as above).", type=int),
    option(
        ("-c", "--continue", "continue_run"),
        "[RUN]",
        "Go on with a conversation.",
        is_flag=False,
        flag_value="",
    ),
    option("--session", "NAME", "A conversation by name."),
    _toggle("--memory/--no-memory", "Use and keep memories (on)."),
    option("--memory-url", "URL", "A memory that machines share: postgresql://… (memory.db)."),
    option("--data-dir", "DIR", "Where runs and memory are kept.", type=PATH),
    option("--keep-days", "N", "Delete runs older than this.", type=int),
    option("--namespace", "NAME", "Whose memories."),
    option("--embeddings", "local|NAME", "A model that helps memory to search."),
    option("--wiki", "DIR", "A wiki that a run may read (`wiki` in DATA).", type=FOLDER),
    _toggle("--fresh", "Go round the caches."),
)
_OUTPUT: tuple[Option, ...] = (
    several(
        "--export",
        "FILE",
        "Write .md .html .pdf .docx .json .jsonl .bib .ris .csl.json .xml .warc.gz …",
        type=PATH,
    ),
    _toggle("--require-verified", "Exit 4 unless every sentence is supported."),
    switch(("--json", "as_json"), "One report on stdout."),
    switch(("--events", "as_events"), "One JSON event a line on stdout."),
    switch(("-q", "--quiet"), "No progress."),
    option(("-v", "--verbose"), None, "More progress: thoughts and results.", count=True),
)


def run_flags(*shown: str) -> Callable[[F], F]:
    """Add all flags of a run. The help of the command shows those whose first names are `shown`."""

    # The others are hidden, not missing: what `ask` understands can be said here as well.
    def visible(row: Option) -> Option:
        return Option(row.names, {"hidden": row.names[0] not in shown, **row.settings})

    return _adder([visible(row) for row in _RUN] if shown else _RUN)


def only_run_flags(*names: str) -> Callable[[F], F]:
    """Add those flags of a run whose first names these are."""
    return _adder([row for row in _RUN if row.names[0] in names])


def output_flags(function: F) -> F:
    """Add the flags of what is printed and written."""
    return _adder(_OUTPUT)(function)


def question_options() -> list[click.Option]:
    """Make the options of a question, for a help text that loads nothing of what runs one."""
    return [row.made() for row in (*_RUN, *_OUTPUT)]


def _adder(rows: Sequence[Option]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for row in reversed(rows):  # the last decorator that is applied stands first in the help
            function = Option(row.names, _with_variable(row))(function)
        return function

    return add


def _with_variable(row: Option) -> dict[str, Any]:
    """The settings of an option with its environment variable, which some rows name themselves."""
    parameter = next((name for name in row.names if not name.startswith("-")), None)
    name = parameter or next(name for name in row.names if name.startswith("--"))
    plain = name.split("/")[0].removeprefix("--").replace("as_", "", 1).replace("-", "_")
    return {"envvar": f"RESEARCH_{plain.upper()}", "show_envvar": True, **row.settings}


def drop_unset(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the flags that nobody set, so that settings below them count."""
    return {name: value for name, value in flags.items() if value not in (None, ())}


# Where things are kept: by flag, environment, settings file or default, so that commands that read
# no other setting find what runs have left.


def data_folder() -> Path:
    """The data folder where no option names one: that of the settings file, else the user's."""
    from agent.config import default_data_dir, read_file  # noqa: PLC0415 - `--help` needs none of it

    named = read_file().get("data_dir")
    return Path(str(named)) if named else default_data_dir()


def _namespace() -> str:
    from agent.config import read_file  # noqa: PLC0415 - as above

    return str(read_file().get("namespace") or "default")


data_dir_option = option(
    "--data-dir",
    "DIR",
    "Where runs and memory are kept.",
    type=FOLDER,
    envvar="RESEARCH_DATA_DIR",
    default=data_folder,
)
namespace_option = option(
    "--namespace", None, "Whose memories.", envvar="RESEARCH_NAMESPACE", default=_namespace
)
PLACES = frozenset({"--data-dir", "--namespace", "--wiki", "--jobs-url"})
"""Options that may stand anywhere in a command: see `put_places_first` in `agent.cli.group`."""


def is_given(ctx: click.Context, name: str) -> bool:
    """True if flag or environment set an option of the group, False if it has its default."""
    group = ctx.parent or ctx
    return group.get_parameter_source(name) is not ParameterSource.DEFAULT


# What several commands take.

json_option = switch(("--json", "as_json"), "As JSON.")


def number_option(default: int, text: str) -> Option:
    """Make the option `-n`: how many, one at least."""
    return option(("-n", "--number"), None, text, default=default, type=MANY, show_default=True)


class NonBlank(click.types.StringParamType):
    """A text that holds more than space; else `UsageError` says what needs words."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        self._what = what
        self._hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse a text without words."""
        text = super().convert(value, param, ctx)
        if not text.strip():
            raise UsageError(f"{self._what} needs words, and got none", hint=self._hint)
        return text


# What listens.

SHORTEST_TOKEN = 16
"""Characters of a token: who can reach the port can try as many as they like."""


def port_option(default: int, text: str = "The port; 0: any that is free.") -> Option:
    """Make the option `--port`."""
    kind = click.IntRange(0, 65535)
    return option("--port", None, text, default=default, type=kind, show_default=True)


def token_option(variable: str) -> Option:
    """Make the option `--token`; `variable` is that of the environment."""

    def check(_: click.Context, __: click.Parameter, token: str | None) -> str | None:
        if token is not None and len(token) < SHORTEST_TOKEN:
            raise UsageError(f"a token has {SHORTEST_TOKEN} characters at least")
        return token

    text = "What clients have to show; made up where there is none."
    return option("--token", "TEXT", text, envvar=variable, callback=check)


# Jobs.

JOBS_URL = "RESEARCH_JOBS_URL"
jobs_url_option = option(
    "--jobs-url",
    "URL",
    "Jobs that machines share: postgresql://… (jobs.db in the data folder).",
    envvar=JOBS_URL,
)
notify_option = several(
    "--notify", "TARGET", "Tell of it: mailto:ADDRESS, https://…, desktop:, feed:FILE; repeatable."
)
host_delay_option = option(
    "--host-delay",
    "S",
    "Least seconds between two pages of one host, over all questions (0.2).",
    type=Amount(min=0),
)


def retry_option(default: int) -> Option:
    """Make the option `--retry`: how often what failed is tried again."""
    kind, text = click.IntRange(0, 20), "Try it again so often where that may help."
    return option("--retry", "N", text, type=kind, default=default, show_default=True)


# Stamps of the time, and what they are checked with.

calendars_option = several(
    ("--calendar", "calendars"),
    "URL",
    "Whose calendar (OpenTimestamps): a URL, or `public` for the project's own; repeatable.",
)
complete_option = switch("--complete", "Ask calendars for the Bitcoin blocks that they promised.")


def require_stamper(authority: str | None, calendars: tuple[str, ...], *, complete: bool) -> None:
    """Refuse to stamp by nobody; raises `click.UsageError`."""
    if not (authority or calendars or complete):
        raise click.UsageError("Say who stamps: an authority's URL, --calendar, or --complete.")


roots_option = option(
    "--roots", "FILE", "Certificates that vouch for authorities.", type=EXISTING_FILE
)
_BLOCK = re.compile(r"(\d{1,9})=([0-9a-fA-F]{160})")


def _read_blocks(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[int, bytes]:
    found = [_BLOCK.fullmatch(value) for value in values]
    if not all(found):
        raise click.BadParameter("a block is HEIGHT=HEADER, its header being 80 bytes in hex.")
    return {int(block[1]): bytes.fromhex(block[2]) for block in found if block}


blocks_option = several(
    ("--block", "blocks"),
    "HEIGHT=HEADER",
    "The header of a Bitcoin block that a proof names (80 bytes in hex); repeatable.",
    callback=_read_blocks,
)
