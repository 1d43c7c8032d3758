"""YouTube: a video with transcript and chapters where given, a channel, a list of videos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.jsonld import text_of
from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import variable
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.postings import author_of, date_of, node_of, words_of
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.youtube_pages import (
    WATCH,
    account,
    from_microdata,
    listed,
    shown_video,
)
from browser.extract.platforms.youtube_words import chapters, comments, spoken
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_PLACES = ("shorts", "live", "embed", "v")


class YouTube(Platform):
    """`videoDetails` and its microformat; `itemprop` elements or the drawn page without them."""

    name = "youtube"
    hosts = ("youtube.com", "youtu.be", "youtube-nocookie.com")

    def parse(self, source: Source) -> Record | None:
        """Read one video; its caption tracks are links of rel `captions`."""
        data = source.json
        state = data if data is not None else variable(source, "ytInitialPlayerResponse")
        wanted = _video_of(source)
        if isinstance(state, dict) and "videoDetails" in state:
            # A page that went on to another video by itself still holds the first one's state.
            if not wanted or state["videoDetails"].get("videoId") == wanted:
                return _from_state(state, source)
        elif isinstance(state, dict) and "playabilityStatus" in state:
            return _unavailable(state["playabilityStatus"], source)
        if data is not None:
            words = spoken(source)
            return Record(self.name, "transcript", source.url, items=words) if words else None
        return from_microdata(source, wanted) or shown_video(source, wanted) or listed(source)


def _video_of(source: Source) -> str:
    """The video that the address names; '' where it names none."""
    if source.host == "youtu.be" and source.path:
        return source.path[0]
    if source.path[:1] and source.path[0] in _PLACES and len(source.path) > 1:
        return source.path[1]
    return source.parameter("v")


def _unavailable(status: dict[str, Any], source: Source) -> Record:
    screen = (status.get("errorScreen") or {}).get("playerErrorMessageRenderer") or {}
    more = (screen.get("subreason") or {}).get("simpleText")
    said = fields(reason=status.get("reason"), detail=more, status=status.get("status"))
    return Record("youtube", "unavailable", source.url, id=_video_of(source) or None, fields=said)


def _from_state(state: dict[str, Any], source: Source) -> Record:
    video = state["videoDetails"]
    micro = (state.get("microformat") or {}).get("playerMicroformatRenderer") or {}
    tracks = (state.get("captions") or {}).get("playerCaptionsTracklistRenderer") or {}
    pictures = (video.get("thumbnail") or {}).get("thumbnails") or []
    owner = micro.get("ownerProfileUrl") or source.attr("[itemprop=author] [itemprop=url]", "href")
    live, status = micro.get("liveBroadcastDetails") or {}, state.get("playabilityStatus") or {}
    node = node_of(source, "VideoObject")
    playable = status.get("status") in (None, "OK")
    return Record(
        "youtube", "short" if source.path[:1] == ("shorts",) else "video",
        f"{WATCH}{video['videoId']}", id=video["videoId"], handle=account(owner),
        title=video.get("title") or text_of(node.get("name")) or None,
        text=video.get("shortDescription") or words_of(node, "description"),
        author=video.get("author") or author_of(node)[0],
        published=iso_date(micro.get("publishDate") or micro.get("uploadDate") or "")
        or date_of(node, "uploadDate", "datePublished"),
        counts=counts(views=video.get("viewCount"), likes=micro.get("likeCount"),
                      seconds=video.get("lengthSeconds")),
        fields=fields(
            channel=video.get("channelId"), category=micro.get("category"),
            live=_said(live.get("isLiveNow", video.get("isLive"))),
            upcoming=_said(video.get("isUpcoming")), unlisted=_said(micro.get("isUnlisted")),
            starts=iso_date(live.get("startTimestamp", "")),
            ends=iso_date(live.get("endTimestamp", "")),
            status=None if playable else status.get("status"),
            reason=None if playable else status.get("reason"),
        ),
        tags=tuple(video.get("keywords") or ()), media=tuple(p["url"] for p in pictures[-1:]),
        links=tuple(Link(track["baseUrl"], track.get("languageCode", ""), "captions")
                    for track in tracks.get("captionTracks") or [] if track.get("baseUrl")),
        items=(*chapters(source), *spoken(source), *comments(source)),
    )  # fmt: skip


def _said(flag: object) -> str | None:
    return "true" if flag is True else None
