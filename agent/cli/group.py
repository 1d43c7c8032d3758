"""The `research` command, which loads subcommands on demand; anything else is a question."""

from __future__ import annotations

import difflib
import sys
from importlib import import_module
from itertools import islice
from shutil import get_terminal_size

import click
from click.shell_completion import CompletionItem

from agent import __version__
from agent.cli.flags import EXPORT_FORMATS, LOCATION_OPTIONS, question_options
from agent.cli.help_screen import EXAMPLES, NarrowFormatter, all_helps, man_page, write_first_screen

# name: (module, help text). A table, so that `--help` does not need to import the modules.
COMMANDS = {
    "ask": ("ask", "Research a question; the same as `research QUESTION`."),
    "chat": ("chat", "Ask questions in a conversation."),
    "ui": ("ui_command", "Open a terminal UI for runs, the queue, memory and settings."),
    "runs": ("run_commands", "List runs, or delete them."),
    "resume": ("ask", "Continue an interrupted run."),
    "replay": ("record_commands", "Repeat a run offline from its journal."),
    "show": ("run_commands", "Show a run's answer, sources and steps."),
    "export": ("run_commands", f"Export a run as {EXPORT_FORMATS}."),
    "verify": ("record_commands", "Verify the hashes, report and quotes of a run."),
    "diff": ("record_commands", "Compare two runs: answers, sources, steps."),
    "audit": ("audit_command", "Check a document against the sources it cites."),
    "recheck": ("recheck_command", "Check an earlier report against the current pages."),
    "rerun": ("rerun_command", "Repeat a recorded browser session live, without a model."),
    "check": ("check", "Run questions with expected answers as tests, for CI."),
    "usage": ("run_commands", "Show calls, tokens and cost by day and model."),
    "feedback": ("run_commands", "Rate a run: up or down."),
    "memory": ("memory_commands", "Manage memory: list, search, forget, graph and more."),
    "skills": ("skill_commands", "Manage learned instructions: list, show, rm."),
    "secret": (
        "settings_commands",
        "Store passwords for websites: set, list, rm.",
    ),
    "login": (
        "settings_commands",
        "Save a logged-in session for --login: NAME URL, list, rm.",
    ),
    "wiki": ("wiki_commands", "Keep memory as Markdown pages: sync, lint, show, search."),
    "mcp": ("mcp_commands", "Serve tools over MCP, and use tools from MCP servers."),
    "channels": (
        "serve_commands",
        "Answer on Telegram, Discord, Slack and WhatsApp, and by e-mail.",
    ),
    "serve": ("serve_commands", "Serve the web page and an OpenAI-compatible API."),
    "tools": ("tool_commands", "List the tools, and why any are unavailable."),
    "habits": ("browser_commands", "Show or delete the fetch history of sites."),
    "batch": ("batch_command", "Research many questions in parallel."),
    "queue": ("job_commands", "Queue questions: add, list, show, cancel, retry, pause."),
    "schedule": ("job_commands", "Schedule questions: add, list, rm, run."),
    "monitor": ("job_commands", "Watch pages, values and answers: add, list, rm, run."),
    "worker": ("job_commands", "Run queued jobs, schedules and monitors."),
    "browser": ("browser_session", "Use a browser from a shell: open, find, click, type, …"),
    "chrome": ("browser_commands", "Start Chrome for --attach."),
    "doctor": ("doctor", "Check the installation, search providers and model."),
    "config": ("settings_commands", "Show and change settings."),
    "models": ("model_commands", "List language models, or pull (download) a small one."),
    "keys": ("settings_commands", "Store API keys: set, list, rm."),
    "plugins": ("tool_commands", "List installed plug-ins."),
    "completion": ("help_screen", "Print a shell completion script."),
}
_PROGRAM_NAME = "research"
_MIN_SIMILARITY = 0.72
"""Similarity (0 to 1) above which a single word counts as a mistyped command."""


