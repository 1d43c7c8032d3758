"""A notice, its attachments, and the outcome of its delivery."""

from __future__ import annotations

import mimetypes
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file sent with a notice; `name` does not include a folder."""

    name: str
    body: bytes = field(repr=False)
    media_type: str = "application/octet-stream"

    @classmethod
    def from_bytes(cls, name: str, body: bytes) -> Attachment:
        """Make an attachment; its media type is guessed from the name's suffix."""
        guessed, encoding = mimetypes.guess_type(name)
        return cls(name, body, guessed if guessed and not encoding else "application/octet-stream")


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to a user: a title, Markdown text, a URL for details, and files.

    `id` is the same in all delivery attempts, so that a receiver can drop duplicates.
    """

    title: str
    text: str = ""
    url: str = ""
    files: tuple[Attachment, ...] = ()
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: str = field(default_factory=lambda: f"notice_{uuid.uuid4().hex}")

    @property
    def subject(self) -> str:
        """The title on one line; never empty."""
        return " ".join(self.title.split()) or "(no title)"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of sending a notice to one target; `detail` is the reason if it was not `sent`.

    "Sent" means that the next server or file has accepted it, not that anyone has read it.
    """

    target: str
    sent: bool
    detail: str = ""
