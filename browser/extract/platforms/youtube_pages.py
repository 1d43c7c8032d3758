"""YouTube pages without a player's state: microdata, the drawn page, channels and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from browser.extract.dates import iso_date
from browser.extract.platforms.embedded import variable, walk
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import seconds_of
from browser.extract.platforms.youtube_words import chapters, comments, spoken, written

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

WATCH: Final = "https://www.youtube.com/watch?v="
"""What stands before a video's id in its address."""
_TITLE = "ytd-watch-metadata h1, h1.ytd-watch-metadata, h1.title.ytd-video-primary-info-renderer"
_OWNER = "ytd-watch-metadata #owner #channel-name a, #upload-info #channel-name a"
_ABOUT = "#description-inline-expander, #description ytd-text-inline-expander, #description"


def shown_video(source: Source, video: str) -> Record | None:
    """Read a video's page as it is drawn; None where it is not."""
    title = source.text(_TITLE)
    if not title or not video:
        return None
    facts = source.text("ytd-watch-info-text #tooltip, tp-yt-paper-tooltip #tooltip")
    views, _, rest = facts.partition("•")
    likes = source.attr("like-button-view-model button, #like-button button", "aria-label")
    return Record(
        "youtube", "video", f"{WATCH}{video}", id=video, title=title,
        text=source.body(source.first(_ABOUT)), author=source.text(_OWNER) or None,
        handle=account(source.attr(_OWNER, "href")), published=iso_date(rest.partition("•")[0]),
        counts=counts(views=views or None, likes=likes or None),
        items=(*spoken(source), *comments(source)),
    )  # fmt: skip


def from_microdata(source: Source, wanted: str) -> Record | None:
    """Read the `itemprop` elements of a video's page, unless they are another video's."""

    def said(name: str) -> str:
        element = source.first(f"meta[itemprop={name}], link[itemprop={name}]")
        return (element.get("content") or element.get("href") or "") if element is not None else ""

    video, title = said("videoId") or said("identifier"), said("name")
    if not video or not title or (wanted and video != wanted):
        return None
    shown = source.first("#eow-description, #description yt-formatted-string.content")
    return Record(
        "youtube", "video", f"{WATCH}{video}", id=video, title=title,
        text=source.body(shown) or said("description"),
        handle=account(source.attr("[itemprop=author] [itemprop=url]", "href")),
        author=source.attr("[itemprop=author] [itemprop=name]", "content") or None,
        published=iso_date(said("datePublished")),
        counts=counts(views=said("interactionCount") or None, seconds=seconds_of(said("duration"))),
        fields=fields(channel=said("channelId"), category=said("genre")),
        tags=tuple(e.get("content", "") for e in source.all("meta[property='og:video:tag']")),
        media=(said("thumbnailUrl"),) if said("thumbnailUrl") else (),
        items=(*chapters(source), *spoken(source), *comments(source)),
    )  # fmt: skip


def listed(source: Source) -> Record | None:
    """Read a channel, a playlist or a page of results, by the page's data."""
    data = variable(source, "ytInitialData")
    found = {node["videoId"]: node for node in walk([data]) if {"videoId", "title"} <= node.keys()}
    items = tuple(record for node in found.values() if (record := _entry(node)).title)
    about = next((n["channelMetadataRenderer"] for n in walk([data])
                  if "channelMetadataRenderer" in n), None)  # fmt: skip
    if about is None:
        title = source.text("title").removesuffix(" - YouTube")
        return listing("youtube", source.url, items, title)
    address = about.get("vanityChannelUrl") or about.get("channelUrl") or source.url
    return Record(
        "youtube", "channel", address, id=about.get("externalId"), title=about.get("title"),
        text=about.get("description") or "", author=about.get("title"),
        handle=address.rpartition("/@")[2] if "/@" in address else None, items=items,
    )  # fmt: skip


def account(address: str | None) -> str | None:
    """The account in a channel's address, without its `@`."""
    return (address or "").rstrip("/").rpartition("/")[2].lstrip("@") or None


def _entry(node: dict[str, Any]) -> Record:
    owner = node.get("ownerText") or node.get("longBylineText") or node.get("shortBylineText")
    return Record(
        "youtube", "video", f"{WATCH}{node['videoId']}", id=node["videoId"],
        title=written(node["title"]) or None, text=written(node.get("descriptionSnippet")),
        author=written(owner) or None,
        counts=counts(views=written(node.get("viewCountText")) or None,
                      seconds=seconds_of(written(node.get("lengthText")))),
        fields=fields(age=written(node.get("publishedTimeText"))),
    )  # fmt: skip
