"""The interface of a channel: messages in, messages out, over one service.

A channel of a package of its own is a class over `Channel`, named by an entry point in the group
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
    """What `[channels.NAME]` says; a channel's own settings are a class over it.

    `allow` are the senders that are heard, by the ids of the service; `refuse` is what a stranger
    is told, once, or nothing. `budget_day` (USD) and `questions_day` are for each sender; `run` are
    settings of each run, `keys` other variables that hold the secrets.
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
    """A message of a person. `id` is the service's own, the same when it comes twice.

    `thread` is where an answer goes, and what makes a conversation. `text` are the sender's own
    words, `quoted` what they forwarded or quoted of others, `files` what `fetch` brings. `choice`
    is the id of a button that was pressed.
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
    """A message to a person, with (id, label) of buttons, and files.

    `id` is the same when it is tried again, for services that can tell by it.
    """

    text: str = ""
    buttons: tuple[tuple[str, str], ...] = ()
    files: tuple[Attachment, ...] = ()
    id: str = ""


MALFORMED = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""Errors of reading data that is not of the form that its service describes."""
MessageHandler = Callable[[Inbound], Awaitable[None]]
"""Takes a message: it is on disk when this returns, so that the service may forget it."""


@dataclass(frozen=True, slots=True)
class ChannelLink:
    """What a channel works with: its client, the proxy for other protocols, a notebook.

    `notes` is kept on disk between starts; `say` tells whoever runs the channel.
    """

    http: ServiceClient
    proxy_url: str
    notes: Notebook
    say: Callable[[str], None]


class Notebook(ABC):
    """What a channel remembers between starts."""

    @abstractmethod
    def note(self, key: str) -> str:
        """Return a note, or nothing."""

    @abstractmethod
    def keep(self, key: str, value: str) -> None:
        """Keep a note, on disk when this returns."""


class Channel(ABC):
    """A service that carries messages. `keys` are its secrets, each with its usual variable.

    `hosts` are what it may reach beside `url`, as patterns; `longest` is how long a message may be,
    in UTF-16 units, and `whole` says that one message takes all of an answer, files included.
    """

    Settings: ClassVar[type[ChannelSettings]] = ChannelSettings
    url: ClassVar[str] = ""
    hosts: ClassVar[tuple[str, ...]] = ()
    keys: ClassVar[dict[str, str]] = {}
    longest: ClassVar[int] = 4000
    whole: ClassVar[bool] = False

    def __init__(self, settings: Any, link: ChannelLink) -> None:
        self.settings = settings
        self.link = link
        self.base = (settings.url or self.url).rstrip("/")

    @classmethod
    def places(cls, settings: Any) -> tuple[str, ...]:
        """Return addresses that the settings name beside `url`; they may be private ones."""
        return (settings.url,) if settings.url else ()

    @abstractmethod
    async def listen(self, take: MessageHandler) -> None:
        """Hand each message to `take`, until the connection is lost.

        Raises `UsageError` for what no other try mends, such as a wrong token.
        """

    @abstractmethod
    async def send(self, thread: str, message: Outbound, answering: str = "") -> None:
        """Send a message, once; `answering` is the id of the one that it answers.

        Raises Refused or ConnectFailed where nothing was done, `NotSent` otherwise.
        """

    @abstractmethod
    async def check(self) -> str:
        """Return the name by which the service knows us. Raises as `send` does."""

    async def fetch(self, file: str) -> Attachment:
        """Bring a file of a message. Raises as `send` does."""
        raise NotSent(f"{self.settings.kind} brings no files, {file[:80]} among them")

    async def busy(self, thread: str) -> None:  # noqa: B027 - few services can
        """Show that an answer is being worked on, where the service can."""

    def read(self, parse: Callable[[Any], Inbound | None], data: Any) -> Inbound | None:
        """Parse a message; one of an unknown form is left out, with a word to who runs it."""
        try:
            return parse(data)
        except MALFORMED as error:
            self.link.say(f"a message was left out: its form is unknown ({error!r:.100})")
            return None

    def key(self, name: str) -> str:
        """Return a secret. Raises `UsageError` where it is not set."""
        variable = self.settings.keys.get(name) or self.keys[name]
        value = os.environ.get(variable, "")
        if not value:
            hint = f"`research keys set {variable}` keeps it."
            raise UsageError(f"{variable} is not set, which {self.settings.kind} wants", hint=hint)
        return value


def response_json(response: httpx2.Response, what: str) -> Any:
    """Read the JSON of a response. Raises `UsageError` for a refused token, else `NotSent`."""
    if response.status_code in (401, 403):
        hint = "Look at the token, and what it may do."
        raise UsageError(f"{what}: {_error_text(response)}", hint=hint)
    if not response.is_success:
        raise NotSent(f"{what}: {_error_text(response)}")
    try:
        body = response.json() if response.content else {}
    except ValueError as error:
        raise NotSent(f"{what} was answered with what is no JSON") from error
    if not isinstance(body, dict):
        raise NotSent(f"{what} was answered in a form that is unknown")
    return body


def _error_text(response: httpx2.Response) -> str:
    """Return what a service says of a failure, in the forms that they have."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    error = body.get("error")
    details = error if isinstance(error, dict) else body
    words = details.get("description") or details.get("message") or error or ""
    return f"{response.status_code} {words or response.reason_phrase}"[:300]
