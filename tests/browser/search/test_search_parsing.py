"""Parsing answers: real targets, no advertisements, and correct names for non-results."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.search import build_providers, parse_results
from browser.search.declared import Declaration
from browser.search.engines import load
from browser.search.results import is_on_site, same_page_key, strip_markup, unwrap_target
from browser.text.words import one_line
from browser.types import Outcome, SearchQuery
from tests.browser.search.pages import ENGINES, ROWS, results_page

HTML_ENGINES = [name for name in ENGINES if not load(name).is_api]


@pytest.mark.parametrize(
    ("wrapped", "real"),
    [
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fb%3D1&rut=1", "https://a.example/x?b=1"),
        ("https://www.google.de/url?sa=t&url=https%3A%2F%2Fa.example%2F", "https://a.example/"),
        ("https://www.google.com/url?q=http://a.example/&sa=U", "http://a.example/"),
        ("https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly9hLmV4YW1wbGUvP3g9MQ&ntb=1", "https://a.example/?x=1"),
        ("https://r.search.yahoo.com/_ylt=A/RV=2/RU=https%3a%2f%2fa.example%2f/RK=2", "https://a.example/"),
        ("https://a.example/url?q=https://b.example/", "https://a.example/url?q=https://b.example/"),
        ("https://notgoogle.com/url?q=https://b.example/", "https://notgoogle.com/url?q=https://b.example/"),
        ("https://duckduckgo.com/y.js?ad_domain=a.example", ""),
        ("https://www.bing.com/aclick?ld=1&u=a1aHR0cHM6Ly9h", ""),
        ("https://www.google.com/aclk?sa=l", ""),
        ("javascript:void(0)", ""),
        ("mailto:a@b.example", ""),
        ("file:///etc/passwd", ""),
        ("//[broken", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_redirect_wrappers_are_unwrapped_and_ads_dropped(wrapped: str, real: str) -> None:
    assert unwrap_target(wrapped) == real


def test_url_variants_share_one_page_key() -> None:
    spellings = (
        "https://www.a.example/x/",
        "http://a.example/x?utm_source=y",
        "https://m.a.example/x/amp",
    )
    assert len({same_page_key(url) for url in spellings}) == 1
    assert same_page_key("https://en.m.wiki.example/A") == same_page_key(
        "https://en.wiki.example/A"
    )
    assert same_page_key("https://a.example/?id=1") != same_page_key("https://a.example/?id=2")


@pytest.mark.parametrize(
    ("url", "site", "inside"),
    [
        ("https://docs.a.example/x", "a.example", True),
        ("https://www.a.example/x", "https://www.a.example/", True),
        ("https://a.example/docs/y", "a.example/docs", True),
        ("https://a.example/blog", "a.example/docs", False),
        ("https://nota.example/", "a.example", False),
        ("https://a.example.evil.test/", "a.example", False),
        ("http://127.0.0.1:8080/x", "127.0.0.1", True),
    ],
)
def test_site_filter_matches_host_and_subpaths(url: str, site: str, inside: bool) -> None:
    assert is_on_site(url, site) is inside


def test_strip_markup_keeps_code_in_angle_brackets() -> None:
    assert strip_markup("<strong>Vec</strong><T> &amp; <br/>Box") == "Vec<T> & Box"
    assert one_line("a\x1b[31m\u202eb\n\u200bc") == "ab c"


@pytest.mark.parametrize("engine", HTML_ENGINES)
def test_unknown_class_names_are_parsed_by_headings(engine: str) -> None:
    page = "".join(
        f'<div class="q{n}"><div><a href="{r.url}"><h2 class="z">{r.title}</h2></a></div>'
        f'<div class="y">{r.snippet.replace("<", "&lt;")}</div></div>'
        for n, r in enumerate(ROWS)
    )

    read = parse_results(engine, f'<html><body><div id="results">{page}</div></body></html>')

    assert read.outcome is Outcome.OK
    assert [(r.url, r.title, r.snippet) for r in read.results] == list(ROWS)


@pytest.mark.parametrize("engine", HTML_ENGINES)
def test_unrecognized_page_is_an_error_not_empty(engine: str) -> None:
    page = '<html><body><div id="results"><a href="/a">a</a></div><p>Welcome!</p></body></html>'

    read = parse_results(engine, page)

    assert read.outcome is Outcome.ERROR
    assert "layout" in read.detail


@pytest.mark.parametrize("engine", HTML_ENGINES)
@pytest.mark.parametrize(
    "wall",
    [
        '<title>Just a moment...</title><div id="cf-wrapper"></div>',
        '<form id="captcha-form" action="index"><div class="g-recaptcha"></div></form>',
        '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"></form>',
        '<form method="POST" action="/checkcaptcha?key=1"><input type="submit"></form>',
        "<title>PoW Captcha - Search</title><p>One moment</p>",
        "<p>Our systems have detected unusual traffic from your computer network.</p>",
        "<p>Your network appears to be sending automated queries.</p>",
        '<form action="https://consent.engine.example/save"><button>Accept</button></form>',
    ],
)
def test_block_pages_are_parsed_as_blocked(engine: str, wall: str) -> None:
    assert parse_results(engine, f"<html><body>{wall}</body></html>").outcome is Outcome.BLOCKED


def test_google_script_only_page_is_blocked() -> None:
    shell = '<html><body><noscript><a href="/httpservice/retry/enablejs?sei=1">x</a></noscript>'

    assert parse_results("google", shell).outcome is Outcome.BLOCKED
    assert parse_results("google", f"{shell}{results_page('google')}").outcome is Outcome.OK


def test_result_mentioning_captcha_or_error_is_still_a_result() -> None:
    rows = (
        ROWS[0]._replace(
            title="Error: unusual traffic - captcha explained", snippet="TypeError 429"
        ),
    )
    for engine in ("bing", "google", "duckduckgo", "serper", "searxng"):
        read = parse_results(engine, results_page(engine, rows))
        assert read.outcome is Outcome.OK
        assert read.results[0].title == rows[0].title


def test_opaque_google_links_keep_their_wrapper() -> None:
    sealed = [f"https://www.google.com/goto?url=CAES{n}" for n in range(2)]
    page = "".join(f'<div><a href="{url}"><h3>Title</h3></a></div>' for url in sealed)

    read = parse_results("google", f'<html><body><div id="rso">{page}</div></body></html>')

    assert [r.url for r in read.results] == sealed


@pytest.mark.parametrize(
    ("engine", "status", "body", "outcome"),
    [
        ("serper", 400, '{"message":"Not enough credits","statusCode":400}', Outcome.QUOTA),
        ("serper", 403, '{"message":"Unauthorized.","statusCode":403}', Outcome.UNAUTHORIZED),
        ("tavily", 432, '{"detail":{"error":"exceeds your plan"}}', Outcome.QUOTA),
        ("tavily", 401, '{"detail":{"error":"invalid API key."}}', Outcome.UNAUTHORIZED),
        ("brave_api", 422, '{"error":{"detail":"token is invalid."}}', Outcome.UNAUTHORIZED),
        ("brave_api", 429, '{"error":{"code":"RATE_LIMITED"}}', Outcome.RATE_LIMITED),
        ("stackexchange", 400, '{"error_name":"throttle_violation"}', Outcome.RATE_LIMITED),
        ("serper", 200, '{"message":"rate limit exceeded"}', Outcome.RATE_LIMITED),
        ("serper", 200, '{"answerBox":{}}', Outcome.ERROR),
        ("wikipedia", 200, '{"error":{"code":"x","info":"y"}}', Outcome.ERROR),
        ("duckduckgo", 202, "<html></html>", Outcome.BLOCKED),
        ("bing", 503, "<html>busy</html>", Outcome.ERROR),
        ("mojeek", 403, "<html>no</html>", Outcome.BLOCKED),
    ],
)  # fmt: skip
def test_engine_refusals_map_to_outcomes(
    engine: str, status: int, body: str, outcome: Outcome
) -> None:
    assert parse_results(engine, body, status).outcome is outcome


@pytest.mark.parametrize("engine", ENGINES)
@given(body=st.one_of(st.text(max_size=300), st.binary(max_size=300)))
@pytest.mark.sample(6)
def test_parse_results_never_raises_or_invents_results(engine: str, body: str | bytes) -> None:
    read = parse_results(engine, body)

    assert read.outcome is not Outcome.OK or read.results


@given(st.text(max_size=200))
def test_unwrap_target_handles_any_url(url: str) -> None:
    real = unwrap_target(url)

    assert (
        not real
        or real.startswith(("http:", "https:", "file:", "HTTP", "Http", "hTTp"))
        or ":" in real
    )
    same_page_key(url)


def test_duckduckgo_script_only_page_is_blocked() -> None:
    shell = (
        "<html><body><div id=links></div><script>DDG.deep.initialize('/d.js?q=eel')</script></body>"
    )
    assert parse_results("duckduckgo", shell).outcome is Outcome.BLOCKED


def test_engine_can_be_declared_by_css_selectors() -> None:
    line = "https://find.example/s?q={query}#item=li.hit&url=h3 a&title=h3&snippet=p.said"
    [engine] = build_providers(["mine"], declared=[Declaration.parse("mine", line)], keys={})
    page = engine.read(
        "<ul><li class=hit><h3><a href='/go/1'>Eels</a></h3><p class=said>They swim.</p></li>"
        "<li class=ad><h3><a href='https://ad.example'>Buy</a></h3></li></ul>"
    )
    assert [(hit.url, hit.title, hit.snippet) for hit in page.results] == [
        ("https://find.example/go/1", "Eels", "They swim.")
    ]
    assert engine.request(SearchQuery("two eels")).url == "https://find.example/s?q=two%20eels"


def test_brave_video_cards_and_sitelinks_are_dropped() -> None:
    page = parse_results(
        "brave",
        """<div id=results><div class=snippet data-type=web data-pos=1>
        <a href=https://elm.example/><div class=snippet-title>Port Elm</div></a>
        <div class=snippet-description>The tides at Port Elm.</div>
        <div class=result-cluster><div class=snippet><a href=https://elm.example/pier>Pier</a></div>
        </div></div><div class="snippet standalone" data-pos=2><div class=video-cluster-grid>
        <a href=https://video.example/7><div class=title>Port Elm at dawn</div></a></div>
        </div></div>""",
    )
    found = [(result.url, result.snippet) for result in page.results]
    assert found == [("https://elm.example/", "The tides at Port Elm.")]


@pytest.mark.parametrize("engine", ["bing", "yandex", "mojeek", "startpage"])
@pytest.mark.parametrize(
    "words",
    ["Não há resultados para gaivotas", "По вашему запросу ничего не найдено", "見つかりません"],
)
def test_page_without_results_is_empty_in_any_language(engine: str, words: str) -> None:
    box = "<form><input name=q value='gulls'></form><a href='/privacy'>Privacy</a>"
    page = f"<html><body>{box}<main><h1>{words}</h1></main>"
    other = "<a href='https://legal.example/terms'>Terms</a></body></html>"
    assert parse_results(engine, page + other).outcome is Outcome.EMPTY
    links = "".join(f"<a href='https://s{n}.example{n}.org/'>Gulls {n}</a>" for n in range(5))
    assert parse_results(engine, page + links).outcome is Outcome.ERROR


def test_unresponsive_searxng_engines_are_reported() -> None:
    silent = '"unresponsive_engines": [["google", "CAPTCHA"], ["bing", "too many requests"]]'
    nothing = parse_results("searxng", f'{{"results": [], {silent}}}')
    assert nothing.outcome is Outcome.RATE_LIMITED
    assert "google (CAPTCHA)" in nothing.detail
    row = '{"url": "https://a.example/", "title": "A", "content": "b"}'
    found = parse_results("searxng", f'{{"results": [{row}], {silent}}}')
    assert (found.outcome, "bing" in found.detail) == (Outcome.OK, True)
    assert parse_results("searxng", '{"results": []}').outcome is Outcome.EMPTY


def test_crossref_result_without_abstract_shows_authors_and_journal() -> None:
    body = json.loads(results_page("crossref", ROWS[:1]))
    work = body["message"]["items"][0]
    del work["abstract"]
    work["author"] *= 5
    (result,) = parse_results("crossref", json.dumps(body)).results
    assert (result.snippet, result.published) == ("Rower, Rower, Rower, Waters", "2024-05-03")
