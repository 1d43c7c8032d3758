"""Converts messages and images to rows of the record, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.types import Image, Message, Observation, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent.types import Passage

    ReadBlob = Callable[[str], bytes]
    FindPassage = Callable[[str], Passage | None]


def image_rows(images: Iterable[Image]) -> list[dict[str, str]]:
    """Convert images to rows with media type and hash; their bytes are stored as blobs."""
    return [{"media_type": image.media_type, "sha256": image.sha256} for image in images]


def images_from_rows(rows: Iterable[dict[str, str]], read_blob: ReadBlob) -> tuple[Image, ...]:
    """Read images from rows; `read_blob` returns the bytes for a hash."""
    return tuple(Image(r["media_type"], read_blob(r["sha256"]), r["sha256"]) for r in rows)


def message_row(message: Message) -> dict[str, Any]:
    """Convert a message to a row.

    Only the observations in the question's message (files and the open page) are included, since
    the data of tool results is recorded with the calls.
    """
    row: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        row["images"] = image_rows(message.images)
    if message.searches:
        row["searches"] = message.searches
    extended = message.observations or message.searches or message.question != message.content
    if message.question and extended:
        row["question"] = message.question
        row["observations"] = [
            {"tool": o.tool, "data": o.data, "passages": [p.id for p in o.passages]}
            for o in message.observations
        ]
    return row


def message_from_row(
    row: dict[str, Any], read_blob: ReadBlob, find_passage: FindPassage
) -> Message:
    """Read a message from a row; passages that no longer exist are skipped."""
    observations = tuple(
        Observation(ToolCall(o["tool"]), o["data"], passages_by_id(o["passages"], find_passage))
        for o in row.get("observations", ())
    )
    images = images_from_rows(row.get("images", ()), read_blob)
    question, searches = row.get("question", ""), tuple(row.get("searches", ()))
    return Message(row["role"], row["content"], images, observations, question, searches)


def passages_by_id(ids: Iterable[str], find_passage: FindPassage) -> tuple[Passage, ...]:
    """Find passages by id; those that do not exist are skipped."""
    return tuple(passage for passage in map(find_passage, ids) if passage is not None)
