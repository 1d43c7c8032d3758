"""`research serve` and `research channels`: the page and the API; messengers and mail."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.channels.channel_runner import (
    channel_settings,
    check_channel,
    check_settings,
    run_channels,
)
from agent.channels.dialogue import Dialogue
from agent.cli.flags import (
    MANY,
    data_dir_option,
    given,
    port_option,
    run_flags_showing,
    token_option,
)
from agent.cli.progress import told
from agent.cli.settings_commands import parsed, write_settings
from agent.cli.stores import jobs_url_option, open_jobs
from agent.cli.terminal import complain, note, print_rows
from agent.config import config_path, load_options, read_file
from agent.errors import ResearchError, UsageError, from_extra
from agent.jobs.job import json_flags
from browser.text.words import clean

if TYPE_CHECKING:
    from agent.config import Options


SHOWN = ("--model", "--judge", "--depth", "--search", "--corpus", "--attach", "--cdp", "--budget")
PORT, LOOPBACK = 8321, "127.0.0.1"
NO_CHANNELS = ("No channels are set.", "`research channels add telegram --allow ID` adds one.")


@click.command()
@port_option(PORT)
@click.option("--host", default=LOOPBACK, show_default=True, help="The address to listen on.")
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME[:PORT]",
    help="A name under which it is called, behind a proxy or in a network.",
)
@token_option("RESEARCH_SERVE_TOKEN")
@click.option(
    "--folder",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder that questions may be asked of.",
)
@click.option("--at-once", default=20, type=MANY, show_default=True, help="Runs at work at most.")
@jobs_url_option
@run_flags_showing(*SHOWN, "--allow-private", "--share", "--data-dir", "--no-memory")
def serve(
    *,
    port: int,
    host: str,
    names: tuple[str, ...],
    token: str | None,
    folder: tuple[Path, ...],
    at_once: int,
    jobs_url: str | None,
    **flags: Any,
) -> None:
    """Serve the page and the API on loopback; takes the flags of a question for its runs."""
    named = json_flags(flags)
    settings = load_options(named, config=True)
    with from_extra("serve"):
        from agent.serve.app import serve_app  # noqa: PLC0415 - an extra, of this command alone
        from agent.serve.server_state import ServerState  # noqa: PLC0415 - as above
    made = token or secrets.token_urlsafe(32)

    async def doctor() -> list[dict[str, Any]]:
        from agent.cli.doctor import machine, network  # noqa: PLC0415 - only where it is asked for

        return [asdict(one) for one in [*machine(settings), *await network(settings)]]

    ticket = secrets.token_urlsafe(16) if token is None else ""

    def ready(address: str) -> None:
        print(f"{address}/?ticket={ticket}" if ticket else address, flush=True)
        if ticket:
            said = f"The address lets one browser in, once. The token is {made}"
            note(said, "Programs send it as `Authorization: Bearer TOKEN`.")

    flags = {**named, "folder": [str(path) for path in folder]}
    state = ServerState(
        settings,
        flags,
        at_once=at_once,
        event_lines=lambda event: told(event, 0),
        doctor=doctor,
        open_jobs=lambda: open_jobs(jobs_url, settings.data),
    )
    serving = serve_app(
        state, port=port, host=host, names=names, token=made, ticket=ticket, ready=ready
    )
    asyncio.run(serving)


@click.group()
@data_dir_option
@click.pass_context
def channels(ctx: click.Context, data_dir: Path | None) -> None:
    """Be asked by Telegram, Discord, Slack, WhatsApp or e-mail; only by those on the allow-list."""
    ctx.obj = given({"data_dir": data_dir})


def _options(ctx: click.Context) -> Options:
    return load_options(ctx.obj, config=True)


@channels.command(name="list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """Name the channels, whom each hears, and which of its secrets are not set."""
    print_rows([*channel_settings(_options(ctx)).items()], _channel, empty=NO_CHANNELS)


def _channel(row: tuple[str, tuple[Any, Any]]) -> str:
    name, (made, settings) = row
    variables = (settings.keys.get(key, usual) for key, usual in made.keys.items())
    missing = [f"{variable} is not set" for variable in variables if not os.environ.get(variable)]
    heard = ", ".join(settings.allow) or "nobody"
    return "  ".join([name, settings.kind, f"hears {heard}", *missing])


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
        row[key] = parsed(value, dict)
    row.setdefault("kind", name)
    made, _ = check_settings(name, row)
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
        raise UsageError("no channels are set", hint=NO_CHANNELS[1])
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
