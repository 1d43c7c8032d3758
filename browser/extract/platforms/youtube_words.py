"""What is said in a YouTube video and about it: transcript, chapters, comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.embedded import objects, variable, walk
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import seconds_of

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_SEGMENTS = "ytd-transcript-segment-renderer, transcript-segment-view-model"
_THREADS = "ytd-comment-view-model, ytd-comment-renderer"


def spoken(source: Source) -> tuple[Record, ...]:
    """The transcript: the panel of the page, its reply, or a caption track in JSON."""
    panel = [_shown(source, node) for node in source.all(_SEGMENTS)] if source.json is None else []
    if panel:
        return tuple(panel)
    if source.json is None:
        return ()
    renderers = [
        n["transcriptSegmentRenderer"] for n in objects(source, "transcriptSegmentRenderer")
    ]
    if renderers:
        return tuple(_line(written(r.get("snippet")), r.get("startMs")) for r in renderers)
    events = source.json.get("events") if isinstance(source.json, dict) else None
    said = [(_joined(event), event.get("tStartMs")) for event in events or []]
    return tuple(_line(text, start) for text, start in said if text)


def chapters(source: Source) -> tuple[Record, ...]:
    """Chapters, by the bar below the video; each once."""
    data = variable(source, "ytInitialData") if source.json is None else None
    found = [node["chapterRenderer"] for node in walk([data]) if "chapterRenderer" in node]
    rows = {(written(r.get("title")), r.get("timeRangeStartMillis")): None for r in found}
    return tuple(
        Record("youtube", "chapter", title=title, counts=counts(second=(start or 0) // 1000))
        for title, start in rows
    )


def comments(source: Source) -> tuple[Record, ...]:
    """The comments that are drawn on the page."""
    if source.json is not None:
        return ()
    return tuple(_comment(source, node) for node in source.all(_THREADS))


def written(value: Any) -> str:
    """Text as YouTube writes it: `simpleText`, `runs`, or `content`."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else ""
    runs = "".join(str(run.get("text", "")) for run in value.get("runs") or [])
    return str(value.get("simpleText") or runs or value.get("content") or "").strip()


def _shown(source: Source, node: etree._Element) -> Record:
    start = source.text(".segment-timestamp, [class*=Timestamp]", node)
    text = source.text(".segment-text, [class*=segmentText], span[role=text]", node)
    return Record("youtube", "transcript", text=text, counts=counts(second=seconds_of(start)))


def _line(text: str, start: object) -> Record:
    milliseconds = int(start) if isinstance(start, int | str) and str(start).isdecimal() else 0
    return Record("youtube", "transcript", text=text, counts=counts(second=milliseconds // 1000))


def _joined(event: dict[str, Any]) -> str:
    return " ".join("".join(str(s.get("utf8", "")) for s in event.get("segs") or []).split())


def _comment(source: Source, node: etree._Element) -> Record:
    name = source.text("#author-text", node).strip()
    return Record(
        "youtube", "comment", source.link("#published-time-text a", node),
        text=source.body(source.first("#content-text", node)), author=name or None,
        handle=name.lstrip("@") if name.startswith("@") else None,
        counts=counts(likes=source.text("#vote-count-middle", node) or None),
        fields=fields(age=source.text("#published-time-text", node),
                      pinned=source.text("#pinned-comment-badge", node) and "true"),
    )  # fmt: skip
