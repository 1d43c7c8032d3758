"""`research`: commands by name, loaded when called; anything else is a question."""

from __future__ import annotations

import difflib
import sys
from importlib import import_module
from itertools import islice
from shutil import get_terminal_size

import click
from click.shell_completion import CompletionItem

from agent import __version__
from agent.cli.flags import PLACES, question_options
from agent.cli.help_screen import EXAMPLES, NarrowFormatter, all_helps, man_page, write_first_screen

# name: (module, what `--help` says). A table, so that the help needs none of the modules.
COMMANDS = {
    "ask": ("ask", "Research a question (what `research QUESTION` does)."),
    "chat": ("chat", "Research in a conversation."),
    "runs": ("run_commands", "List runs; `runs rm` deletes them."),
    "resume": ("ask", "Go on with a run that was cut off."),
    "replay": ("record_commands", "Run a run again from its record alone."),
    "show": ("run_commands", "Show a run: its answer, sources and steps."),
    "export": ("run_commands", "Write a run as .md, .html, .pdf, .bib, .warc.gz, .zip and more."),
    "verify": ("record_commands", "Check a run or its archive: hashes, report, quotes."),
    "diff": ("record_commands", "Two runs side by side: answers, sources, steps."),
    "audit": ("audit_command", "Check a draft of yours against what it cites."),
    "check": ("check", "Questions with expectations as a test suite, for CI."),
    "usage": ("run_commands", "Calls, tokens and dollars by day and model."),
    "feedback": ("run_commands", "Say whether a run was good: up or down."),
    "memory": ("memory_commands", "What is remembered: list, search, forget, graph and more."),
    "skills": ("skill_commands", "Instructions that were learned, for runs: list, show, rm."),
    "secret": (
        "settings_commands",
        "Passwords that runs type by name, each on its site: set, list, rm.",
    ),
    "wiki": ("wiki_commands", "What is known as Markdown pages: sync, lint, show, search."),
    "mcp": ("mcp_commands", "Our tools for Claude, Cursor and others, and theirs for runs."),
    "channels": ("serve_commands", "Questions by Telegram, Discord, Slack, WhatsApp, e-mail."),
    "serve": ("serve_commands", "The page, the API, and a model for OpenAI's clients."),
    "tools": ("tool_commands", "Every tool, whether a run has it, and why not."),
    "habits": ("browser_commands", "What was learned of sites: shown, and forgotten."),
    "batch": ("batch_command", "Many questions of a file, side by side."),
    "queue": ("job_commands", "Questions for later: add, list, show, cancel, retry, pause."),
    "schedule": ("job_commands", "Questions that come back: add, list, rm, run."),
    "monitor": ("job_commands", "Watch pages, figures and answers: add, list, rm, run."),
    "worker": ("job_commands", "Work through the queue, alone or with others."),
    "chrome": ("browser_commands", "Start a Chrome that can be attached to."),
    "doctor": ("doctor", "Check Python, browser, providers and model."),
    "config": ("settings_commands", "Show and change settings."),
    "keys": ("settings_commands", "Keep API keys: set, list, rm."),
    "plugins": ("tool_commands", "What installed packages bring: name, version, kind."),
    "completion": ("help_screen", "Complete commands and flags in your shell."),
}
_PROGRAM = "research"
_CLOSE = 0.72
"""Likeness above which a single word is taken for a mistyped command, not for a question."""


