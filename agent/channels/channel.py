"""The interface of a channel: receives and sends messages over one service.

A package adds a channel by subclassing `Channel` and registering an entry point in the group
`urchin.channels`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from agent.errors import NotSent, UsageError

if TYPE_CHECKING:
    import httpx2

    from agent.notify.notice import Attachment
    from agent.notify.service_client import ServiceClient


class ChannelSettings(BaseModel):
    """The settings in `[channels.NAME]`; a channel adds its own settings in a subclass.

    `allow` lists the allowed senders, by their ids on the service. `refuse` is the message that
    other senders receive once; if empty, none is sent. `budget_day` (USD) and `questions_day` apply
    to each sender. `run` contains the settings for each run; `keys` maps secrets to alternative
    environment variables.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    allow: tuple[str, ...] = ()
    refuse: str = Field("", max_length=200)
    url: str | None = None
    namespace: str | None = None
    budget_day: float = Field(1.0, gt=0)
    questions_day: int = Field(100, ge=1)
    attach: tuple[str, ...] = ()
    run: dict[str, Any] = Field(default_factory=dict)
    keys: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inbound:
    """A message from a user. `id` is its id on the service; a redelivered message has the same id.

    `thread` is the destination of the answer; the messages in a thread form one conversation.
    `text` is the sender's own text, `quoted` is forwarded or quoted text, and `fetch` downloads
    each of `files`. `choice` is the id of a pressed button.
    """

    id: str
    sender: str
    thread: str
    text: str = ""
    quoted: str = ""
    files: tuple[str, ...] = ()
    choice: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Outbound:
    """A message to a user, with files, and with buttons as (id, label) pairs.

    A retry has the same `id`, so that the service can drop duplicates.
    """

    text: str = ""
    buttons: tuple[tuple[str, str], ...] = ()
    files: tuple[Attachment, ...] = ()
    id: str = ""

    @property
    def is_question(self) -> bool:
        """Whether the message asks for approval; it may be resent, since only one reply counts."""
        return bool(self.buttons)


MALFORMED = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""Errors raised by data that does not have the format documented by its service."""
MessageHandler = Callable[[Inbound], Awaitable[None]]
"""Handles a message. The message is on disk when this returns, so the service may delete it."""


@dataclass(frozen=True, slots=True)
class ChannelLink:
    """A channel's resources: its HTTP client, the proxy for other protocols, and notes.

    `notes` are kept on disk across restarts; `report` sends a line to the channel's operator.
    """

    http: ServiceClient
    proxy_url: str
    notes: Notebook
    report: Callable[[str], None]


class Notebook(ABC):
    """Values that a channel keeps on disk across restarts."""

    @abstractmethod
    def get(self, key: str) -> str:
        """Return the value stored under a key, or an empty string."""

    @abstractmethod
    def set(self, key: str, value: str) -> None:
        """Store a value; it is on disk when this returns."""


class Channel(ABC):
    """A messaging service. `keys` maps its secrets to their usual environment variables.

    `hosts` are patterns for other hosts that the channel may connect to. `max_message_length` is in
    UTF-16 units. `single_message` means that an answer is sent as a single message, including its
    files.
    """

    Settings: ClassVar[type[ChannelSettings]] = ChannelSettings
    url: ClassVar[str] = ""
    hosts: ClassVar[tuple[str, ...]] = ()
    keys: ClassVar[dict[str, str]] = {}
    max_message_length: ClassVar[int] = 4000
    single_message: ClassVar[bool] = False

    def __init__(self, settings: Any, link: ChannelLink) -> None:
        self.settings = settings
        self.link = link
        self.base = (settings.url or self.url).rstrip("/")

    @classmethod
    def private_addresses(cls, settings: Any) -> tuple[str, ...]:
        """Return the addresses in the settings, apart from `url`, that may be private."""
        return (settings.url,) if settings.url else ()

    @abstractmethod
    async def listen(self, handle: MessageHandler) -> None:
        """Pass each message to `handle` until the connection is lost.

        Raises `UsageError` for errors that a retry cannot fix, such as a wrong token.
        """

    @abstractmethod
    async def send(self, thread: str, message: Outbound, answering: str = "") -> None:
        """Send a message once; `answering` is the id of the message that it replies to.

        A question is resent if its delivery is uncertain. Raises `Refused` or `ConnectFailed` if
        nothing was sent, otherwise `NotSent`.
        """

    @abstractmethod
    async def check(self) -> str:
        """Return the bot's account. Raises the same errors as `send`."""

    async def fetch(self, file: str) -> Attachment:
        """Download a file attached to a message. Raises the same errors as `send`."""
        raise NotSent(f"{self.settings.kind} cannot download files such as {file[:80]}")

    async def busy(self, thread: str) -> None:  # noqa: B027 - few services support it
        """Show a typing indicator, if the service has one."""

    def read(self, parse: Callable[[Any], Inbound | None], data: Any) -> Inbound | None:
        """Parse a message; returns None for an unknown format, and reports it to the operator."""
        try:
            return parse(data)
        except MALFORMED as error:
            self.link.report(f"skipped a message in an unknown format ({error!r:.100})")
            return None

    def key(self, name: str) -> str:
        """Return a secret. Raises `UsageError` if the secret is not set."""
        variable = self.settings.keys.get(name) or self.keys[name]
        value = os.environ.get(variable, "")
        if not value:
            hint = f"`research keys set {variable}` stores it."
            raise UsageError(f"{self.settings.kind} needs {variable}, which is not set", hint=hint)
        return value


def response_json(response: httpx2.Response, what: str) -> Any:
    """Parse a JSON response. Raises `UsageError` for a rejected token, otherwise `NotSent`."""
    if response.status_code in (401, 403):
        hint = "Check the token and its permissions."
        raise UsageError(f"{what}: {_error_text(response)}", hint=hint)
    if not response.is_success:
        raise NotSent(f"{what}: {_error_text(response)}")
    try:
        body = response.json() if response.content else {}
    except ValueError as error:
        raise NotSent(f"{what}: the response is not JSON") from error
    if not isinstance(body, dict):
        raise NotSent(f"{what}: the response has an unknown format")
    return body


def _error_text(response: httpx2.Response) -> str:
    """Return the error message from a service's response, in any of the usual formats."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    error = body.get("error")
    details = error if isinstance(error, dict) else body
    words = details.get("description") or details.get("message") or error or ""
    return f"{response.status_code} {words or response.reason_phrase}"[:300]
