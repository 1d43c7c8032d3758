"""The flags of commands, in one place: names, environment variables, help."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


F = TypeVar("F", bound=Callable[..., Any])

_PATH = click.Path(path_type=Path)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_EXISTING = click.Path(path_type=Path, exists=True, dir_okay=False)
Row = tuple[tuple[str, ...], dict[str, Any]]
"""The names of an option, and what click is told of it."""


def _option(names: str | tuple[str, ...], metavar: str | None, told: str, **settings: Any) -> Row:
    """Describe an option that takes a value; its environment variable is named with it."""
    names = (names,) if isinstance(names, str) else names
    return names, {"metavar": metavar, "help": told, **settings}


def _switch(name: str, told: str) -> Row:
    """Describe an option that is on or off, and None where it is not given."""
    return (name,), {"is_flag": True, "default": None, "help": told}


_RUN: tuple[Row, ...] = (
    _option("--model", "NAME", "extractive, openai/…, ollama/…, scripted:FILE, …"),
    _option("--alias", "SHORT=NAME", "A short name for a model.", multiple=True),
    _option("--judge", "NAME", "Model that judges what code leaves open."),
    _option("--base-url", "URL", "Any OpenAI-compatible endpoint."),
    _option("--fallback", "NAME", "The next model when the first fails.", multiple=True),
    _switch(
        "--native-tools/--text-tools", "Tools as functions or by text tags (told by the provider)."
    ),
    _switch("--guided/--no-guided", "Rules search and read for the model (for small ones)."),
    _switch("--vision", "Screenshots to models that see."),
    _switch("--model-sees/--model-blind", "Whether the model takes pictures (told by its name)."),
    _option("--context-window", "TOKENS", "What the model takes at once (32000).", type=int),
    _option("--model-timeout", "SECONDS", "Silence of the model at most (120).", type=float),
    _switch("--dry-run", "Prompt and likely cost; nothing is sent."),
    _option(
        "--depth",
        None,
        "How far to go (standard).",
        type=click.Choice(["quick", "standard", "deep"]),
    ),
    _switch("--report", "A report in sections instead of an answer."),
    _option(("-s", "--instruction"), "TEXT", "An instruction that the model is given as well."),
    _option("--schema", "FILE", "The answer also as JSON of this JSON Schema.", type=_PATH),
    _option("--search", "A,B,C", "Search providers, in order."),
    _option("--searxng-url", "URL", "Where a SearXNG is."),
    _option("--search-url", "NAME=URL", "Where one is reached; {query}: yours.", multiple=True),
    _option("--tool", "NAME", "A tool of a plug-in.", multiple=True),
    _option("--site", "DOMAIN", "Search only this site."),
    _option("--since", "DATE", "Search only what is newer."),
    _option("--lang", "CODE", "Language of the results."),
    _option("--region", "CODE", "Region of the results."),
    _option("--corpus", "DIR", "Local files as the first provider.", type=_PATH),
    _option("--file", "PATH", "A file as context.", type=_PATH, multiple=True),
    _switch("--attach", "Use a Chrome that is open."),
    _option("--cdp", "URL|chrome|msedge", "Which Chrome to attach to."),
    _switch("--headed", "Show the launched browser."),
    _option("--storage-state", "FILE", "Cookies and storage to start with.", type=_EXISTING),
    _option("--solver", "NAME[=URL]", "Who solves captchas: 2captcha, … (nobody)."),
    _option("--allow", "HOST", "Reach only these sites.", multiple=True),
    _option("--deny", "HOST", "Never reach these sites.", multiple=True),
    _option("--allow-private", "HOST[:PORT]", "A private address that is fine.", multiple=True),
    _option(
        "--share",
        "file|corpus|memory|page|tool",
        "What may leave in searches and forms, though it is private.",
        multiple=True,
    ),
    _option(
        "--proxy",
        "URL",
        "Proxy behind the guard; HTTPS_PROXY works too.",
        envvar=["RESEARCH_PROXY", "HTTPS_PROXY", "https_proxy"],
    ),
    _switch("--ignore-robots", "Leave robots.txt aside: for one's own sites."),
    _option(
        "--allow-tasks",
        "TARGET",
        "Let the model set tasks, reminders, monitors, which tell TARGET (as --notify).",
        multiple=True,
    ),
    _option("--tool-sources", "A,B", "Of domain, mcp, memory, system: whose tools (all)."),
    _option("--tool-allow", "PATTERN", "Only these tools, as FETCH_* or mcp__*.", multiple=True),
    _option("--tool-deny", "PATTERN", "Never these tools.", multiple=True),
    _option("--mcp-tool-allow", "PATTERN", "Of MCP servers only these.", multiple=True),
    _option("--mcp-tool-deny", "PATTERN", "Of MCP servers never these.", multiple=True),
    _option(
        "--mcp-config", "FILE", "MCP servers as others list them.", type=_EXISTING, multiple=True
    ),
    _option("--max-steps", "N", "Steps at most (as the depth says).", type=int),
    _option("--budget", "USD", "Dollars at most.", type=float),
    _option("--budget-day", "USD", "Dollars of all runs of a day (UTC).", type=float),
    _option("--budget-month", "USD", "Dollars of all runs of a month.", type=float),
    _option("--max-tokens", "N", "Tokens at most, in and out, of all model calls.", type=int),
    _option("--timeout", "SECONDS", "Seconds at most.", type=float),
    _option("--max-sources", "N", "Sources at most (as above).", type=int),
    _option(
        ("-c", "--continue", "continue_run"),
        "[RUN]",
        "Go on with a conversation.",
        is_flag=False,
        flag_value="",
    ),
    _option("--session", "NAME", "A conversation by name."),
    _switch("--memory/--no-memory", "Use and keep memories (on)."),
    _option("--memory-url", "URL", "A memory that machines share: postgresql://… (memory.db)."),
    _option("--data-dir", "DIR", "Where runs and memory are kept.", type=_PATH),
    _option("--keep-days", "N", "Delete runs older than this.", type=int),
    _option("--namespace", "NAME", "Whose memories."),
    _option("--embeddings", "local|NAME", "A model that helps memory to search."),
    _option("--wiki", "DIR", "A wiki that a run may read (`wiki` in DATA).", type=_FOLDER),
    _switch("--fresh", "Go round the caches."),
)
_OUTPUT: tuple[Row, ...] = (
    _option(
        "--export",
        "FILE",
        "Write .md .html .pdf .docx .json .jsonl .bib .ris .csl.json .xml .warc.gz …",
        type=_PATH,
        multiple=True,
    ),
    _switch("--require-verified", "Exit 4 unless every sentence is supported."),
    _option(("--json", "as_json"), None, "One report on stdout.", is_flag=True),
    _option(("--events", "as_events"), None, "One JSON event a line on stdout.", is_flag=True),
    _option(("-q", "--quiet"), None, "No progress.", is_flag=True),
    _option(("-v", "--verbose"), None, "More progress: thoughts and results.", count=True),
)

data_dir_option = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="RESEARCH_DATA_DIR",
    metavar="DIR",
    help="Where runs and memory are kept.",
)


SHORTEST_TOKEN = 16
"""Characters of a token: who can reach the port can try as many as they like."""


def token_option(variable: str) -> Callable[[F], F]:
    """Make the option `--token` of what listens; `variable` is that of the environment."""

    def checked(_: click.Context, __: click.Parameter, token: str | None) -> str | None:
        if token is not None and len(token) < SHORTEST_TOKEN:
            raise UsageError(f"a token has {SHORTEST_TOKEN} characters at least")
        return token

    told = "What clients have to show; made up where there is none."
    return click.option("--token", envvar=variable, metavar="TEXT", callback=checked, help=told)


json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")


def run_flags(function: F) -> F:
    """Add the flags that a run takes."""
    return _added(function, _RUN)


def some_run_flags(*names: str) -> Callable[[F], F]:
    """Add those flags of a run whose first names these are."""
    rows = tuple(row for row in _RUN if row[0][0] in names)
    return lambda function: _added(function, rows)


def run_flags_showing(*names: str) -> Callable[[F], F]:
    """Add all flags of a run; the help of the command shows those whose first names these are."""
    rows = tuple((named, {"hidden": named[0] not in names, **told}) for named, told in _RUN)
    return lambda function: _added(function, rows)


def output_flags(function: F) -> F:
    """Add the flags that say what is printed and written."""
    return _added(function, _OUTPUT)


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was not given."""
    return {name: value for name, value in flags.items() if value not in (None, ())}


