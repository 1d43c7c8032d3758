"""YouTube: a video with its transcript (if available), a channel, or a list of videos."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from browser.extract.metadata import text_of
from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    find_objects,
    listing,
    parse_date,
    parse_duration,
)
from browser.types import Link

_WATCH = "https://www.youtube.com/watch?v="
_VIDEO_PATHS = ("shorts", "live", "embed", "v")
_SEGMENTS = "ytd-transcript-segment-renderer, transcript-segment-view-model"
_MICROFORMAT = "microformat.playerMicroformatRenderer"
_LIVE = f"{_MICROFORMAT}.liveBroadcastDetails"
_STATE = RecordPaths(
    "video", id="videoDetails.videoId", url=_WATCH + "{videoDetails.videoId}",
    title="videoDetails.title", text="videoDetails.shortDescription", author="videoDetails.author",
    published=f"{_MICROFORMAT}.publishDate || {_MICROFORMAT}.uploadDate",
    tags="videoDetails.keywords",
    handle=f"{_MICROFORMAT}.ownerProfileUrl -> ([^/@]+)/?$",
    counts={"views": "videoDetails.viewCount", "likes": f"{_MICROFORMAT}.likeCount",
            "seconds": "videoDetails.lengthSeconds"},
    fields={"channel": "videoDetails.channelId", "category": f"{_MICROFORMAT}.category",
            "starts": f"{_LIVE}.startTimestamp", "ends": f"{_LIVE}.endTimestamp",
            "status": "playabilityStatus.status -> ^(?!OK$).+",
            "reason": "playabilityStatus.reason"},
    flags={"live": f"{_LIVE}.isLiveNow || videoDetails.isLive",
           "upcoming": "videoDetails.isUpcoming", "unlisted": f"{_MICROFORMAT}.isUnlisted"},
)  # fmt: skip
_UNAVAILABLE = RecordPaths(
    "unavailable",
    fields={
        "reason": "reason", "status": "status",
        "detail": "errorScreen.playerErrorMessageRenderer.subreason.simpleText",
    },
)  # fmt: skip
_CHANNEL = RecordPaths(
    "channel", id="externalId", url="vanityChannelUrl || channelUrl", title="title",
    text="description", author="title", handle="vanityChannelUrl -> /@([^/]+)$",
)  # fmt: skip
_MICRODATA = RecordPaths(
    "video", id="meta[itemprop=videoId]@content || meta[itemprop=identifier]@content",
    url=_WATCH + "{meta[itemprop=videoId]@content || meta[itemprop=identifier]@content}",
    title="meta[itemprop=name]@content", published="meta[itemprop=datePublished]@content",
    text="#description yt-formatted-string.content",
    author="[itemprop=author] [itemprop=name]@content",
    handle="[itemprop=author] [itemprop=url]@href -> ([^/@]+)/?$",
    tags="meta[property='og:video:tag']@content",
    counts={"views": "meta[itemprop=interactionCount]@content"},
    fields={"channel": "meta[itemprop=channelId]@content",
            "category": "meta[itemprop=genre]@content"},
    media="link[itemprop=thumbnailUrl]@href",
)  # fmt: skip
_OWNER = "ytd-watch-metadata #owner #channel-name a, #upload-info #channel-name a"
_RENDERED = RecordPaths(
    "video", author=_OWNER, handle=f"{_OWNER}@href -> ([^/@]+)/?$",
    title="ytd-watch-metadata h1, h1.ytd-watch-metadata, h1.title.ytd-video-primary-info-renderer",
    text="#description-inline-expander, #description ytd-text-inline-expander, #description",
    published="ytd-watch-info-text #tooltip, tp-yt-paper-tooltip #tooltip -> •([^•]+)",
    counts={"views": "ytd-watch-info-text #tooltip, tp-yt-paper-tooltip #tooltip -> ^[^•]+",
            "likes": "like-button-view-model button@aria-label"},
)  # fmt: skip
_COMMENT = RecordPaths(
    "comment", "ytd-comment-view-model", text="#content-text",
    url="#published-time-text a", author="#author-text", handle="#author-text -> ^@(.+)",
    counts={"likes": "#vote-count-middle"}, fields={"age": "#published-time-text"},
    flags={"pinned": "#pinned-comment-badge:not(:empty)"},
)  # fmt: skip


class YouTube(Platform):
    """Uses `videoDetails` and its microformat, or else `itemprop` elements or the rendered page."""

    name = "youtube"
    hosts = ("youtube.com", "youtu.be", "youtube-nocookie.com")

    def parse(self, page: SitePage) -> Record | None:
        """Read one video; its caption tracks are links with rel `captions`."""
        data = page.json
        state = data if data is not None else page.script_variable("ytInitialPlayerResponse")
        wanted = _video_of(page)
        if isinstance(state, dict) and "videoDetails" in state:
            # If the page has switched to another video, it still contains the state of the first.
            if not wanted or state["videoDetails"].get("videoId") == wanted:
                return _from_state(page, state)
        elif isinstance(state, dict) and "playabilityStatus" in state:
            gone = _UNAVAILABLE.read(page, self.name, state["playabilityStatus"])
            return replace(gone, url=page.url, id=wanted or None)
        if data is not None:
            spoken = _transcript(page)
            return Record(self.name, "transcript", page.url, items=spoken) if spoken else None
        return (
            _from_microdata(page, wanted) or _from_rendered_page(page, wanted) or _from_list(page)
        )


def _video_of(page: SitePage) -> str:
    """The video named in the address; '' if there is none."""
    if page.host == "youtu.be" and page.path:
        return page.path[0]
    if page.path[:1] and page.path[0] in _VIDEO_PATHS and len(page.path) > 1:
        return page.path[1]
    return page.parameter("v")


def _from_state(page: SitePage, state: dict[str, Any]) -> Record:
    record, node = _STATE.read(page, "youtube", state), page.linked_data("VideoObject")
    tracks = (state.get("captions") or {}).get("playerCaptionsTracklistRenderer") or {}
    pictures = (state["videoDetails"].get("thumbnail") or {}).get("thumbnails") or []
    if page.json is None and not record.handle:
        record = replace(record, handle=_MICRODATA.read(page, "youtube", page.soup).handle)
    return record.updated(
        kind="short" if page.path[:1] == ("shorts",) else "video",
        title=record.title or text_of(node.get("name")) or None,
        text=record.text or node.text("description"),
        author=record.author or node.author,
        published=record.published or node.date("uploadDate", "datePublished"),
        fields={name: parse_date(record.fields.get(name)) for name in ("starts", "ends")},
        media=tuple(picture["url"] for picture in pictures[-1:]),
        links=tuple(
            Link(track["baseUrl"], track.get("languageCode", ""), "captions")
            for track in tracks.get("captionTracks") or []
            if track.get("baseUrl")
        ),
        items=(*_transcript(page), *_comments(page)),
    )


def _from_microdata(page: SitePage, wanted: str) -> Record | None:
    """Read a video page's `itemprop` elements, unless they belong to another video."""
    record = _MICRODATA.read(page, "youtube", page.soup)
    if not record.id or not record.title or (wanted and record.id != wanted):
        return None
    return record.updated(
        text=record.text or page.attr("meta[itemprop=description]", "content"),
        counts={"seconds": parse_duration(page.attr("meta[itemprop=duration]", "content"))},
        items=(*_transcript(page), *_comments(page)),
    )


