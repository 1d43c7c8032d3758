"""The command-line options: names, environment variables and help texts."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import click

from agent.errors import UsageError
from agent.options import SETTINGS, Options, default_data_dir, variables_of
from agent.validation import split_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
EXISTING_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
POSITIVE_COUNT = click.IntRange(1, 1_000_000)
"""A count: at least one, and small enough for databases and calendars."""
DAYS = click.IntRange(0, 1_000_000)
"""An age in days, small enough for calendar dates."""


class Amount(click.FloatRange):
    """A finite number; `nan` and `inf` are rejected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert to a float; fail if it is not finite."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


POSITIVE_AMOUNT = Amount(min=0, min_open=True)


class Option:
    """An option, used as a command decorator and in the tables below."""

    def __init__(self, names: tuple[str, ...], settings: dict[str, Any]) -> None:
        self.names = names
        self.settings = settings

    def to_click(self) -> click.Option:
        """Return the click option, for use in help texts."""
        settings = dict(self.settings)
        kind: type[click.Option] = settings.pop("cls", click.Option)
        return kind(self.names, **settings)

    def __call__(self, function: F) -> F:
        """Add the option to a command."""
        return click.option(*self.names, **self.settings)(function)


def option(names: str | tuple[str, ...], metavar: str | None, text: str, **settings: Any) -> Option:
    """Make an option from its names, value placeholder and help text."""
    names = (names,) if isinstance(names, str) else names
    return Option(names, {"metavar": metavar, "help": text, **settings})


def switch(names: str | tuple[str, ...], text: str, **settings: Any) -> Option:
    """Make an on/off option."""
    return option(names, None, text, is_flag=True, **settings)


class _RepeatableOption(click.Option):
    """An option that may be repeated; its environment variable contains a list."""

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Split the variable like the settings loader; click would split paths at `:`."""
        value = self.resolve_envvar_value(ctx)
        try:
            return value if value is None else split_list(value)
        except ValueError as error:
            raise UsageError(str(error)) from error


several = partial(option, multiple=True, cls=_RepeatableOption)


_ANNOTATIONS = Options.__annotations__


class _SettingOption(click.Option):
    """An option generated from the settings table.

    Only the flag is read here; `load_options` adds values from the environment, the settings file
    and the defaults.
    """

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:  # noqa: ARG002 - as click calls it
        """Return None: the help text shows the variable, but `load_options` reads it."""
        return None


class ListingGroup(click.Group):
    """A command group that lists its items if no command is given; `list` is optional."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Drop `list`."""
        return super().parse_args(ctx, args[1:] if args[:1] == ["list"] else args)


_PATH_TYPE_ARGUMENTS = frozenset({"exists", "file_okay", "dir_okay"})


def setting_option(name: str) -> Option:
    """Make the option for a setting, with its names, type and help text."""
    more = dict(SETTINGS[name].metadata)
    text, metavar, flag = more.pop("help"), more.pop("metavar"), more.pop("flag")
    for used in ("page", "secret", "variables"):
        more.pop(used, None)
    checks = {key: more.pop(key) for key in _PATH_TYPE_ARGUMENTS & more.keys()}
    names = flag or f"--{name.replace('_', '-')}"
    kinds = _kinds(_ANNOTATIONS[name])
    if bool in kinds:
        more |= {"is_flag": True, "default": None}
    elif Path in kinds:
        if checks.get("exists"):
            checks["dir_okay"] = False
        more["type"] = click.Path(path_type=Path, **checks)
    elif choices := [kind for kind in kinds if isinstance(kind, str)]:
        more["type"] = click.Choice(choices)
    else:
        more["type"] = next((kind for kind in (int, float) if kind in kinds), str)
    if tuple in kinds and "," not in metavar:
        more["multiple"] = True
    own = (name,) if isinstance(names, tuple) or "/" in names else ()
    names = (names,) if isinstance(names, str) else names
    row = option((*names, *own), metavar, text, cls=_SettingOption, **more)
    row.settings |= {"envvar": variables_of(name), "show_envvar": True}
    return row


