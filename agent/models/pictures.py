"""Pictures on record: a message keeps their hashes, the bytes stand beside the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.models.base import Image, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def images_kept(images: Iterable[Image]) -> list[dict[str, str]]:
    """What the record says of pictures."""
    return [{"media_type": image.media_type, "sha256": image.sha256} for image in images]


def images_of(rows: Iterable[dict[str, str]], blob: Callable[[str], bytes]) -> tuple[Image, ...]:
    """Read pictures again; `blob` gives the bytes of a hash."""
    return tuple(Image(row["media_type"], blob(row["sha256"]), row["sha256"]) for row in rows)


def message_kept(message: Message) -> dict[str, Any]:
    """What the record says of a message."""
    row: dict[str, Any] = {"role": message.role, "content": message.content}
    return {**row, "images": images_kept(message.images)} if message.images else row


def message_of(row: dict[str, Any], blob: Callable[[str], bytes]) -> Message:
    """Read a message again."""
    return Message(row["role"], row["content"], images_of(row.get("images", ()), blob))