def question_options() -> list[click.Option]:
    """Give the options of a question, for a help text that loads nothing of what runs one."""
    return [click.Option(names, **settings) for names, settings in (*_RUN, *_OUTPUT)]


def _added(function: F, rows: tuple[Row, ...]) -> F:
    for names, settings in reversed(rows):
        function = click.option(*names, **_with_variable(names, settings))(function)
    return function


def _with_variable(names: tuple[str, ...], settings: dict[str, Any]) -> dict[str, Any]:
    """Name the environment variable of an option, unless its row does."""
    named = next((n for n in names if not n.startswith("-")), None)
    plain = named or next(n for n in names if n.startswith("--")).split("/")[0][2:]
    variable = "RESEARCH_" + plain.replace("as_", "", 1).replace("-", "_").upper()
    return {"envvar": variable, "show_envvar": True, **settings}


def port_option(default: int, told: str = "The port; 0: any that is free.") -> Callable[[F], F]:
    """Make the option `--port` of what listens."""
    kind = click.IntRange(0, 65535)
    return click.option("--port", default=default, type=kind, show_default=True, help=told)


class Amount(click.FloatRange):
    """A number that is one: `nan` and `inf` are in no range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what cannot be counted, spent or waited for."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


MANY = click.IntRange(1, 1_000_000)
"""How many of anything: one at least, and no more than databases and calendars can count."""

DAYS = click.IntRange(0, 1_000_000)
"""An age in days, within the years that a calendar has."""


def number_option(default: int, told: str) -> Callable[[Any], Any]:
    """Make the option `-n`: how many, one at least."""
    kind = MANY
    return click.option("-n", "--number", default=default, type=kind, show_default=True, help=told)


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether a person said an option of the group, rather than left it at its default."""
    group = ctx.parent or ctx
    return group.get_parameter_source(name) is not ParameterSource.DEFAULT