class ResearchGroup(click.Group):
    """Commands loaded by name; an unknown first word is a question for `ask`."""

    ignore_unknown_options = True  # those of a question stand before it too

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of place wherever they stand."""
        return super().parse_args(ctx, put_places_first(args))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Name the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Load a command; what is none is the first word of a question."""
        return load(cmd_name if cmd_name in COMMANDS else "ask")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse a mistyped command before it becomes a question, or ask which one it is."""
        if len(args) == 1 and args[0] not in COMMANDS and (meant := _similar_command(args[0])):
            question = "A question has more than one word, or stands behind `research ask`."
            raise click.UsageError(
                f"No such command {args[0]!r}. Did you mean {meant!r}? {question}"
            )
        if len(args) > 1 and (meant := _mistyped(args[0])):
            args = [_intended(args[0], meant), *args[1:]]
        name, command, rest = super().resolve_command(ctx, args)
        return (name, command, rest) if args[0] in COMMANDS else ("ask", command, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, and the flags of a question."""
        if incomplete.startswith("-"):
            return load("ask").shell_complete(ctx, incomplete)
        rows = COMMANDS.items()
        return [CompletionItem(n, help=text) for n, (_, text) in rows if n.startswith(incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click calls it
        """Write the first screen in place of all options."""
        write_first_screen(formatter, list(COMMANDS), question_options())


def put_places_first(args: list[str]) -> list[str]:
    """Put a command's options of place right behind its name.

    click reads the options of a group in front of its subcommand only; people write
    `research memory list --data-dir DIR` and `research --data-dir DIR memory list` as well.
    """
    at = 0
    while at < len(args) and args[at].partition("=")[0] in PLACES:
        at += 1 if "=" in args[at] else 2
    if at >= len(args) or args[at] not in COMMANDS:
        return args  # a question
    own = {name for parameter in load(args[at]).params for name in parameter.opts} & PLACES
    front, rest, words = args[:at], [args[at]], iter(args[at + 1 :])
    for word in words:
        if word == "--":  # what follows are words, however they look
            rest += [word, *words]
        elif word.partition("=")[0] in own:
            front += [word] if "=" in word else [word, *islice(words, 1)]
        else:
            rest.append(word)
    return [rest[0], *front, *rest[1:]]


def _similar_command(word: str) -> str | None:
    """The command that a single word is likely to mean."""
    if " " in word:
        return None
    swapped = [name for name in COMMANDS if sorted(name) == sorted(word.lower())]
    close = difflib.get_close_matches(word.lower(), list(COMMANDS), n=1, cutoff=_CLOSE)
    return next(iter([*swapped, *close]), None)


def _mistyped(word: str) -> str | None:
    """The command that is one edit away from a word: a letter more, less, other, or two swapped.

    Words such as `how`, with which questions begin, are none.
    """
    word = word.lower()
    if word in COMMANDS or not word.isalpha():
        return None
    from browser.text.words import STOP_WORDS  # noqa: PLC0415 - rarely needed

    if word in STOP_WORDS:
        return None
    meant = next((name for name in (*COMMANDS, _PROGRAM) if _is_near(word, name)), None)
    return "ask" if meant == _PROGRAM else meant


def _is_near(one: str, other: str) -> bool:
    return not _with_a_letter_less(one).isdisjoint(_with_a_letter_less(other))


def _with_a_letter_less(word: str) -> set[str]:
    return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}


def _intended(word: str, meant: str) -> str:
    """Ask whether a first word means a command; raises `UsageError` where nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(
            f"No such command {word!r}. Write {meant!r} if you mean that, or put the question"
            " behind `research ask`."
        )
    return meant if click.confirm(f"Do you mean the command {meant!r}?", err=True) else word


def load(name: str) -> click.Command:
    """Import the module of a command, and return the command."""
    command: click.Command = getattr(import_module(f"agent.cli.{COMMANDS[name][0]}"), name)
    return command


_WIDTH = max(20, min(get_terminal_size().columns, 100) - 2)
# Subcommands, loaded later, make contexts of their own: only the class holds for all of them.
click.Context.formatter_class = NarrowFormatter


def _print_help(ctx: click.Context, option: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click's way
    if asked:
        if option.name == "man":
            print(man_page(COMMANDS, load, __version__))
        else:
            print(f"{ctx.get_help()}\n\n{all_helps(COMMANDS, load)}")
        ctx.exit()


@click.group(
    cls=ResearchGroup,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": _WIDTH},
    no_args_is_help=True,
    subcommand_metavar='"QUESTION" | COMMAND [ARGS]...',
)
@click.option("--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_print_help)
@click.option("--man", is_flag=True, is_eager=True, expose_value=False, callback=_print_help)
@click.version_option(__version__, prog_name="research")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Research a question in a real browser; every sentence of the answer is cited."""
    from agent.cli.settings_commands import fill_environment  # noqa: PLC0415 - as above
    from agent.config import read_file  # noqa: PLC0415 - `--help` and `--version` need no settings

    fill_environment()
    settings = read_file()
    ctx.default_map = {"ask": settings, "chat": settings}
