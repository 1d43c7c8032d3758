"""Help: the overview, the complete help, the man page, and shell completion."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Loader = Callable[[str], click.Command]


GROUPS = {
    "Ask": ("ask", "chat", "resume", "audit", "check"),
    "Past runs": ("ui", "runs", "show", "export", "verify", "replay", "diff", "usage", "feedback"),
    "Memory": ("memory", "skills", "wiki", "habits"),
    "Automate": ("batch", "queue", "schedule", "monitor", "worker"),
    "Serve": ("serve", "channels", "mcp"),
    "Set up": ("doctor", "keys", "secret", "config", "chrome", "tools", "plugins", "completion"),
}
"""Commands by purpose. Commands without a group are listed under `More`."""
FIRST_FLAGS = (
    "--model --depth --report --corpus --file --attach --site --since --budget --timeout -c "
    "--export --json"
).split()
"""The question flags that are most useful to new users."""
_SECTIONS = {
    "--model": "Model",
    "--dry-run": "Depth and format",
    "--search": "Search",
    "--corpus": "Files",
    "--attach": "Browser",
    "--allow": "Access and approvals",
    "--tool-sources": "Tools",
    "--max-steps": "Limits",
    "-c": "Conversation, memory and data",
    "--export": "Output",
}
"""Sections of the help text by their first option; the options after it belong to it too."""
EXAMPLES = """\b
Examples:
  research "When was the Eiffel Tower opened?"
  research --corpus notes/ "What did we decide about pricing?"
  research --attach "What does this page say about refunds?"
  git diff | research "What does this change?"
"""
_EXIT_CODES = (
    "0 answered, 1 internal error, 2 usage error, 3 not found, 4 not verified as required, 5 limit "
    "reached, 6 web unreachable, 7 model failed, 8 check failed, "
    "130 interrupted."
)


def write_first_screen(
    formatter: click.HelpFormatter, helps: Mapping[str, str], options: Iterable[click.Option]
) -> None:
    """Write a line per command, by group, the most common flags, and where to find more help."""
    more = [name for name in helps if not any(name in group for group in GROUPS.values())]
    width = max(map(len, helps))
    for head, group in ({**GROUPS, "More": more} if more else GROUPS).items():
        with formatter.section(head):
            formatter.write_dl(
                [(name.ljust(width), helps[name]) for name in group if name in helps]
            )
    context = click.Context(click.Command("research"))
    brief = [copy(option) for option in options]
    for option in brief:
        option.show_envvar = False  # `research ask --help` names the environment variables
    known = {option.opts[0]: option.get_help_record(context) for option in brief}
    with formatter.section("Question options"):
        formatter.write_dl([row for name in FIRST_FLAGS if (row := known[name])])
    formatter.write_paragraph()
    formatter.write_text(
        "All question options: `research ask --help`. Help for a command: "
        "`research COMMAND --help`. Everything: `research --help-all`, or "
        "`research --man | man -l -`."
    )


class NarrowFormatter(click.HelpFormatter):
    """Fits the help text into terminals narrower than click's minimum of 50 columns."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Limit option names to two fifths of the line in a narrow terminal."""
        super().write_dl(rows, min(col_max, max(8, self.width * 2 // 5)), col_spacing)


class SectionedCommand(click.Command):
    """A command whose many options are listed in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section; options before the first section come first."""
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
    """Return the help text of all commands."""
    return "\n\n".join(command.get_help(context) for context, command in _walk(names, load))


def man_page(names: Iterable[str], load: Loader, version: str) -> str:
    """Return a man page in roff: every command with its options and environment variables."""
    lines = [
        f'.TH RESEARCH 1 "" "urchin-research {version}" "User commands"',
        ".nh\n.ad l",  # no hyphenation in the names of settings
        ".SH NAME\nresearch \\- answer a question from the web, citing a source for every sentence",
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
    """Yield each command and subcommand with a context that contains its full name."""
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
    """Escape text so that roff does not interpret any of it as requests."""
    flat = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{flat}" if flat.startswith((".", "'")) else flat


_COMPLETION_SETUP = """\b
  bash:  echo 'eval "$(research completion bash)"' >> ~/.bashrc
  zsh:   echo 'eval "$(research completion zsh)"' >> ~/.zshrc
  fish:  research completion fish > ~/.config/fish/completions/research.fish
"""


@click.command(epilog=_COMPLETION_SETUP)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - only for this

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three"
    name = ctx.find_root().info_name or "research"
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    print(kind(ctx.find_root().command, {}, name, variable).source())
