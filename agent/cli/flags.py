"""The flags of a run, in one place: names, environment variables, help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from agent.errors import UsageError
from agent.export import FORMATS, ending

if TYPE_CHECKING:
    from collections.abc import Collection


F = TypeVar("F", bound=Callable[..., Any])

_PATH = click.Path(path_type=Path)
_RUN = (
    (("--model",), {"metavar": "NAME", "help": "extractive, openai/…, ollama/…, scripted:FILE, …"}),
    (
        ("--judge",),
        {"metavar": "NAME", "help": "Model that judges what code leaves open; entailment:FOLDER."},
    ),
    (("--base-url",), {"metavar": "URL", "help": "Any OpenAI-compatible endpoint."}),
    (
        ("--fallback",),
        {"metavar": "NAME", "multiple": True, "help": "The next model when the first fails."},
    ),
    (
        ("--native-tools/--text-tools",),
        {"default": None, "help": "Tools as functions or by text tags (told by the provider)."},
    ),
    (
        ("--guided/--no-guided",),
        {"default": None, "help": "Rules search and read for the model (for small ones)."},
    ),
    (("--vision",), {"is_flag": True, "default": None, "help": "Screenshots to models that see."}),
    (
        ("--model-sees/--model-blind",),
        {"default": None, "help": "Whether the model takes pictures (told by its name)."},
    ),
    (
        ("--context-window",),
        {"type": int, "metavar": "TOKENS", "help": "What the model takes at once (32000)."},
    ),
    (
        ("--model-timeout",),
        {"type": float, "metavar": "SECONDS", "help": "Silence of the model at most (120)."},
    ),
    (
        ("--dry-run",),
        {"is_flag": True, "default": None, "help": "Prompt and likely cost; nothing is sent."},
    ),
    (
        ("--depth",),
        {"type": click.Choice(["quick", "standard", "deep"]), "help": "How far to go (standard)."},
    ),
    (
        ("--report",),
        {"is_flag": True, "default": None, "help": "A report in sections instead of an answer."},
    ),
    (
        ("--schema",),
        {"type": _PATH, "metavar": "FILE", "help": "The answer also as JSON of this JSON Schema."},
    ),
    (("--search",), {"metavar": "A,B,C", "help": "Search providers, in order."}),
    (("--searxng-url",), {"metavar": "URL", "help": "Where a SearXNG is."}),
    (
        ("--search-url",),
        {
            "metavar": "NAME=URL",
            "multiple": True,
            "help": "Where one is reached; {query}: yours.",
        },
    ),
    (("--site",), {"metavar": "DOMAIN", "help": "Search only this site."}),
    (("--since",), {"metavar": "DATE", "help": "Search only what is newer."}),
    (("--lang",), {"metavar": "CODE", "help": "Language of the results."}),
    (("--region",), {"metavar": "CODE", "help": "Region of the results."}),
    (
        ("--corpus",),
        {"type": _PATH, "metavar": "DIR", "help": "Local files as the first provider."},
    ),
    (
        ("--file",),
        {"type": _PATH, "multiple": True, "metavar": "PATH", "help": "A file as context."},
    ),
    (("--attach",), {"is_flag": True, "default": None, "help": "Use a Chrome that is open."}),
    (("--cdp",), {"metavar": "URL|chrome|msedge", "help": "Which Chrome to attach to."}),
    (("--headed",), {"is_flag": True, "default": None, "help": "Show the launched browser."}),
    (
        ("--storage-state",),
        {"type": _PATH, "metavar": "FILE", "help": "Cookies and storage to start with."},
    ),
    (
        ("--solver",),
        {"metavar": "NAME[=URL]", "help": "Who solves captchas: 2captcha, … (nobody)."},
    ),
    (("--allow",), {"multiple": True, "metavar": "HOST", "help": "Reach only these sites."}),
    (("--deny",), {"multiple": True, "metavar": "HOST", "help": "Never reach these sites."}),
    (
        ("--allow-private",),
        {"multiple": True, "metavar": "HOST[:PORT]", "help": "A private address that is fine."},
    ),
    (
        ("--share",),
        {
            "multiple": True,
            "metavar": "file|corpus|memory|page",
            "help": "What may leave in searches and forms, though it is private.",
        },
    ),
    (
        ("--proxy",),
        {
            "envvar": ["RESEARCH_PROXY", "HTTPS_PROXY", "https_proxy"],
            "metavar": "URL",
            "help": "Proxy behind the guard; HTTPS_PROXY works too.",
        },
    ),
    (
        ("--ignore-robots",),
        {"is_flag": True, "default": None, "help": "Leave robots.txt aside: for one's own sites."},
    ),
    (("--max-steps",), {"type": int, "metavar": "N", "help": "Steps at most (as the depth says)."}),
    (("--budget",), {"type": float, "metavar": "USD", "help": "Dollars at most."}),
    (
        ("--max-tokens",),
        {"type": int, "metavar": "N", "help": "Tokens at most, in and out, of all model calls."},
    ),
    (("--timeout",), {"type": float, "metavar": "SECONDS", "help": "Seconds at most."}),
    (("--max-sources",), {"type": int, "metavar": "N", "help": "Sources at most (as above)."}),
    (
        ("-c", "--continue", "continue_run"),
        {
            "is_flag": False,
            "flag_value": "",
            "metavar": "[RUN]",
            "help": "Go on with a conversation.",
        },
    ),
    (("--session",), {"metavar": "NAME", "help": "A conversation by name."}),
    (("--memory/--no-memory",), {"default": None, "help": "Use and keep memories (on)."}),
    (
        ("--memory-url",),
        {"metavar": "URL", "help": "A memory that machines share: postgresql://… (memory.db)."},
    ),
    (("--data-dir",), {"type": _PATH, "metavar": "DIR", "help": "Where runs and memory are kept."}),
    (("--keep-days",), {"type": int, "metavar": "N", "help": "Delete runs older than this."}),
    (("--namespace",), {"metavar": "NAME", "help": "Whose memories."}),
    (("--embeddings",), {"metavar": "local|NAME", "help": "A model that helps memory to search."}),
    (
        ("--wiki",),
        {"type": _PATH, "metavar": "DIR", "help": "A wiki that a run may read (`wiki` in DATA)."},
    ),
    (("--fresh",), {"is_flag": True, "default": None, "help": "Go round the caches."}),
)
_OUTPUT = (
    (
        ("--export",),
        {
            "type": _PATH,
            "multiple": True,
            "metavar": "FILE",
            "help": "Write .md .html .pdf .json .jsonl .bib .ris .csl.json .xml .warc.gz, .zip.",
        },
    ),
    (
        ("--require-verified",),
        {"is_flag": True, "default": None, "help": "Exit 4 unless every sentence is supported."},
    ),
    (("--json", "as_json"), {"is_flag": True, "help": "One report on stdout."}),
    (("--events", "as_events"), {"is_flag": True, "help": "One JSON event a line on stdout."}),
    (("-q", "--quiet"), {"is_flag": True, "help": "No progress."}),
    (("-v", "--verbose"), {"count": True, "help": "More progress: thoughts and results."}),
)

data_dir_option = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="RESEARCH_DATA_DIR",
    metavar="DIR",
    help="Where runs and memory are kept.",
)


def run_flags(function: F) -> F:
    """Add the flags that a run takes."""
    return _added(function, _RUN)


def output_flags(function: F) -> F:
    """Add the flags that say what is printed and written."""
    return _added(function, _OUTPUT)


def question_options() -> list[click.Option]:
    """Give the options of a question, for a help text that loads nothing of what runs one."""
    rows: Any = (*_RUN, *_OUTPUT)
    return [click.Option(names, **_with_variable(names, settings)) for names, settings in rows]


def _added(function: F, rows: Any) -> F:
    for names, settings in reversed(rows):
        function = click.option(*names, **_with_variable(names, settings))(function)
    return function


def _with_variable(names: tuple[str, ...], settings: dict[str, Any]) -> dict[str, Any]:
    """Name the environment variable of an option, unless its row does."""
    named = next((n for n in names if not n.startswith("-")), None)
    plain = named or next(n for n in names if n.startswith("--")).split("/")[0][2:]
    variable = "RESEARCH_" + plain.replace("as_", "", 1).replace("-", "_").upper()
    return {"envvar": variable, **settings}


def number_option(default: int, told: str) -> Callable[[Any], Any]:
    """Make the option `-n`: how many, one at least."""
    kind = click.IntRange(min=1)
    return click.option("-n", "--number", default=default, type=kind, show_default=True, help=told)


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether a person said an option of the group, rather than left it at its default."""
    group = ctx.parent or ctx
    return group.get_parameter_source(name) is not ParameterSource.DEFAULT


def require_words(text: str, what: str, hint: str = "") -> None:
    """Refuse a text that holds nothing but space; raises `UsageError`."""
    if not text.strip():
        raise UsageError(f"{what} needs words, and got none", hint=hint or None)


PLACES = ("--data-dir", "--namespace")


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


def export_paths(values: tuple[Path, ...]) -> tuple[Path, ...]:
    """Check the endings of `--export` before the run, not after it."""
    for path in values:
        if ending(path) not in FORMATS:
            known = " ".join(FORMATS)
            raise click.BadParameter(f"{path.name}: no such format; there are {known}")
    return values
