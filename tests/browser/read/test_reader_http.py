"""Reading over HTTP: typed outcomes, block pages, signposts, files, and fetch history."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from browser.errors import BrowserMissing
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from browser.read.habits import Habits
from browser.read.reader import Reader
from browser.types import Outcome
from tests.browser.extract.documents.pdfs import Sheet, build_pdf

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.read.reading_site import Site

LONG = "The ferry leaves the eastern pier at noon and returns before the tide turns. " * 20


async def test_plain_page_is_read_over_http(site: Site, http: Polite) -> None:
    url = site.page("/a", f"<title>Ferry</title><h1>Ferry</h1><p>{LONG}</p>")
    page = await Reader(http).read(url)
    assert (page.outcome, page.via, page.status) == (Outcome.OK, "http", 200)
    assert page.document is not None
    assert page.document.title == "Ferry"
    assert page.reason == "plain HTTP"


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, Outcome.NOT_FOUND),
        (410, Outcome.NOT_FOUND),
        (401, Outcome.UNAUTHORIZED),
        (403, Outcome.BLOCKED),
        (402, Outcome.PAYWALL),
        (429, Outcome.RATE_LIMITED),
        (500, Outcome.ERROR),
    ],
)
async def test_status_codes_map_to_outcomes(
    site: Site, http: Polite, status: int, outcome: Outcome
) -> None:
    page = await Reader(http).read(site.page("/s", "<p>Sorry.</p>", status))
    assert page.outcome is outcome
    assert str(status) in page.reason


@pytest.mark.parametrize(
    ("html", "status", "outcome"),
    [
        (
            "<title>Just a moment...</title><p>Checking your browser before access.</p>",
            503,
            Outcome.BOT_CHECK,
        ),
        (
            "<h1>Are you a robot?</h1><div class=g-recaptcha></div><p>Solve the captcha.</p>",
            200,
            Outcome.CAPTCHA,
        ),
        ("<p>Before you continue to Ferry, accept all cookies.</p>", 200, Outcome.CONSENT),
        ("<h1>Sign in</h1><form>Name <input><input type=password></form>", 200, Outcome.LOGIN),
        (
            "<h1>Tides</h1><p>The first lines.</p><p>Subscribe to continue reading.</p>",
            200,
            Outcome.PAYWALL,
        ),
        ("<h1>Access denied</h1><p>Reference 18.2</p>", 200, Outcome.BLOCKED),
    ],
)
async def test_block_pages_map_to_outcomes(
    site: Site, http: Polite, html: str, status: int, outcome: Outcome
) -> None:
    page = await Reader(http).read(site.page("/w", html, status))
    assert page.outcome is outcome


async def test_article_about_captchas_is_not_a_block_page(site: Site, http: Polite) -> None:
    text = f"<p>A captcha asks: are you a robot? g-recaptcha is one. {LONG}</p>"
    assert (await Reader(http).read(site.page("/c", text))).outcome is Outcome.OK


async def test_empty_body_has_outcome_empty(site: Site, http: Polite) -> None:
    assert (await Reader(http).read(site.page("/e", ""))).outcome is Outcome.EMPTY


async def test_image_is_an_error_naming_its_type(site: Site, http: Polite) -> None:
    site.answers["/p"] = (200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n")
    page = await Reader(http).read(site.base + "/p")
    assert page.outcome is Outcome.ERROR
    assert "image/png" in page.reason


async def test_meta_refresh_is_followed(site: Site, http: Polite) -> None:
    site.page("/to", f"<p>{LONG}</p>")
    url = site.page("/from", '<meta http-equiv=refresh content="0; url=/to"><p>Moved.</p>')
    page = await Reader(http).read(url)
    assert page.url.endswith("/to")
    assert page.requested_url == url


@pytest.mark.parametrize(
    "markup",
    [
        "<p>Moved.</p><script>window.location = '/to'</script>",
        "<p>We take you there.</p><script>setTimeout(() => location.replace('/to'), 300)</script>",
        '<script>setTimeout(function(){window.location.href="/to"},300)</script><p>Wait.</p>',
    ],
)
async def test_unconditional_script_redirect_is_followed(
    site: Site, http: Polite, markup: str
) -> None:
    site.page("/to", f"<p>{LONG}</p>")
    assert (await Reader(http).read(site.page("/from", markup))).url.endswith("/to")


async def test_refresh_header_is_followed(site: Site, http: Polite) -> None:
    site.page("/to", f"<p>{LONG}</p>")
    page = await Reader(http).read(site.page("/from", "<p>Moved.</p>", Refresh="0; url=/to"))
    assert page.url.endswith("/to")


@pytest.mark.parametrize(
    "frame",
    [
        '<embed src="/paper.pdf?dl=1" type="application/pdf">',
        '<iframe src="/viewer.html?file=%2Fpaper.pdf"></iframe>',
        '<object data="/paper.pdf">No PDF here.</object>',
    ],
)
async def test_embedded_pdf_is_read_or_noted(site: Site, http: Polite, frame: str) -> None:
    body = build_pdf(Sheet([(50, 700, 11, "The second crane weighs 4711 tons.")]))
    for path in ("/paper.pdf", "/paper.pdf?dl=1"):
        site.answers[path] = (200, {"Content-Type": "application/pdf"}, body)
    page = await Reader(http).read(site.page("/view", f"<h1>Paper</h1><p>See below.</p>{frame}"))
    assert page.document is not None
    assert "4711 tons" in page.document.text
    long = await Reader(http).read(site.page("/long", f"<p>{LONG * 9}</p>{frame}"))
    assert long.document is not None
    assert any("/paper.pdf" in note for note in long.document.notes)


@pytest.mark.parametrize(
    "script",
    ["if (phone) { location = '/to' }", "b.onclick = () => 1; c = document.location + '/to'"],
)
async def test_conditional_script_redirect_is_not_followed(
    site: Site, http: Polite, script: str
) -> None:
    site.page("/to", f"<p>{LONG}</p>")
    url = site.page("/from", f"<p>The ferry is late.</p><script>{script}</script>")
    assert (await Reader(http).read(url)).url == url


async def test_paywall_text_dropped_by_extraction_is_detected(site: Site, http: Polite) -> None:
    data = '{"@type":"NewsArticle","isAccessibleForFree":false}'
    free = f'<script type="application/ld+json">{data}</script>'
    story = (
        "<p>The harbour authority published its yearly account, with many figures in it.</p>" * 3
    )
    asks = "<div class=paywall><p>Subscribe to continue reading.</p></div>"
    url = site.page("/p", f"{free}<article><h1>Crane bought</h1>{story}</article>{asks}")
    assert (await Reader(http).read(url)).outcome is Outcome.PAYWALL
    hidden = site.page("/h", f"<article><h1>Crane</h1>{story}</article><div hidden>{asks}</div>")
    assert (await Reader(http).read(hidden)).outcome is Outcome.OK


async def test_truncated_response_is_read_with_note(site: Site, http: Polite) -> None:
    site.cut.add("/cut")
    page = await Reader(http).read(site.page("/cut", f"<p>{LONG}</p>"))
    assert page.outcome is Outcome.OK
    assert page.document is not None
    assert "ended too early" in page.document.notes[0]


async def test_meta_refresh_loop_ends(site: Site, http: Polite) -> None:
    url = site.page("/r", '<meta http-equiv=refresh content="0; url=/r">Again.')
    await Reader(http).read(url)
    assert site.asked.count("/r") == 3


async def test_private_addresses_are_refused(http: Polite) -> None:
    page = await Reader(http).read("http://10.1.2.3/")
    assert page.outcome is Outcome.REFUSED


async def test_silent_server_times_out(http: Polite) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        page = await Reader(http).read(f"http://127.0.0.1:{port}/", deadline=0.3)
    assert page.outcome is Outcome.TIMEOUT


async def test_script_shell_without_browser_is_empty_with_reason(site: Site, http: Polite) -> None:
    shell = "<div id=root></div><script>document.title</script>"
    page = await Reader(http).read(site.page("/s", shell))
    assert (page.outcome, page.via) == (Outcome.EMPTY, "http")
    assert page.reason


async def test_missing_browser_falls_back_to_http_page(site: Site, http: Polite) -> None:
    async def missing() -> None:
        message = "no Chrome"
        raise BrowserMissing(message)

    url = site.page("/s", "<h1>Ferry</h1><div id=app></div><script>f('app')</script>")
    page = await Reader(http, browser=missing).read(url)
    assert page.document is not None
    assert "no Chrome" in page.reason


async def test_files_are_read_only_inside_allowed_folders(http: Polite, tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "note.md").write_text("# Note\n\nHigh water at noon.")
    (outside / "key.txt").write_text("secret")
    (inside / "link.txt").symlink_to(outside / "key.txt")
    named = tmp_path / "other" / "note.md"
    named.parent.mkdir()
    named.write_text("# Another\n\nLow water at six.")
    reader = Reader(http, files=[inside, named, inside / "note.md", tmp_path / "other" / "in"])
    good = await reader.read((inside / "note.md").as_uri())
    assert (good.outcome, good.via, good.url) == (Outcome.OK, "file", "file:///in/note.md")
    # Addresses do not show the path above the allowed folders, and distinguish equal names.
    addresses = [reader.files.address(path) for path in (named, tmp_path / "other" / "in" / "a#b")]
    assert addresses == ["file:///note.md", "file:///in-2/a%23b"]
    again = await reader.read("file:///note.md")
    assert again.document is not None
    assert again.document.title == "Another"
    assert good.document is not None
    assert good.document.title == "Note"
    page = "<p>High water at noon.</p><a rel=next href='%s'>Next</a>"
    (inside / "first.html").write_text(page % "last.html")
    (inside / "last.html").write_text(page % "lost.html")
    for name, following in (("first", ["last.html"]), ("last", [])):
        saved = (await reader.read((inside / f"{name}.html").as_uri())).document
        assert saved is not None
        assert [link.url.rpartition("/")[2] for link in saved.links] == following
    escapes = ["out/key.txt", "in/link.txt", "in/../out/key.txt", "in/%2e%2e/out/key.txt"]
    for path in escapes:
        page = await reader.read(f"file://{tmp_path}/{path}")
        assert (path, page.outcome) == (path, Outcome.REFUSED)
    for path in ("in/../../out/key.txt", "in/link.txt", "in-3/note.md", "out/key.txt", "in%00"):
        assert (await reader.read(f"file:///{path}")).outcome is Outcome.REFUSED
    assert (await reader.read(f"file://evil.test{inside}/note.md")).outcome is Outcome.REFUSED


def test_fetch_history_needs_repetition_persists_and_can_be_reset(tmp_path: Path) -> None:
    path = tmp_path / "data" / "sites.json"
    habits = Habits(path)
    for _ in range(2):
        habits.needed_browser("e.org", "empty without its scripts")
    assert not habits.for_site("e.org").needs_browser
    habits.needed_browser("e.org", "empty without its scripts")
    again = Habits(path)
    assert again.for_site("e.org").needs_browser
    for _ in range(3):
        again.http_was_enough("e.org")
    assert not again.for_site("e.org").needs_browser
    assert list(again.all()) == ["e.org"]
    again.reset("e.org")
    assert Habits(path).all() == {}


def test_deadline_grows_for_slow_sites_and_shrinks_after_repeated_failures(tmp_path: Path) -> None:
    repeated: list[tuple[str, int]] = []
    path = tmp_path / "sites.json"
    habits = Habits(path, lambda site, habit: repeated.append((site, habit.times)))
    seconds = []
    for _ in range(5):
        habits.read_failed("e.org", Outcome.TIMEOUT)
        seconds.append(habits.for_site("e.org").deadline(30))
    assert seconds == [30, 60, 60, 60, 15]
    assert repeated == [("e.org", 3)]
    habits.read_succeeded("e.org", 34)
    assert Habits(path).for_site("e.org").deadline(30) == 51
    habits.read_succeeded("e.org", 200)
    assert habits.for_site("e.org").deadline(30) == 60
    habits.read_succeeded("e.org", 2)
    assert habits.for_site("e.org").deadline(30) == 30
    habits.read_succeeded("fine.org", 2)
    assert list(habits.all()) == ["e.org"]


async def test_repeated_failures_are_counted_until_a_success(site: Site, http: Polite) -> None:
    reader = Reader(http)
    url = site.page("/wall", "<h1>Access denied</h1>", status=403)
    fine = site.page("/fine", f"<h1>Ferry</h1><p>{LONG}</p>")
    outcomes = [(await reader.read(url)).outcome for _ in range(2)]
    ((name, habit),) = reader.habits.all().items()
    assert [habit.failed] * 2 == outcomes
    assert habit.times == 2
    await reader.read(fine)
    assert reader.habits.for_site(name).times == 0


def test_damaged_fetch_history_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "sites.json"
    path.write_text('{"e.org": ')
    assert Habits(path).all() == {}


async def test_site_needing_browser_falls_back_to_http_if_browser_is_missing(
    site: Site, http: Polite
) -> None:
    async def missing() -> None:
        message = "no Chrome"
        raise BrowserMissing(message)

    habits = Habits()
    for _ in range(3):
        habits.needed_browser("127.0.0.1", "empty without its scripts")
    url = site.page("/a", f"<h1>Ferry</h1><p>{LONG}</p>")
    page = await Reader(http, browser=missing, habits=habits).read(url)
    assert (page.via, page.outcome) == ("http", Outcome.OK)


async def test_page_not_rendered_by_browser_is_noted_as_incomplete(
    site: Site, http: Polite
) -> None:
    async def missing() -> None:
        message = "no Chrome"
        raise BrowserMissing(message)

    url = site.page("/a", "<p>Loading…</p><div id=app></div><script>draw()</script>")
    page = await Reader(http, browser=missing).read(url)
    assert page.document is not None
    [note] = page.document.notes
    assert note.startswith("may be incomplete: the page is empty without its scripts (1 words)")
    assert note.endswith("the browser returned nothing more: no Chrome")


async def test_cached_page_reports_its_fetch_time(site: Site, tmp_path: Path) -> None:
    url = site.page("/a", f"<p>{LONG}</p>", Cache_Control="max-age=600", Age="120")
    policy = EgressPolicy(allow_private=("127.0.0.1",))
    async with Egress(policy) as egress, HttpClient(egress, cache=tmp_path / "c.db") as http:
        reader = Reader(Polite(http))
        first, again = await reader.read(url), await reader.read(url)
    assert site.asked.count("/a") == 1
    assert again.reason == "plain HTTP, from the cache"
    assert (first.fetched_at - again.fetched_at).total_seconds() > 100
    assert again.document == first.document


async def test_block_page_is_not_served_from_cache(site: Site, tmp_path: Path) -> None:
    wall = "<title>Just a moment...</title><p>Checking your browser before accessing the site.</p>"
    url = site.page("/a", wall, Cache_Control="max-age=600")
    policy = EgressPolicy(allow_private=("127.0.0.1",))
    async with Egress(policy) as egress, HttpClient(egress, cache=tmp_path / "c.db") as http:
        reader = Reader(Polite(http))
        assert (await reader.read(url)).outcome is Outcome.BOT_CHECK
        site.page("/a", f"<p>{LONG}</p>")
        assert (await reader.read(url)).outcome is Outcome.OK
