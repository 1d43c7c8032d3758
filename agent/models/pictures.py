"""A message on record: pictures by their hashes, passages by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.models.base import Image, Message
from agent.types import Observation, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent.types import Passage


def images_kept(images: Iterable[Image]) -> list[dict[str, str]]:
    """What the record says of pictures."""
    return [{"media_type": image.media_type, "sha256": image.sha256} for image in images]


def images_of(rows: Iterable[dict[str, str]], blob: Callable[[str], bytes]) -> tuple[Image, ...]:
    """Read pictures again; `blob` gives the bytes of a hash."""
    return tuple(Image(row["media_type"], blob(row["sha256"]), row["sha256"]) for row in rows)


def message_kept(message: Message) -> dict[str, Any]:
    """What the record says of a message.

    Of a message of tool results their data is on record with the calls; the question's own message
    keeps its files and its page itself.
    """
    row: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        row["images"] = images_kept(message.images)
    if message.question and (message.observations or message.question != message.content):
        row["question"] = message.question
        row["observations"] = [
            {"tool": o.tool, "data": o.data, "passages": [p.id for p in o.passages]}
            for o in message.observations
        ]
    return row


def message_of(
    row: dict[str, Any],
    blob: Callable[[str], bytes],
    passage: Callable[[str], Passage | None] = lambda _: None,
) -> Message:
    """Read a message again; `blob` gives the bytes of a hash, `passage` the passage of an id."""
    observed = [
        Observation(ToolCall(o["tool"]), o["data"], passages_of(o["passages"], passage))
        for o in row.get("observations", ())
    ]
    images = images_of(row.get("images", ()), blob)
    return Message(row["role"], row["content"], images, tuple(observed), row.get("question", ""))


def passages_of(
    ids: Iterable[str], passage: Callable[[str], Passage | None]
) -> tuple[Passage, ...]:
    """Find passages by their ids; one that is not there is left out."""
    return tuple(found for found in map(passage, ids) if found is not None)
