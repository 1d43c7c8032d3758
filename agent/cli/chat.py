"""`research chat`: questions one after another, each of which may rest on what was said before."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agent import __version__
from agent.cli.ask import INTERRUPTED, ask_once
from agent.cli.flags import given, output_flags, run_flags_showing
from agent.cli.help_screen import FIRST_FLAGS
from agent.cli.render import export_paths
from agent.cli.terminal import complain, fitting
from agent.config import Options, file_settings, load_options, private_folder
from agent.errors import ResearchError
from agent.export import export
from agent.journal.events import utc_now
from agent.journal.runs import Runs
from agent.limits import EFFORTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent.types import Report

_HISTORY = "chat-history"
"""In the data folder: what was typed, so that the arrow keys give it again."""


@click.command()
@run_flags_showing(*FIRST_FLAGS, "--session", "--data-dir")
@output_flags
def chat(**flags: Any) -> int:
    """Research in a conversation; `/help` says what can be typed, Ctrl-D ends it.

    It takes all the options of `research ask --help`.
    """
    _leave_to_the_file(flags)
    if flags["session"] is None and flags["continue_run"] is None:
        flags["session"] = _new_session()
    conversation = ChatSession(flags)
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    lines = _typed(conversation) if at_terminal else _piped()
    for line in lines:
        conversation.take(line)
        if conversation.ended:
            break
    return conversation.code


def _new_session() -> str:
    return f"chat-{utc_now():%Y%m%d-%H%M%S-%f}"


def _leave_to_the_file(flags: dict[str, Any]) -> None:
    """Forget what stood in the settings file at the start: it is read again at each question."""
    context = click.get_current_context()
    for name in flags.keys() & Options.model_fields.keys():
        if context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP:
            flags[name] = None


def _piped() -> Iterator[str]:
    """Give the lines of standard input; an empty one ends the conversation."""
    while True:
        if sys.stdin.isatty():  # only what is said goes elsewhere
            print("? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline().strip()
        if not line:
            return
        yield line


def _typed(conversation: ChatSession) -> Iterator[str]:
    """Give what a person types; Ctrl-C clears the line."""
    welcome = f"Urchin {__version__}. Ask away; /help says what else can be typed, Ctrl-D ends."
    print(fitting(welcome))
    prompt = _prompt(conversation)
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


def _prompt(conversation: ChatSession) -> Callable[[str], str]:
    """Give what asks for a line: with a history that lasts and completion, if that is there."""
    try:
        from prompt_toolkit import PromptSession  # noqa: PLC0415 - an extra
        from prompt_toolkit.completion import WordCompleter  # noqa: PLC0415
        from prompt_toolkit.history import FileHistory  # noqa: PLC0415
    except ModuleNotFoundError:
        print("History and completion: pip install 'urchin-research[chat]'")
        with suppress(ImportError):  # Windows has none
            import readline  # noqa: F401, PLC0415 - lines are edited with it
        return input
    settings = conversation.settings()
    history = private_folder(settings.data) / _HISTORY
    history.touch(mode=0o600)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        completer=WordCompleter([f"/{name}" for name in COMMANDS], sentence=True),
        complete_while_typing=False,
    )
    return session.prompt


@dataclass(slots=True)
class ChatSession:
    """The flags that the next question gets, and what the last one gave."""

    flags: dict[str, Any]
    code: int = 0
    ended: bool = False
    last: Report | None = None
    _said_of_settings: str = field(default="", init=False)

    def take(self, line: str) -> None:
        """Answer a question, or do what a line that begins with `/` says."""
        number = line.strip("[]")
        if self.last and any(number == str(source.n) for source in self.last.sources):
            line = f"/{number}"
        if not line.startswith("/"):
            self._ask(line)
            return
        name, _, argument = line[1:].partition(" ")
        try:
            if name.isdigit():
                open_source(self, name)
            elif name in COMMANDS:
                COMMANDS[name][1](self, argument.strip())
            else:
                complain(f"there is no /{name}", "/help says which there are.")
        except ResearchError as error:
            complain(str(error), error.hint)
        except click.ClickException as error:
            complain(error.format_message())

    def settings(self) -> Options:
        """The settings of the next question."""
        known = Options.model_fields.keys() | {"schema"}
        asked = {name: value for name, value in self.flags.items() if name in known}
        return load_options(given(asked), config=True)

    def folder(self) -> Path:
        """Where the last run is. Raises `UsageError` before the first one."""
        if self.last is None:
            raise click.UsageError("Nothing was asked yet.")
        return Runs(self.settings().data).find(self.last.run).path

    def _ask(self, question: str) -> None:
        self._say_once_what_the_file_lacks()
        self.code = ask_once(question, dict(self.flags), self._keep)
        if self.code == INTERRUPTED:
            print("(stopped; the conversation goes on)", file=sys.stderr)
        print()

    def _keep(self, report: Report) -> None:
        self.last = report

    def _say_once_what_the_file_lacks(self) -> None:
        """Say what is wrong with a settings file that was broken meanwhile, once."""
        _, broken = file_settings()
        if broken is not None and str(broken) != self._said_of_settings:
            complain(f"{broken}; the settings from before are kept", broken.hint)
        self._said_of_settings = str(broken or "")


def _help(_: ChatSession, __: str) -> None:
    width = max(map(len, COMMANDS)) + 3
    for name, (told, _run) in COMMANDS.items():
        print(fitting(f"/{name:<{width - 1}}{told}", indent=width))


def _sources(conversation: ChatSession, _: str) -> None:
    conversation.folder()
    assert conversation.last is not None
    for source in conversation.last.sources:
        print(f"[{source.n}] {source.title or source.url} — {source.url}")


def open_source(conversation: ChatSession, number: str) -> None:
    """Open a source of the last answer by its number, in the person's own browser."""
    conversation.folder()
    assert conversation.last is not None
    found = [source for source in conversation.last.sources if str(source.n) == number]
    if not found:
        raise click.UsageError("Which one? /open takes the number of a citation.")
    print(found[0].url)
    webbrowser.open(found[0].url)


def _export(conversation: ChatSession, names: str) -> None:
    folder = conversation.folder()
    if not names:
        raise click.UsageError("Where to? Such as /export report.html")
    for path in export_paths(tuple(Path(name) for name in names.split())):
        export(folder, path)
        print(f"wrote {path}")


def _model(conversation: ChatSession, name: str) -> None:
    if name:
        conversation.flags["model"] = name
    print(f"model: {conversation.flags['model'] or 'as the settings say'}")


def _depth(conversation: ChatSession, name: str) -> None:
    if name and name not in EFFORTS:
        raise click.UsageError(f"There is no depth {name!r}: {', '.join(EFFORTS)}.")
    conversation.flags["depth"] = name or conversation.flags["depth"]
    print(f"depth: {conversation.flags['depth'] or 'standard'}")


def _forget(conversation: ChatSession, _: str) -> None:
    conversation.flags |= {"session": _new_session(), "continue_run": None}
    print("A new conversation: what was said before is left out.")


def _quit(conversation: ChatSession, _: str) -> None:
    conversation.ended = True


COMMANDS: dict[str, tuple[str, Callable[[ChatSession, str], None]]] = {
    "help": ("what can be typed", _help),
    "sources": ("the sources of the last answer", _sources),
    "open": ("open a source by its number: /open 1, /1 or 1", open_source),
    "export": ("write the last answer to files: /export report.html sources.bib", _export),
    "model": ("show the model, or take another one", _model),
    "depth": ("show the depth, or take another one: quick, standard, deep", _depth),
    "forget": ("begin a new conversation", _forget),
    "quit": ("end", _quit),
}
