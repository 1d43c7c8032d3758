"""YouTube: a video with transcript and chapters where given, a channel, a list of videos."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.metadata import text_of
from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import (
    Platform,
    Record,
    author_of,
    counts,
    date_of,
    fields,
    listing,
    node_date,
    node_of,
    objects,
    objects_in,
    seconds_of,
    variable,
    words_of,
)
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.site import SitePage

_WATCH = "https://www.youtube.com/watch?v="
_PLACES = ("shorts", "live", "embed", "v")
_SEGMENTS = "ytd-transcript-segment-renderer, transcript-segment-view-model"
_MICRO = "microformat.playerMicroformatRenderer"
_STATE = RecordPaths(
    "video", id="videoDetails.videoId", url=_WATCH + "{videoDetails.videoId}",
    title="videoDetails.title", text="videoDetails.shortDescription", author="videoDetails.author",
    published=f"{_MICRO}.publishDate || {_MICRO}.uploadDate", tags="videoDetails.keywords",
    counts={"views": "videoDetails.viewCount", "likes": f"{_MICRO}.likeCount",
            "seconds": "videoDetails.lengthSeconds"},
    fields={"channel": "videoDetails.channelId", "category": f"{_MICRO}.category"},
    flags={"live": f"{_MICRO}.liveBroadcastDetails.isLiveNow || videoDetails.isLive",
           "upcoming": "videoDetails.isUpcoming", "unlisted": f"{_MICRO}.isUnlisted"},
)  # fmt: skip
_MICRODATA = RecordPaths(
    "video", id="meta[itemprop=videoId]@content || meta[itemprop=identifier]@content",
    title="meta[itemprop=name]@content", published="meta[itemprop=datePublished]@content",
    text="#eow-description || #description yt-formatted-string.content",
    author="[itemprop=author] [itemprop=name]@content",
    tags="meta[property='og:video:tag']@content",
    counts={"views": "meta[itemprop=interactionCount]@content"},
    fields={"channel": "meta[itemprop=channelId]@content",
            "category": "meta[itemprop=genre]@content"},
    media="link[itemprop=thumbnailUrl]@href",
)  # fmt: skip
_OWNER = "ytd-watch-metadata #owner #channel-name a, #upload-info #channel-name a"
_DRAWN = RecordPaths(
    "video", author=_OWNER,
    title="ytd-watch-metadata h1, h1.ytd-watch-metadata, h1.title.ytd-video-primary-info-renderer",
    text="#description-inline-expander, #description ytd-text-inline-expander, #description",
    published="ytd-watch-info-text #tooltip, tp-yt-paper-tooltip #tooltip -> •([^•]+)",
    counts={"views": "ytd-watch-info-text #tooltip, tp-yt-paper-tooltip #tooltip -> ^[^•]+",
            "likes": "like-button-view-model button@aria-label || #like-button button@aria-label"},
)  # fmt: skip
_COMMENT = RecordPaths(
    "comment", "ytd-comment-view-model, ytd-comment-renderer", text="#content-text",
    url="#published-time-text a",
    author="#author-text", handle="#author-text -> ^@(.+)",
    counts={"likes": "#vote-count-middle"}, fields={"age": "#published-time-text"},
    flags={"pinned": "#pinned-comment-badge:not(:empty)"},
)  # fmt: skip


class YouTube(Platform):
    """`videoDetails` and its microformat; `itemprop` elements or the drawn page without them."""

    name = "youtube"
    hosts = ("youtube.com", "youtu.be", "youtube-nocookie.com")

    def parse(self, page: SitePage) -> Record | None:
        """Read one video; its caption tracks are links of rel `captions`."""
        data = page.json
        state = data if data is not None else variable(page, "ytInitialPlayerResponse")
        wanted = _video_of(page)
        if isinstance(state, dict) and "videoDetails" in state:
            # A page that went on to another video by itself still holds the first one's state.
            if not wanted or state["videoDetails"].get("videoId") == wanted:
                return _from_state(page, state)
        elif isinstance(state, dict) and "playabilityStatus" in state:
            return _unavailable(page, state["playabilityStatus"])
        if data is not None:
            words = _spoken(page)
            return Record(self.name, "transcript", page.url, items=words) if words else None
        return _from_microdata(page, wanted) or _drawn(page, wanted) or _listed(page)


def _video_of(page: SitePage) -> str:
    """The video that the address names; '' where it names none."""
    if page.host == "youtu.be" and page.path:
        return page.path[0]
    if page.path[:1] and page.path[0] in _PLACES and len(page.path) > 1:
        return page.path[1]
    return page.parameter("v")


def _unavailable(page: SitePage, status: dict[str, Any]) -> Record:
    screen = (status.get("errorScreen") or {}).get("playerErrorMessageRenderer") or {}
    more = (screen.get("subreason") or {}).get("simpleText")
    said = fields(reason=status.get("reason"), detail=more, status=status.get("status"))
    return Record("youtube", "unavailable", page.url, id=_video_of(page) or None, fields=said)


def _from_state(page: SitePage, state: dict[str, Any]) -> Record:
    record, node = _STATE.read(page, "youtube", state), node_of(page, "VideoObject")
    micro = (state.get("microformat") or {}).get("playerMicroformatRenderer") or {}
    tracks = (state.get("captions") or {}).get("playerCaptionsTracklistRenderer") or {}
    pictures = (state["videoDetails"].get("thumbnail") or {}).get("thumbnails") or []
    live, status = micro.get("liveBroadcastDetails") or {}, state.get("playabilityStatus") or {}
    problem = status if status.get("status") not in (None, "OK") else {}
    more = fields(
        starts=date_of(live.get("startTimestamp")), ends=date_of(live.get("endTimestamp")),
        status=problem.get("status"), reason=problem.get("reason"),
    )  # fmt: skip
    return replace(
        record, kind="short" if page.path[:1] == ("shorts",) else "video",
        handle=_account(micro.get("ownerProfileUrl") or _owner_link(page)),
        title=record.title or text_of(node.get("name")) or None,
        text=record.text or words_of(node, "description"),
        author=record.author or author_of(node)[0],
        published=record.published or node_date(node, "uploadDate", "datePublished"),
        fields={**record.fields, **more}, media=tuple(p["url"] for p in pictures[-1:]),
        links=tuple(Link(track["baseUrl"], track.get("languageCode", ""), "captions")
                    for track in tracks.get("captionTracks") or [] if track.get("baseUrl")),
        items=(*_chapters(page), *_spoken(page), *_comments(page)),
    )  # fmt: skip


def _owner_link(page: SitePage) -> str:
    return "" if page.json is not None else page.attr("[itemprop=author] [itemprop=url]", "href")


def _from_microdata(page: SitePage, wanted: str) -> Record | None:
    """Read the `itemprop` elements of a video's page, unless they are another video's."""
    record = _MICRODATA.read(page, "youtube", page.soup)
    if not record.id or not record.title or (wanted and record.id != wanted):
        return None
    length = seconds_of(page.attr("meta[itemprop=duration]", "content"))
    return replace(
        record, url=f"{_WATCH}{record.id}", handle=_account(_owner_link(page)),
        text=record.text or page.attr("meta[itemprop=description]", "content"),
        counts={**record.counts, **counts(seconds=length)},
        items=(*_chapters(page), *_spoken(page), *_comments(page)),
    )  # fmt: skip


def _drawn(page: SitePage, wanted: str) -> Record | None:
    """Read a video's page as it is drawn; None where it is not."""
    record = _DRAWN.read(page, "youtube", page.soup)
    if not record.title or not wanted:
        return None
    return replace(record, id=wanted, url=f"{_WATCH}{wanted}",
                   handle=_account(page.attr(_OWNER, "href")),
                   items=(*_spoken(page), *_comments(page)))  # fmt: skip


