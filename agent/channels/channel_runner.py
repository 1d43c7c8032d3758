"""Runs channels: loads settings, connects, listens, reconnects, and sends notices."""

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
from browser.plugins import IN_EXTRAS, extras_hint, plugins
from browser.retries import CHANNEL, TemporaryFailure, repeat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from agent.channels.dialogue import Dialogue
    from agent.notify.notice import Notice
    from agent.notify.targets import Sender
    from agent.options import Options

_MIN_STABLE_S = 60.0
"""A connection that lasted longer than this, in seconds, resets the reconnection backoff."""


def channel_settings(options: Options) -> dict[str, tuple[type[Channel], ChannelSettings]]:
    """Read each `[channels.NAME]` table and its class. Raises `UsageError` for invalid settings."""
    return {name: check_settings(name, row) for name, row in options.channels.items()}


def check_settings(name: str, row: Any) -> tuple[type[Channel], ChannelSettings]:
    """Return the class and settings of one channel. Raises `UsageError`."""
    if not isinstance(row, dict):
        raise UsageError(f"channels.{name} must be a table of settings")
    kind = str(row.get("kind", name))
    channel: type[Channel] | None = find_plugin("channels", kind)
    if channel is None:
        known = ", ".join(one.name for one in plugins("channels"))
        in_extras = kind in IN_EXTRAS["channels"] or not known
        hint = extras_hint("channels") if in_extras else f"Available kinds: {known}."
        raise UsageError(f"unknown channel kind {kind!r}", hint=hint)
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
            f"no channel named {name!r}", hint="`research channels list` shows the channels."
        )
    return check_settings(name, options.channels[name])


class LiveChannelSettings:
    """The settings of a running channel, updated when the settings file changes.

    If the settings become invalid, this is reported once, and the previous settings still apply.
    """

    def __init__(
        self,
        name: str,
        settings: ChannelSettings,
        live: Callable[[], Options],
        say: Callable[[str], None],
    ) -> None:
        self._name = name
        self._settings = settings
        self._live = live
        self._say = say
        self._row = live().channels.get(name)

    def current(self) -> ChannelSettings:
        """Return the current settings."""
        options = self._live()
        row = options.channels.get(self._name)
        if row != self._row:
            self._row = row
            try:
                self._settings = _settings_named(self._name, options)[1]
            except UsageError as error:
                self._say(f"{self._name}: {error}; using the previous settings. {error.hint}")
        return self._settings


@asynccontextmanager
async def open_channel(
    name: str, options: Options, say: Callable[[str], None]
) -> AsyncIterator[tuple[Channel, Inbox]]:
    """Open a channel that can connect only to its service. Raises `UsageError`."""
    channel, settings = _settings_named(name, options)
    private = tuple(map(host_and_port, channel.private_addresses(settings)))
    own = (host_and_port(channel.url),) if channel.url else ()
    policy = EgressPolicy(
        allow_hosts=(*channel.hosts, *private, *own),
        deny_hosts=options.deny,
        allow_private=private,  # a server in the settings may be on a private network
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
    live: Callable[[], Options],
    answer: type[Dialogue],
    say: Callable[[str], None],
) -> None:
    """Run channels until cancelled. If a channel fails permanently, the others continue.

    `live` returns the current settings. Changes to permissions and run settings take effect while a
    channel is running; changes to its kind, address and keys do not. `answer` handles a channel's
    messages. Raises `UsageError` if all channels fail. A channel that another process is already
    running on the same data folder counts as failed.
    """
    options = live()
    for name in names:
        _settings_named(name, options)
    folder = private_folder(options.data / "channels")

    async def run(name: str) -> UsageError | None:
        try:
            # two processes would each answer every message
            with FileLock(folder / f"{name}.lock", timeout=0):
                async with open_channel(name, options, say) as (channel, inbox):
                    settings = LiveChannelSettings(name, channel.settings, live, say)
                    await _listen(
                        name, channel, answer(name, channel, inbox, settings.current, options.data)
                    )
        except Timeout:
            error = UsageError(
                f"another process is already running {name}", hint="Stop that process first."
            )
        except UsageError as raised:
            error = raised
        else:
            raise AssertionError("a channel listens until it is cancelled")
        say(f"{name}: stopped: {error}. {error.hint}".rstrip())
        return error

    failed = [error for error in await asyncio.gather(*map(run, names)) if error is not None]
    if failed:
        raise failed[0]


async def _listen(name: str, channel: Channel, dialogue: Dialogue) -> None:
    """Listen, and reconnect with backoff whenever the connection is lost."""
    loop = asyncio.get_running_loop()

    async def listen_once() -> None:
        """Listen until the connection is lost; raises `TemporaryFailure` if it was not stable."""
        began = loop.time()
        try:
            await channel.listen(dialogue.handle)  # returns if the service asks for a reconnect
        except UsageError:
            raise
        except (ResearchError, BrowserError, OSError, *MALFORMED) as error:
            channel.link.report(f"{name}: connection lost: {error}")
            if loop.time() - began <= _MIN_STABLE_S:
                raise TemporaryFailure(error) from error

    dialogue.resume()
    try:
        while True:
            await repeat(CHANNEL, listen_once)
            await retries.sleep(retries.delay(CHANNEL, 1))
    finally:
        await dialogue.close()


async def check_channel(name: str, options: Options, say: Callable[[str], None]) -> str:
    """Return the bot's account on a service. Raises `UsageError`, `NotSent`."""
    async with open_channel(name, options, say) as (channel, _):
        try:
            return await channel.check()
        except BrowserError as error:
            raise NotSent(f"{name}: {error}", hint=error.hint) from error


def channel_senders(options: Options) -> dict[str, Sender]:
    """Return a function for each channel that sends an `agent.notify` notice to `NAME:THREAD`."""

    async def send(name: str, thread: str, notice: Notice) -> None:
        async with open_channel(name, options, lambda _: None) as (channel, _):
            await _send_notice(channel, thread, notice)

    return {name: partial(send, name) for name in options.channels}


async def _send_notice(channel: Channel, thread: str, notice: Notice) -> None:
    text = "\n\n".join(filter(None, (notice.subject, plain_text(notice.text), notice.url)))
    if channel.single_message:
        await channel.send(thread, Outbound(text, files=notice.files, id=notice.id))
        return
    pieces, _ = split_answer(text, channel.max_message_length)
    for n, piece in enumerate(pieces):
        await channel.send(thread, Outbound(piece, id=f"{notice.id[-20:]}-{n}"))
    for n, file in enumerate(notice.files):
        await channel.send(thread, Outbound("", files=(file,), id=f"{notice.id[-20:]}-f{n}"))
