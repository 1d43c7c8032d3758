"""YouTube: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

from browser.types import Link
from tests.browser.extract.platforms.reading import parsed


def test_youtube_video_from_state_and_microdata() -> None:
    state = {"videoDetails": {"videoId": "v1", "title": "Knots", "shortDescription": "How to.", "author": "Ann", "viewCount": "1200", "lengthSeconds": "61", "channelId": "UC1", "keywords": ["rope"]},
             "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": [{"baseUrl": "https://e.org/c", "languageCode": "en"}]}}}  # fmt: skip
    video = parsed(
        "https://www.youtube.com/watch?v=v1",
        f"<script>var ytInitialPlayerResponse = {json.dumps(state)};var x</script>",
    )
    assert (video.id, video.title, video.text, video.author, video.tags) == (
        "v1",
        "Knots",
        "How to.",
        "Ann",
        ("rope",),
    )
    assert video.counts == {"views": 1200, "seconds": 61}
    assert video.links == (Link("https://e.org/c", "en", "captions"),)
    micro = """<meta itemprop=name content=Knots><meta itemprop=identifier content=v1><meta itemprop=description content="How to."><meta itemprop=duration content=PT1M1S>
    <meta itemprop=interactionCount content=1200><meta itemprop=datePublished content=2024-05-03>"""
    same = parsed("https://www.youtube.com/watch?v=v1", micro)
    assert (same.id, same.published, same.counts) == (
        "v1",
        "2024-05-03",
        {"views": 1200, "seconds": 61},
    )
    gone = parsed(
        "https://www.youtube.com/youtubei/v1/player",
        {"playabilityStatus": {"status": "ERROR", "reason": "Private"}},
    )
    assert (gone.kind, gone.fields) == ("unavailable", {"reason": "Private"})