def _listed(page: SitePage) -> Record | None:
    """Read a channel, a playlist or a page of results, by the page's data."""
    data = variable(page, "ytInitialData")
    found = {
        node["videoId"]: node for node in objects_in([data]) if {"videoId", "title"} <= node.keys()
    }
    items = tuple(record for node in found.values() if (record := _entry(node)).title)
    about = next((n["channelMetadataRenderer"] for n in objects_in([data])
                  if "channelMetadataRenderer" in n), None)  # fmt: skip
    if about is None:
        return listing("youtube", page.url, items, page.text("title").removesuffix(" - YouTube"))
    address = about.get("vanityChannelUrl") or about.get("channelUrl") or page.canonical
    return Record(
        "youtube", "channel", address, id=about.get("externalId"), title=about.get("title"),
        text=about.get("description") or "", author=about.get("title"),
        handle=address.rpartition("/@")[2] if "/@" in address else None, items=items,
    )  # fmt: skip


def _entry(node: dict[str, Any]) -> Record:
    owner = node.get("ownerText") or node.get("longBylineText") or node.get("shortBylineText")
    return Record(
        "youtube", "video", f"{_WATCH}{node['videoId']}", id=node["videoId"],
        title=_written(node["title"]) or None, text=_written(node.get("descriptionSnippet")),
        author=_written(owner) or None,
        counts=counts(views=_written(node.get("viewCountText")) or None,
                      seconds=seconds_of(_written(node.get("lengthText")))),
        fields=fields(age=_written(node.get("publishedTimeText"))),
    )  # fmt: skip