def require_words(text: str, what: str, hint: str = "") -> None:
    """Refuse a text that holds nothing but space; raises `UsageError`."""
    if not text.strip():
        raise UsageError(f"{what} needs words, and got none", hint=hint or None)


PLACES = ("--data-dir", "--namespace", "--wiki", "--jobs-url")


class Anywhere(click.Group):
    """Takes those of these options that it has wherever they stand, as people write them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move them to the front, where the group reads them."""
        own = {name for parameter in self.params for name in parameter.opts}
        return super().parse_args(ctx, _moved(args, own.intersection(PLACES)))


def command_first(args: list[str], commands: Collection[str]) -> list[str]:
    """Put the name of a command before the options of place that stand before it."""
    at = 0
    while at < len(args) and args[at].partition("=")[0] in PLACES:
        at += 1 if "=" in args[at] else 2
    if 0 < at < len(args) and args[at] in commands:
        return [args[at], *args[:at], *args[at + 1 :]]
    return args


def _moved(args: list[str], names: Collection[str]) -> list[str]:
    front: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":  # what follows are words, however they look
            rest += [word, *words]
        elif word in names:
            front += [word, *[value for value in [next(words, None)] if value is not None]]
        elif word.partition("=")[0] in names:
            front.append(word)
        else:
            rest.append(word)
    return [*front, *rest]


_BLOCK = re.compile(r"(\d{1,9})=([0-9a-fA-F]{160})")

calendars_option = click.option(
    "--calendar",
    "calendars",
    multiple=True,
    metavar="URL",
    help="Whose calendar (OpenTimestamps): a URL, or `public` for the project's own; repeatable.",
)
complete_option = click.option(
    "--complete", is_flag=True, help="Ask calendars for the Bitcoin blocks that they promised."
)
roots_option = click.option(
    "--roots",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Certificates that vouch for authorities.",
)


def _headers(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[int, bytes]:
    found = [_BLOCK.fullmatch(value) for value in values]
    if not all(found):
        raise click.BadParameter("a block is HEIGHT=HEADER, its header being 80 bytes in hex.")
    return {int(block[1]): bytes.fromhex(block[2]) for block in found if block}


blocks_option = click.option(
    "--block",
    "blocks",
    multiple=True,
    callback=_headers,
    metavar="HEIGHT=HEADER",
    help="The header of a Bitcoin block that a proof names (80 bytes in hex); repeatable.",
)


def require_one(authority: str | None, calendars: tuple[str, ...], *, complete: bool) -> None:
    """Refuse to stamp by nobody; raises `click.UsageError`."""
    if not (authority or calendars or complete):
        raise click.UsageError("Say who stamps: an authority's URL, --calendar, or --complete.")
