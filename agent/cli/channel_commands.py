"""`research channels`: questions by messenger and mail."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import TYPE_CHECKING, Any

import click

from agent.channels.dialogue import Dialogue
from agent.channels.running import check_channel, checked, run_channels, settings_of
from agent.cli.config_commands import write_settings
from agent.cli.flags import data_dir_option, given
from agent.cli.terminal import complain, note
from agent.config import config_path, options, read_file
from agent.errors import ResearchError, UsageError
from browser.text.words import clean

if TYPE_CHECKING:
    from pathlib import Path

    from agent.config import Options


@click.group()
@data_dir_option
@click.pass_context
def channels(ctx: click.Context, data_dir: Path | None) -> None:
    """Be asked by Telegram, Discord, Slack, WhatsApp or e-mail; only by those on the allow-list."""
    ctx.obj = given({"data_dir": data_dir})


def _options(ctx: click.Context) -> Options:
    return options(ctx.obj, config=True)


@channels.command(name="list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """Name the channels, whom each hears, and which of its secrets are not set."""
    known = settings_of(_options(ctx))
    for name, (made, settings) in known.items():
        variables = [settings.keys.get(key, usual) for key, usual in made.keys.items()]
        missing = [
            f"{variable} is not set" for variable in variables if not os.environ.get(variable)
        ]
        heard = ", ".join(settings.allow) or "nobody"
        print(clean("  ".join([name, settings.kind, f"hears {heard}", *missing])))
    if not known:
        note("No channels are set.", "`research channels add telegram --allow ID` adds one.")


@channels.command()
@click.argument("name")
@click.argument("settings", nargs=-1, metavar="[SETTING=VALUE]...")
@click.option("--kind", help="Which service; else the name says it.")
@click.option("--allow", multiple=True, metavar="ID", help="Who is heard; repeatable.")
def add(name: str, settings: tuple[str, ...], kind: str | None, allow: tuple[str, ...]) -> None:
    """Add a channel, or change one: `add telegram --allow 12345`, `add phone --kind whatsapp …`."""
    file = read_file()
    rows: dict[str, Any] = file.get("channels") or {}
    row = {**rows.get(name, {}), **given({"kind": kind})}
    if allow:
        row["allow"] = list(dict.fromkeys([*row.get("allow", ()), *allow]))
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"{setting!r} is no setting", hint="Write it as name=value.")
        row[key] = _value(value)
    row.setdefault("kind", name)
    made, _ = checked(name, row)
    file["channels"] = {**rows, name: row}
    print(f"{name} is set in {write_settings(file)}")
    missing = [variable for variable in made.keys.values() if not os.environ.get(variable)]
    for variable in missing:
        note(f"{variable} is not set.", f"`research keys set {variable}` keeps it.")


@channels.command()
@click.argument("name")
def rm(name: str) -> None:
    """Take a channel out of the settings; what it was asked stays in the data folder."""
    file = read_file()
    rows = dict(file.get("channels") or {})
    if rows.pop(name, None) is None:
        said = f"no channel is called {name!r} in {config_path()}"
        raise UsageError(said, hint="`research channels list` names them.")
    file["channels"] = rows
    if not rows:
        del file["channels"]
    print(f"{name} is no longer set in {write_settings(file)}")


@channels.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_context
def test(ctx: click.Context, names: tuple[str, ...]) -> int:
    """Ask each service as whom it knows us: the token holds, and the service can be reached."""
    settings = _options(ctx)
    code = 0
    for name in names or _named(settings):
        try:
            asked = check_channel(name, settings, environ=os.environ, say=note)
            print(clean(f"{name}  {asyncio.run(asked)}"))
        except ResearchError as error:
            complain(f"{name}: {error}", error.hint)
            code = code or error.exit_code
    return code


@channels.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_context
def run(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Answer what comes in, until stopped; without a NAME by all channels."""
    settings = _options(ctx)
    asyncio.run(_until_stopped(list(names or _named(settings)), settings))


def _named(settings: Options) -> list[str]:
    if not settings.channels:
        hint = "`research channels add telegram --allow ID` adds one."
        raise UsageError("no channels are set", hint=hint)
    return list(settings.channels)


async def _until_stopped(names: list[str], settings: Options) -> None:
    """Run until SIGTERM, which ends it in order; what is under way goes on at the next start."""
    running = asyncio.ensure_future(run_channels(names, settings, Dialogue, say=note))
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        running.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    note(f"Listening by {', '.join(names)}.", "Ctrl-C ends it.")
    try:
        await running
    except asyncio.CancelledError:
        if not stopped:
            raise


def _value(text: str) -> Any:
    """Read numbers, lists and tables as JSON has them, all else as text; ids stay text."""
    try:
        parsed = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(parsed, str) else parsed
