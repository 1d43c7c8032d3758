"""`record`: a video of each tab and the requests, complete once the browser has closed."""

from __future__ import annotations

import json

from browser.errors import SessionError
from browser.session.session import Browser


async def test_har_recording_is_readable_only_by_the_user(tmp_path, pages):
    url = pages.base + pages.put("<!doctype html><title>Seen</title><p>words")
    har = tmp_path / "out" / "seen.har"
    async with Browser.launch(record=[har]) as browser:
        await browser.open(url)
    entries = json.loads(har.read_text())["log"]["entries"]
    assert url in [entry["request"]["url"] for entry in entries]
    assert har.stat().st_mode & 0o077 == 0


async def test_video_is_recorded_per_tab_or_missing_ffmpeg_reported(tmp_path, pages):
    url = pages.base + pages.put("<!doctype html><title>Seen</title><p>words")
    hint = ""
    try:
        async with Browser.launch(record=[tmp_path / "seen.webm"]) as browser:
            await browser.open(url)
            await browser.open(url)
    except SessionError as error:  # Playwright's ffmpeg is a separate download
        hint = error.hint
    ebml = b"\x1a\x45\xdf\xa3"  # what WebM is made of
    files = [tmp_path / "seen.webm", tmp_path / "seen-2.webm"]
    written = [file.exists() and file.read_bytes().startswith(ebml) for file in files]
    assert all(written) or "playwright install ffmpeg" in hint
