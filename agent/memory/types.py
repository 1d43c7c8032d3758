"""What crosses the border of memory: frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from agent.timestamp import Stamp


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory comes from: the run that wrote it, the page it was read on.

    `trusted` is true for what the person or our own code said, false for what the web said:
    such a memory never gains authority, and is delimited wherever a model sees it.
    """

    run: str | None = None
    url: str | None = None
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a search found; higher scores are better, `at` is when it happened (UTC).

    `shared` says that it is of the namespace that all read.
    """

    id: int
    key: str | None
    text: str
    kind: str
    score: float
    at: datetime | None = None
    source: str | None = None
    origin: Origin = field(default_factory=Origin)
    shared: bool = False


class Untrusted(str):
    """A text that may be the web's words: it is delimited wherever a model sees it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation: `role` is `user` or `assistant`."""

    role: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation as `sessions()` lists it; `title` is its first question, `turns` a count."""

    name: str
    title: str
    turns: int
    started: datetime
    updated: datetime


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of one run, as `build_messages` takes them.

    `memories` and `sessions` map keys to values in the order in which they were first written;
    `recalled` is what else bears on the question, best first: above all what earlier runs left.
    A value that the web may have written is an `Untrusted` text.
    """

    condensed: str = ""
    history: tuple[Turn, ...] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)
    memories: Mapping[str, Any] = field(default_factory=dict)
    sessions: Mapping[str, Any] = field(default_factory=dict)
    skills: tuple[Mapping[str, Any], ...] = ()
    recalled: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Dreamed:
    """What consolidation did, in counts."""

    linked: int = 0
    merged: int = 0
    insights: int = 0
    faded: int = 0
    retired: int = 0


@dataclass(frozen=True, slots=True)
class Seal:
    """An entry of the sealed log; `hash` covers the entry and, through `previous`, all before it.

    `number` counts from 1; `at` is ISO 8601 in UTC.
    """

    number: int
    at: str
    category: str
    content: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Stamped:
    """An entry of the sealed log that was its head when it was stamped.

    All entries up to this one are older than the stamp's time.
    """

    number: int
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class SealCheck:
    """What checking the sealed log came to: `broken` is the first entry that does not hold."""

    holds: bool
    entries: int
    head: str
    broken: int | None = None
    reason: str = ""
    stamps: tuple[Stamped, ...] = ()
