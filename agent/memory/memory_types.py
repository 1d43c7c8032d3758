"""The data types and errors of the public memory interface.

ResearchError
 ├── UsageError
 │    ├── ReservedKey       the key belongs to the engine itself
 │    └── BadImport         the file is not in the import format
 ├── MemoryUnavailable  2   the store cannot be opened, read or written, or has a newer version
 └── EmbeddingFailed        raised by an embedder; searches then use words alone
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.errors import ResearchError, UsageError
from agent.limits import LimitSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class ReservedKey(UsageError):
    """The key belongs to the engine itself, or is not a key at all."""

    hint = "Choose a key that does not start with `_` or `session_`."


class BadImport(UsageError):
    """The file is not in the import format."""

    hint = "Use a JSON object with keys such as `urchinMemory`, as written by `memory export`."


class MemoryUnavailable(ResearchError):
    """The store cannot be opened, read or written, or was written by a newer version."""

    exit_code = 2
    hint = "Check --data-dir, or run with --no-memory."


class EmbeddingFailed(ResearchError):
    """An embedder could not embed text, because there is no key, no network or no model."""

    hint = "Searches continue with keywords only."


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a memory: the run that wrote it, and the page that it was read on.

    `trusted` is true for text from the user and our own code, false for text from the web: an
    untrusted memory never becomes an instruction, and is delimited wherever a model sees it.
    """

    run: str | None = None
    url: str | None = None
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a search found; higher scores are better, `at` is when it happened (UTC).

    `shared` means that it is in the namespace that all others can read. An insight has the
    confidence with which it was derived, between 0 and 1. A `bare` insight is a count that no model
    has rephrased yet: it is listed after all other hits, and is not passed to runs.
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
    confidence: float | None = None
    bare: bool = False


class Untrusted(str):
    """A string that may contain web text; it is delimited wherever a model sees it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation: `role` is `user` or `assistant`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of memory for one run, the input of `build_messages`.

    `memories` and `sessions` map keys to values in the order in which they were first written.
    `recalled` contains other memories relevant to the question, best first; most are earlier runs'
    findings. A value that may come from the web is an `Untrusted` string; `quotes` means that the
    turns may contain such text too.
    """

    condensed: str = ""
    history: tuple[Turn, ...] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)
    memories: Mapping[str, Any] = field(default_factory=dict)
    sessions: Mapping[str, Any] = field(default_factory=dict)
    skills: tuple[Mapping[str, Any], ...] = ()
    recalled: tuple[Hit, ...] = ()
    quotes: bool = True
    limits: LimitSettings = field(default_factory=LimitSettings)


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The number of changes of each kind that a consolidation made.

    `faded` counts deleted links, `merged` archived duplicates, and `retired` archived insights.
    """

    linked: int = 0
    merged: int = 0
    insights: int = 0
    faded: int = 0
    retired: int = 0
