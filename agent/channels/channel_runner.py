"""Running channels: their settings, opening, listening, and reconnecting; notices through them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from agent.channels.answer_text import plain_text, split_answer
from agent.channels.channel import MALFORMED, Channel, ChannelLink, ChannelSettings, Outbound
from agent.channels.inbox import Inbox
from agent.config import find_plugin, load_options, private_folder
from agent.errors import NotSent, ResearchError, UsageError
from agent.notify.service_client import ServiceClient
from agent.notify.targets import host_and_port
from browser import retries
from browser.errors import BrowserError
from browser.net.egress import Egress, EgressPolicy
from browser.plugins import plugins
from browser.retries import CHANNEL, Temporary, repeat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from agent.channels.dialogue import Dialogue
    from agent.config import Options
    from agent.notify.notice import Notice
    from agent.notify.targets import Sender

_EXTRA = ("telegram", "discord", "slack", "whatsapp", "email")
"""What the package of plug-ins `urchin-extras` brings."""
_STABLE_S = 60.0
"""A connection that held so long was a good one: the next try is at once."""


def channel_settings(options: Options) -> dict[str, tuple[type[Channel], ChannelSettings]]:
    """Read `[channels.NAME]`, each with its class. Raises `UsageError` for what does not hold."""
    return {name: check_settings(name, row) for name, row in options.channels.items()}


def check_settings(name: str, row: Any) -> tuple[type[Channel], ChannelSettings]:
    """Return the class and the settings of one channel. Raises `UsageError`."""
    if not isinstance(row, dict):
        raise UsageError(f"channels.{name} is no table of settings")
    kind = str(row.get("kind", name))
    channel: type[Channel] | None = find_plugin("channels", kind)
    if channel is None:
        known = ", ".join(one.name for one in plugins("channels"))
        extra = f"`pip install urchin-extras` brings {', '.join(_EXTRA)}."
        hint = f"There are {known}." if known and kind not in _EXTRA else extra
        raise UsageError(f"no channel is of the kind {kind!r}", hint=hint)
    fields = {"kind": kind, **{key.replace("-", "_"): value for key, value in row.items()}}
    try:
        settings = channel.Settings(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"channels.{name}.{where}: {first['msg']}", hint="See docs/channels.md."
        ) from error
    load_options(settings.run)
    return channel, settings


def _settings_named(name: str, options: Options) -> tuple[type[Channel], ChannelSettings]:
    if name not in options.channels:
        raise UsageError(
            f"no channel is called {name!r}", hint="`research channels list` names them."
        )
    return check_settings(name, options.channels[name])


@asynccontextmanager
async def open_channel(
    name: str, options: Options, say: Callable[[str], None]
) -> AsyncIterator[tuple[Channel, Inbox]]:
    """Open a channel, which reaches its own service and nothing else; raises `UsageError`."""
    channel, settings = _settings_named(name, options)
    private = tuple(map(host_and_port, channel.places(settings)))
    own = (host_and_port(channel.url),) if channel.url else ()
    policy = EgressPolicy(
        allow_hosts=(*channel.hosts, *private, *own),
        deny_hosts=options.deny,
        allow_private=private,  # a server that the person named may be their own
        upstream_proxy=options.proxy,
    )
    inbox = Inbox(options.data, name)
    try:
        async with Egress(policy) as egress, ServiceClient(egress) as http:
            link = ChannelLink(http, egress.proxy_url, inbox, say)
            yield channel(settings, link), inbox
    finally:
        inbox.close()


async def run_channels(
    names: list[str],
    options: Options,
    answer: type[Dialogue],
    say: Callable[[str], None],
) -> None:
    """Run channels until cancelled; of several, one that cannot go on leaves the others alone.

    `answer` makes of a channel's messages what is answered. Raises `UsageError` where none can go
    on, or another process runs one on the same data folder.
    """
    for name in names:
        _settings_named(name, options)
    folder = private_folder(options.data / "channels")

    async def run(name: str) -> UsageError | None:
        try:
            # two processes on one service would both answer each message
            with FileLock(folder / f"{name}.lock", timeout=0):
                async with open_channel(name, options, say) as (channel, inbox):
                    await _listen(name, channel, answer(name, channel, inbox, options))
        except Timeout:
            return UsageError(f"another process runs {name} already", hint="Stop that one first.")
        except UsageError as error:
            say(f"{name}: stopped: {error}. {error.hint}".rstrip())
            return error
        raise AssertionError("a channel is listened to until it is cancelled")

    failed = [error for error in await asyncio.gather(*map(run, names)) if error is not None]
    if failed:
        raise failed[0]


async def _listen(name: str, channel: Channel, dialogue: Dialogue) -> None:
    """Listen, and reconnect with backoff whenever the connection is lost."""
    loop = asyncio.get_running_loop()

    async def until_steady() -> None:
        """Listen; raises `Temporary` if the connection was lost before it was a steady one."""
        began = loop.time()
        try:
            await channel.listen(dialogue.take)  # it returns if the service asks for a new one
        except UsageError:
            raise
        except (ResearchError, BrowserError, OSError, *MALFORMED) as error:
            channel.link.say(f"{name}: cut off: {error}")
            if loop.time() - began <= _STABLE_S:
                raise Temporary(error) from error

    dialogue.resume()
    try:
        while True:
            await repeat(CHANNEL, until_steady)
            await retries.sleep(retries.delay(CHANNEL, 1))
    finally:
        await dialogue.close()


async def check_channel(name: str, options: Options, say: Callable[[str], None]) -> str:
    """Ask a service as whom it knows us. Raises `UsageError`, `NotSent`."""
    async with open_channel(name, options, say) as (channel, _):
        try:
            return await channel.check()
        except BrowserError as error:
            raise NotSent(f"{name}: {error}", hint=error.hint) from error


def channel_senders(options: Options) -> dict[str, Sender]:
    """Return what sends a notice of `agent.notify` to a thread of each channel: `NAME:THREAD`."""

    async def send(name: str, thread: str, notice: Notice) -> None:
        async with open_channel(name, options, lambda _: None) as (channel, _):
            await _send_notice(channel, thread, notice)

    return {name: partial(send, name) for name in options.channels}


async def _send_notice(channel: Channel, thread: str, notice: Notice) -> None:
    text = "\n\n".join(filter(None, (notice.subject, plain_text(notice.text), notice.url)))
    if channel.whole:
        await channel.send(thread, Outbound(text, files=notice.files, id=notice.id))
        return
    pieces, _ = split_answer(text, channel.longest)
    for n, piece in enumerate(pieces):
        await channel.send(thread, Outbound(piece, id=f"{notice.id[-20:]}-{n}"))
    for n, file in enumerate(notice.files):
        await channel.send(thread, Outbound("", files=(file,), id=f"{notice.id[-20:]}-f{n}"))
