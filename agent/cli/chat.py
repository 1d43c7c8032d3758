"""`research chat`: a conversation of questions, each with the earlier ones as context."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent import __version__
from agent.cli.ask import INTERRUPTED, ask_once
from agent.cli.flags import drop_unset, output_flags, run_flags
from agent.cli.help_screen import FIRST_FLAGS
from agent.cli.render import export_paths, write_exports
from agent.cli.terminal import print_error, print_text, wrap
from agent.config import LiveOptions, private_folder
from agent.errors import ResearchError
from agent.journal.events import utc_now
from agent.journal.runs import Runs
from agent.limits import DEPTH_LIMITS
from agent.options import SETTINGS, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent.types import Report

_HISTORY_FILE = "chat-history"
"""Name of the file in the data folder that stores the input history."""


@click.command()
@run_flags(*FIRST_FLAGS, "--session", "--data-dir")
@output_flags
def chat(**flags: Any) -> int:
    """Ask questions in a conversation. Type `/help` to list commands, or press Ctrl-D to exit.

    Accepts all options listed by `research ask --help`.
    """
    if flags["session"] is None and flags["continue_run"] is None:
        flags["session"] = _new_session()
    conversation = ChatSession(flags)
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    for line in _typed_lines(conversation) if at_terminal else _piped_lines():
        conversation.handle(line)
        if conversation.ended:
            break
    return conversation.code


def _new_session() -> str:
    return f"chat-{utc_now():%Y%m%d-%H%M%S-%f}"


def _piped_lines() -> Iterator[str]:
    """Yield the lines of standard input; an empty line ends the conversation."""
    while True:
        if sys.stdin.isatty():  # only the output is redirected
            print("? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline().strip()
        if not line:
            return
        yield line


def _typed_lines(conversation: ChatSession) -> Iterator[str]:
    """Yield the lines that the user types; Ctrl-C clears the line."""
    print(
        wrap(f"Urchin {__version__}. Ask a question; /help lists commands, Ctrl-D ends the chat.")
    )
    prompt = _make_prompt(conversation)
    while True:
        try:
            line = prompt("? ").strip()
        except KeyboardInterrupt:
            print()
            continue
        except EOFError:
            return
        if line:
            yield line


def _make_prompt(conversation: ChatSession) -> Callable[[str], str]:
    """Return a function that reads a line, with history and completion if available."""
    try:
        from prompt_toolkit import PromptSession  # noqa: PLC0415 - an extra
        from prompt_toolkit.completion import WordCompleter  # noqa: PLC0415
        from prompt_toolkit.history import FileHistory  # noqa: PLC0415
    except ModuleNotFoundError:
        print("For history and completion: pip install 'urchin-research[chat]'")
        with suppress(ImportError):  # not available on Windows
            import readline  # noqa: F401, PLC0415 - enables line editing
        return input
    history = private_folder(conversation.settings().data) / _HISTORY_FILE
    history.touch(mode=0o600)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        completer=WordCompleter([f"/{name}" for name in COMMANDS], sentence=True),
        complete_while_typing=False,
    )
    return session.prompt


class ChatSession:
    """The flags for the next question, and the result of the last one."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self.flags = flags
        self.code = 0
        self.ended = False
        self._last: Report | None = None
        self._live: LiveOptions | None = None

    def handle(self, line: str) -> None:
        """Answer a question, or run a command that begins with `/`."""
        number = line.strip("[]")
        if self._last and any(number == str(source.n) for source in self._last.sources):
            line = f"/{number}"
        if not line.startswith("/"):
            self._ask(line)
            return
        name, _, argument = line[1:].partition(" ")
        try:
            if name.isdigit():
                self.open_source(name)
            elif name in COMMANDS:
                COMMANDS[name][1](self, argument.strip())
            else:
                print_error(f"unknown command /{name}", "/help lists the commands.")
        except ResearchError as error:
            print_error(str(error), error.hint)
        except click.ClickException as error:
            print_error(error.format_message())

    def _ask(self, question: str) -> None:
        self.settings()  # reports a settings file that has become invalid
        self.code = ask_once(question, dict(self.flags), self._set_last_report)
        if self.code == INTERRUPTED:
            print("(stopped; the conversation continues)", file=sys.stderr)
        print()

    def _set_last_report(self, report: Report) -> None:
        self._last = report

    def settings(self) -> Options:
        """Return the settings for the next question."""
        asked = {name: value for name, value in self.flags.items() if name in SETTINGS}
        given = drop_unset(asked)
        if self._live is None:
            self._live = LiveOptions(given, print_error)
        self._live.given = given
        return self._live.current()

    def last_report(self) -> Report:
        """Return the last question's report; raises `click.UsageError` if there is none."""
        if self._last is None:
            raise click.UsageError("Ask a question first.")
        return self._last

    # The slash commands. Each takes the text after its name.

    def help(self, _: str) -> None:
        """List the commands."""
        width = max(map(len, COMMANDS)) + 3
        for name, (text, _run) in COMMANDS.items():
            print(wrap(f"/{name:<{width - 1}}{text}", indent=width))

    def show_sources(self, _: str) -> None:
        """Print the sources of the last answer."""
        for source in self.last_report().sources:
            print_text(f"[{source.n}] {source.title or source.url} — {source.url}")

    def open_source(self, number: str) -> None:
        """Open a source of the last answer, given by its number, in the user's browser."""
        found = [source for source in self.last_report().sources if str(source.n) == number]
        if not found:
            raise click.UsageError("Enter the number of a citation: /open 1")
        print_text(found[0].url)
        webbrowser.open(found[0].url)

    def export(self, names: str) -> None:
        """Write the last answer to files."""
        folder = Runs(self.settings().data).find(self.last_report().run).path
        if not names:
            raise click.UsageError("Enter a file name: /export report.html")
        write_exports(folder, export_paths(tuple(map(Path, names.split()))), print)

    def set_model(self, name: str) -> None:
        """Show or change the model."""
        if name:
            self.flags["model"] = name
        print(f"model: {self.flags['model'] or 'from the settings'}")

    def set_depth(self, name: str) -> None:
        """Show or change the depth."""
        if name and name not in DEPTH_LIMITS:
            raise click.UsageError(
                f"Unknown depth {name!r}. Use one of: {', '.join(DEPTH_LIMITS)}."
            )
        self.flags["depth"] = name or self.flags["depth"]
        print(f"depth: {self.flags['depth'] or 'standard'}")

    def forget(self, _: str) -> None:
        """Start a new conversation."""
        self.flags |= {"session": _new_session(), "continue_run": None}
        print("Started a new conversation; earlier questions are no longer used as context.")

    def quit(self, _: str) -> None:
        """End the conversation."""
        self.ended = True


COMMANDS: dict[str, tuple[str, Callable[[ChatSession, str], None]]] = {
    "help": ("list the commands", ChatSession.help),
    "sources": ("list the sources of the last answer", ChatSession.show_sources),
    "open": ("open a source by its number: /open 1, /1 or 1", ChatSession.open_source),
    "export": (
        "write the last answer to files: /export report.html sources.bib",
        ChatSession.export,
    ),
    "model": ("show or change the model", ChatSession.set_model),
    "depth": ("show or change the depth: quick, standard, deep", ChatSession.set_depth),
    "forget": ("start a new conversation", ChatSession.forget),
    "quit": ("end", ChatSession.quit),
}