class ResearchGroup(click.Group):
    """Loads commands by name; an unknown first word is treated as the start of a question."""

    ignore_unknown_options = True  # options may precede a question

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept the options for data locations anywhere in the command."""
        return super().parse_args(ctx, move_location_options(args))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the command names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Load a command. An unknown name is treated as the first word of a question."""
        return load(cmd_name if cmd_name in COMMANDS else "ask")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Reject a mistyped command, or ask about it, instead of running it as a question."""
        if len(args) == 1 and args[0] not in COMMANDS and (meant := _similar_command(args[0])):
            question = "To ask a one-word question, use `research ask`."
            raise click.UsageError(
                f"No such command {args[0]!r}. Did you mean {meant!r}? {question}"
            )
        if word := _find_command_after_options(args):
            raise click.UsageError(
                f"Options go after the command: `research {word} … {args[0]} …`. "
                f"To ask a question that begins with “{word}”, use `research ask`."
            )
        if len(args) > 1 and (meant := _find_misspelled_command(args[0])):
            args = [_ask_if_command(args[0], meant), *args[1:]]
        name, command, rest = super().resolve_command(ctx, args)
        return (name, command, rest) if args[0] in COMMANDS else ("ask", command, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names and question flags."""
        if incomplete.startswith("-"):
            return load("ask").shell_complete(ctx, incomplete)
        rows = COMMANDS.items()
        return [CompletionItem(n, help=text) for n, (_, text) in rows if n.startswith(incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click calls it
        """Write the list of commands, but only the main options."""
        helps = {name: text for name, (_, text) in COMMANDS.items()}
        write_first_screen(formatter, helps, question_options())


def move_location_options(args: list[str]) -> list[str]:
    """Move a command's data location options directly after its name.

    click accepts a group's options only before its subcommand, but users also write `research
    memory list --data-dir DIR` and `research --data-dir DIR memory list`.
    """
    at = 0
    while at < len(args) and args[at].partition("=")[0] in LOCATION_OPTIONS:
        at += 1 if "=" in args[at] else 2
    if at >= len(args) or args[at] not in COMMANDS:
        return args  # a question
    own = {
        name for parameter in load(args[at]).params for name in parameter.opts
    } & LOCATION_OPTIONS
    front, rest, words = args[:at], [args[at]], iter(args[at + 1 :])
    for word in words:
        if word == "--":  # everything after it is text, even if it looks like an option
            rest += [word, *words]
        elif word.partition("=")[0] in own:
            front += [word] if "=" in word else [word, *islice(words, 1)]
        else:
            rest.append(word)
    return [rest[0], *front, *rest[1:]]


def _find_command_after_options(args: list[str]) -> str:
    """Return the command that follows options for a question, or ""."""
    if not args[0].startswith("-"):
        return ""
    ask = load("ask")
    try:
        found, _, _ = ask.make_parser(click.Context(ask)).parse_args(list(args))
    except click.UsageError:  # `ask` reports it
        return ""
    words = found["question"]  # not a tuple if there are none
    return words[0] if isinstance(words, tuple) and words[0] in COMMANDS else ""


def _similar_command(word: str) -> str | None:
    """Return the command that a single word was probably intended to be."""
    if " " in word:
        return None
    swapped = [name for name in COMMANDS if sorted(name) == sorted(word.lower())]
    close = difflib.get_close_matches(word.lower(), list(COMMANDS), n=1, cutoff=_MIN_SIMILARITY)
    return next(iter([*swapped, *close]), None)


def _find_misspelled_command(word: str) -> str | None:
    """Return the command that differs from a word by one added, missing, changed or swapped letter.

    Words that begin questions, such as `how`, are never treated as mistyped commands.
    """
    word = word.lower()
    if word in COMMANDS or not word.isalpha():
        return None
    from browser.text.words import STOP_WORDS  # noqa: PLC0415 - rarely needed

    if word in STOP_WORDS:
        return None
    meant = next(
        (name for name in (*COMMANDS, _PROGRAM_NAME) if _is_one_typo_apart(word, name)), None
    )
    return "ask" if meant == _PROGRAM_NAME else meant


def _is_one_typo_apart(one: str, other: str) -> bool:
    return not _deletion_variants(one).isdisjoint(_deletion_variants(other))


def _deletion_variants(word: str) -> set[str]:
    return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}


def _ask_if_command(word: str, meant: str) -> str:
    """Ask if the first word was intended as a command; raises `UsageError` without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(
            f"No such command {word!r}. Did you mean {meant!r}? To ask a question, use"
            " `research ask`."
        )
    return meant if click.confirm(f"Did you mean the command {meant!r}?", err=True) else word


def load(name: str) -> click.Command:
    """Import a command's module and return the command."""
    command: click.Command = getattr(import_module(f"agent.cli.{COMMANDS[name][0]}"), name)
    return command


_HELP_WIDTH = max(20, min(get_terminal_size().columns, 100) - 2)
# Subcommands are loaded later and create their own contexts, so set the formatter on the class.
click.Context.formatter_class = NarrowFormatter


def _print_help(ctx: click.Context, option: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click's signature
    if asked:
        if option.name == "man":
            print(man_page(COMMANDS, load, __version__))
        else:
            print(f"{ctx.get_help()}\n\n{all_helps(COMMANDS, load)}")
        ctx.exit()


@click.group(
    cls=ResearchGroup,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": _HELP_WIDTH},
    no_args_is_help=True,
    subcommand_metavar='"QUESTION" | COMMAND [ARGS]...',
)
@click.option("--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_print_help)
@click.option("--man", is_flag=True, is_eager=True, expose_value=False, callback=_print_help)
@click.version_option(__version__, prog_name="research")
def cli() -> None:
    """Research a question on the live web. Every sentence of the answer cites its sources.

    Without a language model, it finds and quotes passages; `research keys set` stores an API key.
    """
    from agent.cli.settings_commands import load_keys_into_environment  # noqa: PLC0415 - as above

    load_keys_into_environment()
