"""YouTube: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json
from typing import Any

from browser.types import Link
from tests.browser.extract.platforms.reading import parse_record


def test_video_is_parsed_from_player_json_and_microdata() -> None:
    state = {"videoDetails": {"videoId": "v1", "title": "Knots", "shortDescription": "How to.", "author": "Ann", "viewCount": "1200", "lengthSeconds": "61", "channelId": "UC1", "keywords": ["rope"]},
             "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": [{"baseUrl": "https://e.org/c", "languageCode": "en"}]}}}  # fmt: skip
    video = parse_record(
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
    same = parse_record("https://www.youtube.com/watch?v=v1", micro)
    assert (same.id, same.published, same.counts) == (
        "v1",
        "2024-05-03",
        {"views": 1200, "seconds": 61},
    )
    gone = parse_record(
        "https://www.youtube.com/youtubei/v1/player",
        {"playabilityStatus": {"status": "ERROR", "reason": "Private"}},
    )
    assert (gone.kind, gone.fields) == ("unavailable", {"reason": "Private", "status": "ERROR"})


def _page(state: dict[str, Any], more: str = "") -> str:
    return f"<script>var ytInitialPlayerResponse = {json.dumps(state)};</script>{more}"


def test_live_stream_short_and_age_restricted_video() -> None:
    live = {
        "videoDetails": {"videoId": "v1", "title": "Harbour", "isLive": True},
        "microformat": {
            "playerMicroformatRenderer": {
                "liveBroadcastDetails": {
                    "isLiveNow": True,
                    "startTimestamp": "2024-05-03T08:00:00+00:00",
                }
            }
        },
    }
    video = parse_record("https://www.youtube.com/live/v1", _page(live))
    assert video.fields == {"live": "true", "starts": "2024-05-03T08:00:00+00:00"}
    assert (video.counts, video.links) == ({}, ())

    short = {"videoDetails": {"videoId": "s1", "title": "Knot", "lengthSeconds": "20"}}
    assert parse_record("https://www.youtube.com/shorts/s1", _page(short)).kind == "short"

    aged = {
        "videoDetails": {"videoId": "a1", "title": "Storm"},
        "playabilityStatus": {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm your age"},
    }
    record = parse_record("https://youtu.be/a1", _page(aged))
    assert (record.title, record.fields["status"]) == ("Storm", "LOGIN_REQUIRED")
    assert record.fields["reason"] == "Sign in to confirm your age"


def test_rendered_transcript_and_comments_are_parsed() -> None:
    video = {"videoDetails": {"videoId": "v1", "title": "Knots"}}
    more = """<ytd-transcript-segment-renderer><div class=segment-timestamp>1:02:03</div><yt-formatted-string class=segment-text>Take the rope.</yt-formatted-string></ytd-transcript-segment-renderer>
    <ytd-comment-view-model><a id=author-text><span>@ann</span></a><span id=published-time-text><a href="/watch?v=v1&lc=c1">2 years ago</a></span><yt-attributed-string id=content-text><span>Thanks.</span></yt-attributed-string><span id=vote-count-middle>1.2K</span></ytd-comment-view-model>"""
    line, comment = parse_record("https://www.youtube.com/watch?v=v1", _page(video, more)).items
    assert (line.kind, line.text, line.counts) == ("transcript", "Take the rope.", {"second": 3723})
    assert (comment.kind, comment.text, comment.handle) == ("comment", "Thanks.", "ann")
    assert (comment.counts, comment.fields) == ({"likes": 1200}, {"age": "2 years ago"})
    assert comment.url == "https://www.youtube.com/watch?v=v1&lc=c1"


def test_caption_track_and_transcript_reply_are_parsed() -> None:
    track = {
        "events": [
            {"tStartMs": 0, "segs": [{"utf8": "Take "}, {"utf8": "the rope."}]},
            {"tStartMs": 9, "segs": [{"utf8": "\n"}]},
        ]
    }
    words = parse_record("https://www.youtube.com/api/timedtext?v=v1&fmt=json3", track)
    assert [(w.text, w.counts) for w in words.items] == [("Take the rope.", {"second": 0})]
    reply = {
        "actions": [
            {
                "transcriptSegmentRenderer": {
                    "startMs": "61000",
                    "snippet": {"runs": [{"text": "Pull."}]},
                }
            }
        ]
    }
    words = parse_record("https://www.youtube.com/youtubei/v1/get_transcript", reply)
    assert [(w.text, w.counts) for w in words.items] == [("Pull.", {"second": 61})]


def test_rendered_video_overrides_stale_player_json() -> None:
    first = {"videoDetails": {"videoId": "old", "title": "First"}}
    drawn = """<ytd-watch-metadata><h1>Second</h1><div id=owner><div id=channel-name><a href="/@ann">Ann</a></div></div><ytd-watch-info-text><div id=tooltip>1,234 views • May 3, 2024</div></ytd-watch-info-text>
    <like-button-view-model><button aria-label="like this video along with 56 other people"></button></like-button-view-model><div id=description-inline-expander>On ropes.</div></ytd-watch-metadata>"""
    video = parse_record("https://www.youtube.com/watch?v=new", _page(first, drawn))
    assert (video.id, video.title, video.text) == ("new", "Second", "On ropes.")
    assert (video.author, video.handle, video.published) == ("Ann", "ann", "2024-05-03")
    assert video.counts == {"views": 1234, "likes": 56}


def test_channel_and_search_results_are_parsed() -> None:
    row = {
        "videoRenderer": {
            "videoId": "v1",
            "title": {"runs": [{"text": "Knots"}]},
            "ownerText": {"runs": [{"text": "Ann"}]},
            "viewCountText": {"simpleText": "1,234 views"},
            "lengthText": {"simpleText": "1:01"},
            "publishedTimeText": {"simpleText": "2 years ago"},
        }
    }
    about = {
        "channelMetadataRenderer": {
            "title": "Ann",
            "description": "Ropes.",
            "externalId": "UC1",
            "vanityChannelUrl": "http://www.youtube.com/@ann",
        }
    }
    page = f"<title>Ann - YouTube</title><script>var ytInitialData = {json.dumps({'metadata': about, 'contents': [row]})};</script>"
    channel = parse_record("https://www.youtube.com/@ann", page)
    assert (channel.kind, channel.id, channel.title, channel.handle) == (
        "channel",
        "UC1",
        "Ann",
        "ann",
    )
    found = channel.items[0]
    assert (found.title, found.author, found.counts) == (
        "Knots",
        "Ann",
        {"views": 1234, "seconds": 61},
    )
    assert found.fields == {"age": "2 years ago"}

    results = f"<title>knots - YouTube</title><script>var ytInitialData = {json.dumps({'contents': [row]})};</script>"
    listing = parse_record("https://www.youtube.com/results?search_query=knots", results)
    assert (listing.kind, listing.title, len(listing.items)) == ("listing", "knots", 1)


def test_missing_player_data_is_taken_from_json_ld() -> None:
    node = {
        "@type": "VideoObject",
        "name": "Knots",
        "author": "Ann",
        "description": "On ropes.",
        "uploadDate": "2026-01-15T08:00:00-08:00",
    }
    more = f'<script type="application/ld+json">{json.dumps(node)}</script><transcript-segment-view-model><div class=ytwTranscriptSegmentViewModelTimestamp>0:04</div><span role=text>Take the rope.</span></transcript-segment-view-model>'
    video = parse_record(
        "https://www.youtube.com/watch?v=v1", _page({"videoDetails": {"videoId": "v1"}}, more)
    )
    assert (video.title, video.author, video.text) == ("Knots", "Ann", "On ropes.")
    assert video.published == "2026-01-15T08:00:00-08:00"
    assert [(line.text, line.counts) for line in video.items] == [("Take the rope.", {"second": 4})]