def _account(address: str | None) -> str | None:
    """The account in a channel's address, without its `@`."""
    return (address or "").rstrip("/").rpartition("/")[2].lstrip("@") or None


def _spoken(page: SitePage) -> tuple[Record, ...]:
    """The transcript: the panel of the page, its reply, or a caption track in JSON."""
    if page.json is None:
        return tuple(
            _line(page.text(".segment-text, [class*=segmentText], span[role=text]", node),
                  seconds_of(page.text(".segment-timestamp, [class*=Timestamp]", node)))
            for node in page.all(_SEGMENTS)
        )  # fmt: skip
    rows = [n["transcriptSegmentRenderer"] for n in objects(page, "transcriptSegmentRenderer")]
    said = [(_written(row.get("snippet")), row.get("startMs")) for row in rows]
    events = page.json.get("events") or () if isinstance(page.json, dict) else ()
    said += [("".join(part.get("utf8", "") for part in event.get("segs") or []),
              event.get("tStartMs")) for event in events]  # fmt: skip
    return tuple(
        _line(" ".join(text.split()), int(start or 0) // 1000)
        for text, start in said
        if text.strip()
    )


def _line(text: str, second: int | None) -> Record:
    return Record("youtube", "transcript", text=text, counts=counts(second=second))


def _chapters(page: SitePage) -> tuple[Record, ...]:
    """Chapters, by the bar below the video; each once."""
    data = variable(page, "ytInitialData") if page.json is None else None
    found = [node["chapterRenderer"] for node in objects_in([data]) if "chapterRenderer" in node]
    rows = {(_written(r.get("title")), r.get("timeRangeStartMillis")): None for r in found}
    return tuple(
        Record("youtube", "chapter", title=title, counts=counts(second=(start or 0) // 1000))
        for title, start in rows
    )


def _comments(page: SitePage) -> tuple[Record, ...]:
    """The comments that are drawn on the page."""
    return _COMMENT.records(page, "youtube") if page.json is None else ()


def _written(value: Any) -> str:
    """Text as YouTube writes it: `simpleText`, `runs`, or `content`."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else ""
    runs = "".join(str(run.get("text", "")) for run in value.get("runs") or [])
    return str(value.get("simpleText") or runs or value.get("content") or "").strip()
