"""Learns which request options an endpoint rejects, and stores them.

Each row in `ADAPTATIONS` describes a part of a request that an endpoint may reject. What was
learned applies to the run and to later ones. It is stored in the data folder, by endpoint and
model, for a week, since servers may be restarted with other settings.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from browser.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agent.models.failures import Failure
    from agent.models.providers import Endpoint
    from agent.types import Message

MAX_AGE: Final = 7 * 24 * 3600.0
"""Seconds for which the stored abilities of an endpoint are trusted."""
_REFUSALS = frozenset({400, 404, 415, 422, 500, 501})
"""HTTP statuses of rejected requests; llama.cpp reports errors in its chat templates as 500."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request; `tools` are the functions offered with this system prompt.

    With a `schema`, the reply conforms to it, if the endpoint supports that. `streamed` means that
    the reply should arrive in pieces.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[dict[str, Any]] = ()
    schema: dict[str, Any] | None = None
    max_tokens: int | None = None
    streamed: bool = False


@dataclass(slots=True)
class Abilities:
    """An endpoint's abilities; `context` is its window in tokens, if it reported one."""

    newer_limit: bool = False
    stream_usage: bool = True
    streams: bool = True
    schemas: bool = True
    tools: bool = True
    images: bool = True
    system: bool = True
    context: int | None = None


class Adaptation(NamedTuple):
    """The ability to toggle if an error contains these words and the request uses it."""

    ability: str
    words: re.Pattern[str]
    is_sent: Callable[[ModelRequest], bool]


ADAPTATIONS = tuple(
    Adaptation(ability, re.compile(words, re.IGNORECASE), is_sent)
    for ability, words, is_sent in (
        ("stream_usage", r"stream.?options|include_usage", lambda r: r.streamed),
        ("streams", r"\bstream", lambda r: r.streamed),
        ("newer_limit", r"max_(?:completion_)?tokens", lambda r: r.max_tokens is not None),
        ("system", r"\bsystem\b|alternate", lambda r: bool(r.system)),
        ("schemas", r"response_format|schema|grammar|sampler|structured", lambda r: bool(r.schema)),
        (
            "images",
            r"image|vision|multi-?modal|picture",
            lambda r: any(m.images for m in r.messages),
        ),
        ("tools", r"tool|function", lambda r: bool(r.tools)),
    )
)


def adapt(abilities: Abilities, failure: Failure, request: ModelRequest, tried: set[str]) -> bool:
    """Learn from an error what the endpoint rejects; returns False if there is another cause."""
    for ability, words, is_sent in ADAPTATIONS:
        taken = getattr(abilities, ability)
        refusable = ability not in tried and (taken or ability == "newer_limit")
        if (
            refusable
            and failure.status in _REFUSALS
            and is_sent(request)
            and words.search(failure.message)
        ):
            setattr(abilities, ability, not taken)
            tried.add(ability)
            return True
    return False


def recall(endpoint: Endpoint) -> Abilities:
    """Return the stored abilities of an endpoint."""
    # OpenAI itself requires the newer name for the reply limit, which few servers support.
    abilities = Abilities(newer_limit="api.openai.com" in endpoint.base_url)
    row = _read(endpoint.abilities_file).get(_key(endpoint), {})
    if isinstance(row, dict) and time.time() - row.get("at", 0) < MAX_AGE:
        for field in fields(Abilities):
            setattr(abilities, field.name, row.get(field.name, getattr(abilities, field.name)))
    return abilities


def remember(endpoint: Endpoint, abilities: Abilities) -> None:
    """Store an endpoint's abilities for later runs."""
    if endpoint.abilities_file is not None:
        rows = _read(endpoint.abilities_file) | {
            _key(endpoint): {"at": time.time(), **asdict(abilities)}
        }
        with suppress(OSError):  # the next run will learn the same again
            write_atomic(endpoint.abilities_file, json.dumps(rows, indent=1).encode())


def _read(path: Path | None) -> dict[str, dict[str, float]]:
    try:
        rows = json.loads(path.read_bytes()) if path is not None else {}
    except (OSError, ValueError):
        return {}
    return rows if isinstance(rows, dict) else {}


def _key(endpoint: Endpoint) -> str:
    return f"{endpoint.base_url} {endpoint.model}"
