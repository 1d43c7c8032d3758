"""The help: one screen of what matters, all of it, a man page, and completion in shells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Loader = Callable[[str], click.Command]


GROUPS = {
    "Ask": ("ask", "chat", "resume", "check"),
    "Look back": ("runs", "show", "export", "verify", "replay", "diff", "usage", "feedback"),
    "Remember": ("memory", "skills", "wiki"),
    "Set up": ("doctor", "keys", "secret", "config", "chrome", "mcp", "tools", "completion"),
}
"""The commands by what they are for; a command that stands in none is listed under `More`."""
FIRST_FLAGS = (
    "--model --depth --report --corpus --file --attach --site --since --budget --timeout -c "
    "--export --json"
).split()
"""The flags of a question that a newcomer wants to know of."""
_SECTIONS = {
    "--model": "Model",
    "--dry-run": "Effort and form",
    "--search": "Search",
    "--corpus": "Files",
    "--attach": "Browser",
    "--allow": "What may be reached",
    "--tool-sources": "Tools",
    "--max-steps": "Limits",
    "-c": "Conversation, memory and data",
    "--export": "Output",
}
"""Which option opens a section; those after it, in the order of the table, belong to it."""
EXAMPLES = """\b
Examples:
  research "When was the Eiffel Tower opened?"
  research --corpus notes/ "What did we decide about pricing?"
  research --attach "What does this page say about refunds?"
  git diff | research "What does this change?"
"""
_EXIT_CODES = (
    "0 answered, 1 internal error, 2 usage, 3 not found, 4 not verified as required, 5 a limit was "
    "reached, 6 the web is out of reach, 7 the model failed, 8 a check did not hold, "
    "130 interrupted."
)


def write_first_screen(
    formatter: click.HelpFormatter, names: Sequence[str], options: Iterable[click.Option]
) -> None:
    """Write the commands by group, the most wanted flags, and where to find the others."""
    more = [name for name in names if not any(name in group for group in GROUPS.values())]
    groups = {**GROUPS, "More": more}
    rows = [(head, ", ".join(n for n in group if n in names)) for head, group in groups.items()]
    with formatter.section("Commands"):
        formatter.write_dl([row for row in rows if row[1]])
    context = click.Context(click.Command("research"))
    known = {option.opts[0]: option.get_help_record(context) for option in options}
    with formatter.section("Options of a question"):
        formatter.write_dl([row for name in FIRST_FLAGS if (row := known[name])])
    formatter.write_paragraph()
    formatter.write_text(
        "All options: `research ask --help`. A command: `research COMMAND --help`. "
        "All at once: `research --help-all`, or `research --man | man -l -`."
    )


class NarrowFormatter(click.HelpFormatter):
    """Keeps within the width of a terminal below the fifty columns that click takes for granted."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Leave the names of options two fifths of a narrow line; what they do gets the rest."""
        super().write_dl(rows, min(col_max, max(8, self.width * 2 // 5)), col_spacing)


class SectionedCommand(click.Command):
    """A command whose many options are listed by subject."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each subject; options before the first one open the list."""
        sections: dict[str, list[tuple[str, str]]] = {}
        head = "Options"
        for parameter in _options(self, ctx):
            head = "Other" if "--help" in parameter.opts else _SECTIONS.get(parameter.opts[0], head)
            if row := parameter.get_help_record(ctx):
                sections.setdefault(head, []).append(row)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def all_helps(names: Iterable[str], load: Loader) -> str:
    """The help of every command, one after another."""
    return "\n\n".join(command.get_help(context) for context, command in _walk(names, load))


def man_page(names: Iterable[str], load: Loader, version: str) -> str:
    """A man page in roff: every command with its options, and the variables of options."""
    lines = [
        f'.TH RESEARCH 1 "" "urchin-research {version}" "User commands"',
        ".SH NAME\nresearch \\- answer a question from the web, every sentence cited",
        ".SH SYNOPSIS\n.B research\n[\\fIOPTIONS\\fR] \\fIQUESTION\\fR\n.br",
        ".B research\n\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]",
        ".SH COMMANDS",
    ]
    for context, command in _walk(names, load):
        usage = " ".join(command.collect_usage_pieces(context))
        lines += [f".SS {_roff(context.command_path)} {_roff(usage)}", _roff(command.help or "")]
        for parameter in _options(command, context):
            if row := parameter.get_help_record(context):
                lines += [f".TP\n.B {_roff(row[0])}", _roff(row[1])]
    lines += [
        ".SH FILES\nThe settings file: \\fBresearch config path\\fR.",
        f".SH EXIT STATUS\n{_EXIT_CODES}",
        ".SH EXAMPLES\n.nf",
        *(_roff(line.strip()) for line in EXAMPLES.splitlines()[2:]),
        ".fi",
    ]
    return "\n".join(lines)


def _walk(names: Iterable[str], load: Loader) -> Iterator[tuple[click.Context, click.Command]]:
    """Each command, and those below it, with a context that knows its path."""
    top = click.Context(click.Group("research"), info_name="research")
    pending = [(name, load(name), top) for name in names]
    while pending:
        name, command, parent = pending.pop(0)
        context = click.Context(command, parent=parent, info_name=name)
        yield context, command
        if isinstance(command, click.Group):
            below = [(n, c, context) for n, c in command.commands.items() if not c.hidden]
            pending = [*below, *pending]


def _options(command: click.Command, ctx: click.Context) -> list[click.Parameter]:
    return [one for one in command.get_params(ctx) if one.param_type_name == "option"]


def _roff(text: str) -> str:
    """Escape a text, so that none of it is read as a request of roff."""
    flat = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{flat}" if flat.startswith((".", "'")) else flat


_INSTALL = """\b
  bash:  echo 'eval "$(research completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(research completion zsh)"' >> ~/.zshrc
  fish:  research completion fish > ~/.config/fish/completions/research.fish
"""


@click.command(epilog=_INSTALL)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and flags in SHELL."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - only for this

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three"
    name = ctx.find_root().info_name or "research"
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    print(kind(ctx.find_root().command, {}, name, variable).source())