def _kinds(annotation: Any) -> list[Any]:
    """Return the types in an annotation, and the values of a `Literal`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    found = [origin or annotation]
    for part in get_args(annotation):
        found += [part] if isinstance(part, str) else _kinds(part)
    return found


_RUN_OPTIONS = tuple(
    setting_option(name)
    for name, field in SETTINGS.items()
    if field.metadata["flag"] is not None and name != "require_verified"  # this is an output flag
)
EXPORT_FORMATS = ".md, .html, .pdf, .bib, .zip and more"
"""Examples of export formats, for help texts; docs/archive.md lists all of them."""
_OUTPUT_OPTIONS: tuple[Option, ...] = (
    several(
        "--export",
        "FILE",
        f"Also export to FILE: {EXPORT_FORMATS}.",
        type=PATH,
    ),
    setting_option("require_verified"),
    switch(("--json", "as_json"), "Print the report as JSON."),
    switch(("--events", "as_events"), "Print events as JSON Lines."),
    switch(("-q", "--quiet"), "Show no progress."),
    option(
        ("-v", "--verbose"),
        None,
        "Show more progress: the model's text and, with -vv, tool results.",
        count=True,
    ),
)


OUTPUT_FLAGS = frozenset({"as_json", "as_events", "quiet", "verbose", "export"})
"""The names of the output flags that are not settings of a run."""


service_option = setting_option("service")
"""For `audit` and `recheck`, the only commands that use services."""


def setting_flag(name: str, text: str | None = None) -> Option:
    """Make a setting's flag for a command that ignores the environment and the settings file."""
    row = setting_option(name)
    own = {"envvar": None, "show_envvar": False}
    return Option(row.names, {**row.settings, **own, **({"help": text} if text else {})})


SERVER_FLAGS = (
    *("--model", "--judge", "--depth", "--search", "--corpus", "--attach", "--cdp"),
    *("--allow-private", "--share", "--data-dir", "--memory/--no-memory"),
)
"""The run flags that the help of a server lists."""


def run_flags(*shown: str) -> Callable[[F], F]:
    """Add all run flags; the command's help lists only those in `shown`."""
    listed = _named_rows(shown)

    # The others are hidden but still work: the command accepts every flag of `ask`.
    def visible(row: Option) -> Option:
        return Option(row.names, {"hidden": row not in listed, **row.settings})

    return _options_decorator([visible(row) for row in _RUN_OPTIONS] if shown else _RUN_OPTIONS)


def only_run_flags(*names: str) -> Callable[[F], F]:
    """Add only the named run flags."""
    return _options_decorator(_named_rows(names))


def _named_rows(names: Sequence[str]) -> list[Option]:
    """Return the run flags with these names, in the table's order.

    Names of output flags are ignored; an unknown name raises `KeyError`.
    """
    if unknown := {*names} - {row.names[0] for row in (*_RUN_OPTIONS, *_OUTPUT_OPTIONS)}:
        raise KeyError(*unknown)
    return [row for row in _RUN_OPTIONS if row.names[0] in names]


def output_flags(function: F) -> F:
    """Add the flags for output to the terminal and to files."""
    return _options_decorator(_OUTPUT_OPTIONS)(function)


def question_options() -> list[click.Option]:
    """Make the question options for the help text, without loading any run code."""
    return [row.to_click() for row in (*_RUN_OPTIONS, *_OUTPUT_OPTIONS)]


