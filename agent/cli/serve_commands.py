"""`research serve` (web page and API) and `research channels` (messengers and e-mail)."""

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
    POSITIVE_COUNT,
    SERVER_FLAGS,
    data_dir_option,
    drop_unset,
    jobs_url_option,
    option,
    port_option,
    run_flags,
    several,
    token_option,
)
from agent.cli.settings_commands import parse_value, store_key, write_settings
from agent.cli.stores import open_jobs
from agent.cli.terminal import note, on_signal, print_error, print_rows, print_text
from agent.config import LiveOptions, config_path, load_options, read_file
from agent.errors import ResearchError, UsageError, requires_extra
from agent.jobs.job import json_flags
from agent.run.research import research
from agent.run.resume import resume_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.options import Options

PORT, LOOPBACK = 8321, "127.0.0.1"
NO_CHANNELS = (
    "No channels are configured.",
    "`research channels add telegram --allow ID` adds one.",
)


@click.command()
@port_option(PORT)
@option("--host", None, "Address to listen on.", default=LOOPBACK, show_default=True)
@several(
    ("--allow-host", "names"),
    "NAME[:PORT]",
    "Host name by which clients reach the server through a proxy or a network.",
)
@token_option("RESEARCH_SERVE_TOKEN")
@several(
    "--folder",
    None,
    "Folder of files that clients may ask questions about.",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
@option(
    "--at-once",
    None,
    "Maximum number of parallel runs.",
    default=20,
    type=POSITIVE_COUNT,
    show_default=True,
)
@jobs_url_option
@run_flags(*SERVER_FLAGS, "--budget")
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
    """Serve the web page and the API on loopback. Accepts the same flags as `research ask`."""
    named = json_flags(flags)
    live = LiveOptions(named, print_error)
    settings = live.current()
    with requires_extra("serve"):
        from agent.serve.app import serve_app  # noqa: PLC0415 - an extra, for this command
        from agent.serve.server_state import ServerState  # noqa: PLC0415 - as above
    # If the token is random, the printed address contains a single-use ticket instead, because
    # addresses are kept in browser histories and visible on the screen.
    required = token or secrets.token_urlsafe(32)
    ticket = "" if token is not None else secrets.token_urlsafe(16)

    async def doctor() -> list[dict[str, Any]]:
        from agent.cli.doctor import check_machine, check_network  # noqa: PLC0415 - rarely used

        now = live.current()
        return [asdict(one) for one in (*check_machine(now), *await check_network(now))]

    def ready(address: str) -> None:
        print(f"{address}/?ticket={ticket}" if ticket else address, flush=True)
        if ticket:
            note(
                "This URL logs in a single browser and works only once.",
                f"API clients send the header `Authorization: Bearer {required}`.",
            )

    state = ServerState(
        live.current,
        {**named, "folder": [str(path) for path in folder]},
        at_once=at_once,
        doctor=doctor,
        open_jobs=lambda: open_jobs(jobs_url, settings.data),
        store_key=store_key,
        research=research,
        resume_run=resume_run,
    )
    serving = serve_app(
        state, port=port, host=host, names=names, token=required, ticket=ticket, ready=ready
    )
    asyncio.run(serving)


@click.group()
@data_dir_option
@click.pass_context
def channels(ctx: click.Context, data_dir: Path) -> None:
    """Answer questions from allowed senders on Telegram, Discord, Slack, WhatsApp or e-mail."""
    ctx.obj = data_dir


def _load_settings(data_dir: Path) -> Options:
    # Not in the group, because `add` and `rm` must work even if the file has an invalid channel.
    return load_options({"data_dir": data_dir}, config=True)


@channels.command(name="list")
@click.pass_obj
def list_(data_dir: Path) -> None:
    """List the channels with their allowed senders and missing secrets."""
    rows = channel_settings(_load_settings(data_dir)).items()
    print_rows([*rows], _format_channel, empty=NO_CHANNELS)


def _format_channel(row: tuple[str, tuple[Any, Any]]) -> str:
    name, (channel, settings) = row
    variables = (settings.keys.get(key, usual) for key, usual in channel.keys.items())
    missing = [f"{variable} is not set" for variable in variables if not os.environ.get(variable)]
    allowed = ", ".join(settings.allow) or "nobody"
    return "  ".join([name, settings.kind, f"allowed: {allowed}", *missing])


@channels.command()
@click.argument("name")
@click.argument("settings", nargs=-1, metavar="[SETTING=VALUE]...")
@option("--kind", None, "The channel's service (default: the channel's name).")
@several("--allow", "ID", "Allowed sender; repeatable.")
def add(name: str, settings: tuple[str, ...], kind: str | None, allow: tuple[str, ...]) -> None:
    """Add or change a channel: `add telegram --allow 12345`, `add phone --kind whatsapp …`."""
    file = read_file()
    rows: dict[str, Any] = file.get("channels") or {}
    row = {**rows.get(name, {}), **drop_unset({"kind": kind})}
    if allow:
        row["allow"] = list(dict.fromkeys([*row.get("allow", ()), *allow]))
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"{setting!r} is not a setting", hint="Use the form name=value.")
        row[key] = parse_value(value, dict)
    row.setdefault("kind", name)
    channel, _ = check_settings(name, row)
    file["channels"] = {**rows, name: row}
    print(f"saved {name} in {write_settings(file)}")
    for variable in channel.keys.values():
        if not os.environ.get(variable):
            note(f"{variable} is not set.", f"`research keys set {variable}` stores it.")


@channels.command()
@click.argument("name")
def rm(name: str) -> None:
    """Remove a channel from the settings. The channel's conversations stay in the data folder."""
    file = read_file()
    rows = dict(file.get("channels") or {})
    if rows.pop(name, None) is None:
        raise UsageError(
            f"no channel named {name!r} in {config_path()}",
            hint="`research channels list` shows the channels.",
        )
    file["channels"] = rows
    if not rows:
        del file["channels"]
    print(f"removed {name} from {write_settings(file)}")


@channels.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_obj
def test(data_dir: Path, names: tuple[str, ...]) -> int:
    """Check whether each channel's service is reachable and accepts the token."""
    settings = _load_settings(data_dir)
    code = 0
    for name in names or _all_names(settings):
        try:
            account = check_channel(name, settings, note)
            print_text(f"{name}  {asyncio.run(account)}")
        except ResearchError as error:
            print_error(f"{name}: {error}", error.hint)
            code = code or error.exit_code
    return code


@channels.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_obj
def run(data_dir: Path, names: tuple[str, ...]) -> None:
    """Answer incoming messages on the given channels (default: all) until stopped."""
    live = LiveOptions({"data_dir": data_dir}, print_error)
    chosen = list(names or _all_names(live.current()))
    asyncio.run(_run_until_stopped(chosen, live.current))


def _all_names(settings: Options) -> list[str]:
    if not settings.channels:
        raise UsageError("no channels are configured", hint=NO_CHANNELS[1])
    return list(settings.channels)


async def _run_until_stopped(names: list[str], live: Callable[[], Options]) -> None:
    """Run until SIGTERM, then shut down cleanly; unfinished runs continue at the next start."""
    running = asyncio.ensure_future(run_channels(names, live, Dialogue, note))
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        running.cancel()

    on_signal(signal.SIGTERM, stop)
    note(f"Listening on {', '.join(names)}.", "Press Ctrl-C to stop.")
    try:
        await running
    except asyncio.CancelledError:
        if not stopped:  # by Ctrl-C: exit code 130
            raise
