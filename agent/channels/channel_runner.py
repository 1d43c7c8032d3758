"""Running channels: opened from their settings, listened to, connected again when cut off."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from agent.channels.answer_text import plain_text, split_answer
from agent.channels.channel import MALFORMED, Channel, ChannelLink, ChannelSettings, Outbound
from agent.channels.inbox import Inbox
from agent.config import find_plugin, load_options, private_folder
from agent.errors import NotSent, ResearchError, UsageError
from agent.notify.service_client import BACKOFF_S, ServiceClient, backoff_delay
from agent.notify.targets import host_and_port
from browser.errors import BrowserError
from browser.net.egress import Egress, EgressPolicy
from browser.plugins import plugins

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from agent.channels.dialogue import Dialogue
    from agent.config import Options
    from agent.notify.notice import Notice
    from agent.notify.targets import Sender

EXTRA = ("telegram", "discord", "slack", "whatsapp", "email")
"""What the package of plug-ins `urchin-extras` brings."""
_LASTS_S = 60.0
"""A connection that held so long was a good one: the next try is at once."""


def channel_settings(options: Options) -> dict[str, tuple[type[Channel], ChannelSettings]]:
    """Read `[channels.NAME]`, each with its class. Raises `UsageError` for what does not hold."""
    return {name: check_settings(name, row) for name, row in options.channels.items()}


def check_settings(name: str, row: Any) -> tuple[type[Channel], ChannelSettings]:
    """Check the settings of one channel. Raises `UsageError`."""
    if not isinstance(row, dict):
        raise UsageError(f"channels.{name} is no table of settings")
    kind = str(row.get("kind", name))
    made = class_of(kind)
    try:
        settings = made.Settings(
            **{"kind": kind, **{k.replace("-", "_"): v for k, v in row.items()}}
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"channels.{name}.{where}: {first['msg']}", hint="See docs/channels.md."
        ) from error
    load_options(settings.run)
    return made, settings


def class_of(kind: str) -> type[Channel]:
    """Find the class of a kind among the plug-ins. Raises `UsageError`."""
    made: type[Channel] | None = find_plugin("channels", kind)
    if made is None:
        known = ", ".join(one.name for one in plugins("channels"))
        brought = f"`pip install urchin-extras` brings {', '.join(EXTRA)}."
        hint = f"There are {known}." if known and kind not in EXTRA else brought
        raise UsageError(f"no channel is of the kind {kind!r}", hint=hint)
    return made


@asynccontextmanager
async def opened(
    name: str,
    options: Options,
    *,
    environ: Mapping[str, str],
    say: Callable[[str], None],
    backoff: float = BACKOFF_S,
) -> AsyncIterator[tuple[Channel, Inbox]]:
    """Open a channel, which reaches its own service and nothing else; raises `UsageError`."""
    made, settings = check_settings(name, _row(name, options))
    private = tuple(map(host_and_port, made.places(settings)))
    policy = EgressPolicy(
        allow_hosts=(*made.hosts, *private, *([host_and_port(made.url)] if made.url else ())),
        deny_hosts=options.deny,
        allow_private=private,
        upstream_proxy=options.proxy,
    )
    inbox = Inbox(options.data, name)
    try:
        async with Egress(policy) as egress, ServiceClient(egress, backoff=backoff) as http:
            yield made(settings, ChannelLink(http, egress.proxy_url, environ, inbox, say)), inbox
    finally:
        inbox.close()


async def run_channels(
    names: list[str],
    options: Options,
    answer: type[Dialogue],
    *,
    environ: Mapping[str, str] | None = None,
    say: Callable[[str], None],
    backoff: float = BACKOFF_S,
) -> None:
    """Run channels until cancelled; of several, one that cannot go on leaves the others alone.

    `answer` makes of a channel's messages what is answered. Raises `UsageError` where none can go
    on, or another process runs one on the same data folder.
    """
    for name in names:
        check_settings(name, _row(name, options))
    secrets = os.environ if environ is None else environ
    folder = private_folder(options.data / "channels")

    async def one(name: str) -> UsageError | None:
        lock = FileLock(folder / f"{name}.lock", timeout=0)
        try:
            with lock:
                opening = opened(name, options, environ=secrets, say=say, backoff=backoff)
                async with opening as (channel, inbox):
                    dialogue = answer(name, channel, inbox, options, say, backoff)
                    await _listen(name, channel, dialogue, say, backoff)
        except Timeout:
            return UsageError(f"another process runs {name} already", hint="Stop that one first.")
        except UsageError as error:
            say(f"{name}: stopped: {error}. {error.hint}".rstrip())
            return error
        raise AssertionError("a channel is listened to until it is cancelled")

    failed = [error for error in await asyncio.gather(*map(one, names)) if error is not None]
    if failed:
        raise failed[0]


async def _listen(
    name: str, channel: Channel, dialogue: Dialogue, say: Callable[[str], None], backoff: float
) -> None:
    """Listen, and again whenever the connection is lost, after a longer and longer while."""
    loop = asyncio.get_running_loop()
    attempt = 0
    dialogue.go_on()
    try:
        while True:
            began = loop.time()
            try:
                await channel.listen(dialogue.take)
                attempt = 0  # the service asked for a new connection
            except UsageError:
                raise
            except (ResearchError, BrowserError, OSError, *MALFORMED) as error:
                attempt = 0 if loop.time() - began > _LASTS_S else attempt + 1
                say(f"{name}: cut off: {error}")
            await asyncio.sleep(backoff_delay(attempt, backoff))
    finally:
        await dialogue.close()


async def check_channel(
    name: str, options: Options, *, environ: Mapping[str, str], say: Callable[[str], None]
) -> str:
    """Ask a service as whom it knows us. Raises `UsageError`, `NotSent`."""
    async with opened(name, options, environ=environ, say=say) as (channel, _):
        try:
            return await channel.check()
        except BrowserError as error:
            raise NotSent(f"{name}: {error}", hint=error.hint) from error


def channel_senders(
    options: Options, *, environ: Mapping[str, str], say: Callable[[str], None] = lambda _: None
) -> dict[str, Sender]:
    """Give the ways by which `agent.notify` tells somebody in a channel: `NAME:THREAD`."""

    def way(name: str) -> Sender:
        async def tell(where: str, notice: Notice) -> None:
            async with opened(name, options, environ=environ, say=say) as (channel, _):
                await _tell(channel, where, notice)

        return tell

    return {name: way(name) for name in options.channels}


async def _tell(channel: Channel, where: str, notice: Notice) -> None:
    text = "\n\n".join(filter(None, (notice.subject, plain_text(notice.text), notice.url)))
    if channel.whole:
        return await channel.send(where, Outbound(text, files=notice.files, id=notice.id))
    pieces, _ = split_answer(text, channel.longest)
    for n, piece in enumerate(pieces):
        await channel.send(where, Outbound(piece, id=f"{notice.id[-20:]}-{n}"))
    for n, file in enumerate(notice.files):
        await channel.send(where, Outbound("", files=(file,), id=f"{notice.id[-20:]}-f{n}"))
    return None


def _row(name: str, options: Options) -> Any:
    if name not in options.channels:
        raise UsageError(
            f"no channel is called {name!r}", hint="`research channels list` names them."
        )
    return options.channels[name]