def _options_decorator(rows: Sequence[Option]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for row in reversed(rows):  # the decorator applied last is listed first in the help
            function = Option(row.names, _with_variable(row))(function)
        return function

    return add


def _with_variable(row: Option) -> dict[str, Any]:
    """Add the environment variable to an option's settings, unless they already contain one."""
    parameter = next((name for name in row.names if not name.startswith("-")), None)
    name = parameter or next(name for name in row.names if name.startswith("--"))
    plain = name.split("/")[0].removeprefix("--").replace("as_", "", 1).replace("-", "_")
    return {"envvar": f"RESEARCH_{plain.upper()}", "show_envvar": True, **row.settings}


def drop_unset(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Remove flags that were not given, so that other settings apply."""
    return {name: value for name, value in flags.items() if value not in (None, ())}


def given_settings(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags given on the command line or as environment variables.

    Used for runs that start in another process, or whose settings are needed in advance.
    """
    from agent.config import read_environment  # noqa: PLC0415 - not needed for `--help`

    in_environment = read_environment(os.environ)
    named = {name: value for name, value in in_environment.items() if name in flags}
    return {**named, **drop_unset(flags)}


# Where data is stored. Commands that need no other settings use this to find run data.


def data_folder() -> Path:
    """Return the data folder from the environment, the settings file, or the default."""
    from agent.config import read_setting  # noqa: PLC0415 - as above

    named = read_setting("data_dir")
    return Path(str(named)) if named else default_data_dir()


def _namespace() -> str:
    from agent.config import read_setting  # noqa: PLC0415 - as above

    return str(read_setting("namespace") or "default")


def _location_option(name: str, default: Callable[[], Any], **more: Any) -> Option:
    row = setting_option(name)
    return Option(row.names, {**row.settings, "default": default, **more})


data_dir_option = _location_option("data_dir", data_folder, type=FOLDER)
namespace_option = _location_option("namespace", _namespace)
LOCATION_OPTIONS = frozenset({"--data-dir", "--namespace", "--wiki", "--jobs-url"})
"""Options allowed anywhere in a command; see `move_location_options` in `agent.cli.group`."""


# Options shared by several commands.

json_option = switch(("--json", "as_json"), "Print as JSON.")


def number_option(default: int, text: str) -> Option:
    """Make the `-n` option: a count of at least one."""
    return option(
        ("-n", "--number"), None, text, default=default, type=POSITIVE_COUNT, show_default=True
    )


class NonBlank(click.types.StringParamType):
    """Text that must not be blank; otherwise raises `UsageError`."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        self._what = what
        self._hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Reject blank text."""
        text = super().convert(value, param, ctx)
        if not text.strip():
            raise UsageError(f"{self._what} must not be empty", hint=self._hint)
        return text


# Servers.

MIN_TOKEN = 16
"""Minimum length of a token, in characters: anyone who can reach the port can guess without limit.
"""


def port_option(default: int, text: str = "Port to listen on; 0 chooses a free one.") -> Option:
    """Make the `--port` option."""
    kind = click.IntRange(0, 65535)
    return option("--port", None, text, default=default, type=kind, show_default=True)


def token_option(variable: str) -> Option:
    """Make the `--token` option; `variable` is its environment variable."""

    def check(_: click.Context, __: click.Parameter, token: str | None) -> str | None:
        if token is not None and len(token) < MIN_TOKEN:
            raise UsageError(f"a token must have at least {MIN_TOKEN} characters")
        return token

    text = "Token that clients must send (default: a random one)."
    return option("--token", "TEXT", text, envvar=variable, callback=check)


# Jobs.

JOBS_URL_VARIABLE = "RESEARCH_JOBS_URL"
jobs_url_option = option(
    "--jobs-url",
    "URL",
    "Job database to share between machines: postgresql://… (default: jobs.db in the data folder).",
    envvar=JOBS_URL_VARIABLE,
)
notify_option = several(
    "--notify",
    "TARGET",
    "Send notifications to mailto:ADDRESS, https://…, desktop: or feed:FILE; repeatable.",
)
host_delay_option = option(
    "--host-delay",
    "S",
    "Minimum seconds between requests to the same host, across all questions (default: 0.2).",
    type=Amount(min=0),
)


def retry_option(default: int) -> Option:
    """Make the `--retry` option: the number of retries after a failure."""
    kind, text = click.IntRange(0, 20), "Retry failures up to N times."
    return option("--retry", "N", text, type=kind, default=default, show_default=True)


# Timestamps, and the data for checking them.

calendars_option = several(
    ("--calendar", "calendars"),
    "URL",
    "URL of an OpenTimestamps calendar, or `public` for its public calendars; repeatable.",
)
complete_option = switch(
    "--complete", "Fetch pending Bitcoin proofs from OpenTimestamps calendars."
)


def require_stamper(authority: str | None, calendars: tuple[str, ...], *, complete: bool) -> None:
    """Raise `click.UsageError` if no timestamping service is named."""
    if not (authority or calendars or complete):
        raise click.UsageError("Specify a timestamping authority, or use --calendar or --complete.")


roots_option = option(
    "--roots",
    "FILE",
    "File with root certificates of timestamping authorities.",
    type=EXISTING_FILE,
)
_BLOCK_HEADER_RE = re.compile(r"(\d{1,9})=([0-9a-fA-F]{160})")


def _read_blocks(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[int, bytes]:
    found = [_BLOCK_HEADER_RE.fullmatch(value) for value in values]
    if not all(found):
        raise click.BadParameter("expected HEIGHT=HEADER, where HEADER is 80 bytes in hex.")
    return {int(block[1]): bytes.fromhex(block[2]) for block in found if block}


blocks_option = several(
    ("--block", "blocks"),
    "HEIGHT=HEADER",
    "Header (80 bytes in hex) of a Bitcoin block that a proof refers to; repeatable.",
    callback=_read_blocks,
)
