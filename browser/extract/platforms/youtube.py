"""YouTube: a video, from the player's state, the microdata, or the player API's reply."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import seconds_of
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_STATE = re.compile(r"ytInitialPlayerResponse\s*=\s*(?=\{)")
_WATCH = "https://www.youtube.com/watch?v="


class YouTube(Platform):
    """`videoDetails` and its microformat; `itemprop` elements where there is no state."""

    name = "youtube"
    hosts = ("youtube.com", "youtu.be", "youtube-nocookie.com")

    def parse(self, source: Source) -> Record | None:
        """Read one video; its caption tracks are links of rel `captions`."""
        state = source.json if source.json is not None else _state(source)
        if isinstance(state, dict) and "videoDetails" in state:
            return _from_state(state, source)
        if isinstance(state, dict) and "playabilityStatus" in state:
            reason = state["playabilityStatus"].get("reason")
            return Record(self.name, "unavailable", source.url, fields=fields(reason=reason))
        return _from_microdata(source) if source.json is None else None


def _state(source: Source) -> Any:
    for script in source.root.iter("script"):
        text = script.text or ""
        if match := _STATE.search(text):
            try:
                return json.JSONDecoder().raw_decode(text, match.end())[0]
            except (ValueError, RecursionError):
                return None
    return None


def _from_state(state: dict[str, Any], source: Source) -> Record:
    video = state["videoDetails"]
    micro = (state.get("microformat") or {}).get("playerMicroformatRenderer") or {}
    renderer = (state.get("captions") or {}).get("playerCaptionsTracklistRenderer") or {}
    pictures = (video.get("thumbnail") or {}).get("thumbnails") or []
    owner = micro.get("ownerProfileUrl") or source.attr("[itemprop=author] [itemprop=url]", "href")
    return Record(
        "youtube", "video", f"{_WATCH}{video['videoId']}", id=video["videoId"],
        title=video.get("title"), text=video.get("shortDescription") or "",
        author=video.get("author"), handle=_handle(owner),
        published=_date(micro.get("publishDate")),
        counts=counts(views=video.get("viewCount"), likes=micro.get("likeCount"),
                      seconds=video.get("lengthSeconds")),
        fields=fields(channel=video.get("channelId"), category=micro.get("category")),
        tags=tuple(video.get("keywords") or ()), media=tuple(p["url"] for p in pictures[-1:]),
        links=tuple(Link(track["baseUrl"], track.get("languageCode", ""), "captions")
                    for track in renderer.get("captionTracks") or [] if track.get("baseUrl")),
    )  # fmt: skip


def _from_microdata(source: Source) -> Record | None:
    def said(name: str) -> str:
        element = source.first(f"meta[itemprop={name}], link[itemprop={name}]")
        return (element.get("content") or element.get("href") or "") if element is not None else ""

    video, title = said("videoId") or said("identifier"), said("name")
    if not video or not title:
        return None
    shown = source.first("#eow-description, #description yt-formatted-string.content")
    return Record(
        "youtube", "video", f"{_WATCH}{video}", id=video, title=title,
        text=source.body(shown) or said("description"),
        author=source.attr("[itemprop=author] [itemprop=name]", "content") or None,
        handle=_handle(source.attr("[itemprop=author] [itemprop=url]", "href")),
        published=_date(said("datePublished")),
        counts=counts(views=said("interactionCount") or None, seconds=seconds_of(said("duration"))),
        fields=fields(channel=said("channelId"), category=said("genre")),
        tags=tuple(e.get("content", "") for e in source.all("meta[property='og:video:tag']")),
        media=(said("thumbnailUrl"),) if said("thumbnailUrl") else (),
    )  # fmt: skip


def _handle(owner: str | None) -> str | None:
    return (owner or "").rstrip("/").rpartition("/")[2].lstrip("@") or None


def _date(value: str | None) -> str | None:
    return iso_date(value) if value else None