def _from_rendered_page(page: SitePage, wanted: str) -> Record | None:
    """Read a video's rendered page; None if it is not rendered."""
    record = _RENDERED.read(page, "youtube", page.soup)
    if not record.title or not wanted:
        return None
    items = (*_transcript(page), *_comments(page))
    return replace(record, id=wanted, url=f"{_WATCH}{wanted}", items=items)


def _from_list(page: SitePage) -> Record | None:
    """Read a channel, playlist or search result page from its embedded data."""
    data = page.script_variable("ytInitialData")
    found = {node["videoId"]: node for node in find_objects(data, "videoId", "title")}
    items = tuple(record for node in found.values() if (record := _entry(node)).title)
    about = next(find_objects(data, "channelMetadataRenderer"), None)
    if about is None:
        return listing("youtube", page.url, items, page.text("title").removesuffix(" - YouTube"))
    channel = _CHANNEL.read(page, "youtube", about["channelMetadataRenderer"])
    return replace(channel, url=channel.url or page.canonical, items=items)


def _entry(node: dict[str, Any]) -> Record:
    owner = node.get("ownerText") or node.get("longBylineText") or node.get("shortBylineText")
    return Record(
        "youtube", "video", f"{_WATCH}{node['videoId']}", id=node["videoId"],
        title=_text(node["title"]) or None, text=_text(node.get("descriptionSnippet")),
        author=_text(owner) or None,
        counts={"views": _text(node.get("viewCountText")),
                "seconds": parse_duration(_text(node.get("lengthText")))},
        fields={"age": _text(node.get("publishedTimeText"))},
    )  # fmt: skip


def _transcript(page: SitePage) -> tuple[Record, ...]:
    """Read the transcript from the page's panel, an API reply or a JSON caption track."""
    if page.json is None:
        rows = [
            (page.text(".segment-text, [class*=segmentText], span[role=text]", node),
             parse_duration(page.text(".segment-timestamp, [class*=Timestamp]", node)))
            for node in page.soup.select(_SEGMENTS)
        ]  # fmt: skip
    else:
        key = "transcriptSegmentRenderer"
        segments = [node[key] for node in page.objects(key)]
        events = page.json.get("events") or () if isinstance(page.json, dict) else ()
        spoken = [(_text(segment.get("snippet")), segment.get("startMs")) for segment in segments]
        spoken += [("".join(part.get("utf8", "") for part in event.get("segs") or []),
                  event.get("tStartMs")) for event in events]  # fmt: skip
        rows = [(" ".join(text.split()), int(start or 0) // 1000) for text, start in spoken]
        rows = [row for row in rows if row[0]]
    return tuple(Record("youtube", "transcript", text=t, counts={"second": s}) for t, s in rows)


def _comments(page: SitePage) -> tuple[Record, ...]:
    """The comments rendered on the page."""
    return _COMMENT.records(page, "youtube") if page.json is None else ()


def _text(value: Any) -> str:
    """Return the text of a value in one of YouTube's forms: `simpleText`, `runs` or `content`."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else ""
    runs = "".join(str(run.get("text", "")) for run in value.get("runs") or [])
    return str(value.get("simpleText") or runs or value.get("content") or "").strip()
