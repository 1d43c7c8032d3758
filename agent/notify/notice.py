"""What is told, and how it went."""

from __future__ import annotations

import mimetypes
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes along: its name without a folder, its bytes, its media type."""

    name: str
    body: bytes = field(repr=False)
    media_type: str = "application/octet-stream"

    @classmethod
    def named(cls, name: str, body: bytes) -> Attachment:
        """Make one of bytes; the ending of the name tells the media type."""
        guessed, encoding = mimetypes.guess_type(name)
        return cls(name, body, guessed if guessed and not encoding else "application/octet-stream")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to be told: a line, a text in Markdown, where more is to be read, files.

    `id` is the same however often it is tried, so that who gets it twice can tell.
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
    """What became of a notice at one target: `detail` is the reason where it was not `sent`.

    Sent is what the next server or file has taken, not what somebody has read.
    """

    target: str
    sent: bool
    detail: str = ""
