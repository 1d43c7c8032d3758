"""Each engine's answers about invented things, in that engine's format."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from browser.search import engines

ENGINES = (*engines.ENGINES, "github", "hackernews", "reddit", "stackexchange")
"""The built-in ones, and those from the plug-in package."""


class Row(NamedTuple):
    url: str
    title: str
    snippet: str


ROWS = (
    Row(
        "https://tides.example/almanac", "Tide almanac & tables", "High water at Port Elm is 3.2 m."
    ),
    Row(
        "https://elm.example/a?b=1&c=2",
        "Port Elm – Harbour",
        "The harbour was dug in 1804 <by hand>.",
    ),
    Row(
        "https://gulls.example/x%20y", "Gulls of the coast", "Three kinds of gull nest on the mole."
    ),
)
AD = "https://ads.example/buy-now"


def results_page(engine: str, rows: tuple[Row, ...] = ROWS) -> str:
    """A normal answer with these results, with an advertisement if the engine has them."""
    return _PAGES[engine](rows)


def empty_page(engine: str) -> str:
    """A genuine "nothing found" answer."""
    said = {
        "duckduckgo": '<div id="links"><div class="no-results">No results.</div></div>',
        "duckduckgo_lite": "<table><tr><td>No results.</td></tr></table>",
        "brave": '<div id="results"><p>Too few matches were found.</p></div>',
        "mojeek": "<p>No pages found matching that query.</p>",
        "startpage": "<p>There were no results found for that query.</p>",
        "bing": '<ol id="b_results"><li class="b_no">There are no results for that.</li></ol>',
        "yandex": "<div class=misspell__message>По вашему запросу ничего не нашлось</div>",
        "google": '<div id="search"></div><p>Your search did not match any documents.</p>',
    }
    if engine in said:
        return f"<html><body><a href='/help'>Help</a>{said[engine]}</body></html>"
    if engine == "brave_api":
        return json.dumps({"query": {"original": "x"}, "mixed": {"main": []}})
    return results_page(engine, ())


def _html(body: str) -> str:
    return f"<!doctype html><html><head><title>results</title></head><body>{body}</body></html>"


def _duckduckgo(rows: tuple[Row, ...]) -> str:
    def item(row: Row, kind: str = "", link: str = "") -> str:
        href = link or f"//duckduckgo.com/l/?uddg={quote(row.url, safe='')}&amp;rut=abc"
        return (
            f'<div class="result results_links web-result {kind}"><h2 class="result__title">'
            f'<a class="result__a" href="{href}">{escape(row.title)}</a></h2>'
            f'<a class="result__snippet" href="{href}">{_bold(row.snippet)}</a></div>'
        )

    ad = item(Row(AD, "Buy now", "Cheap"), "result--ad", "https://duckduckgo.com/y.js?ad_domain=x")
    return _html(f'<div id="links">{ad if rows else ""}{"".join(map(item, rows))}</div>')


def _duckduckgo_lite(rows: tuple[Row, ...]) -> str:
    def item(row: Row) -> str:
        href = f"//duckduckgo.com/l/?uddg={quote(row.url, safe='')}"
        return (
            f'<tr><td>1.</td><td><a class="result-link" href="{href}">{escape(row.title)}</a></td>'
            f'</tr><tr><td></td><td class="result-snippet">{_bold(row.snippet)}</td></tr>'
            f'<tr><td></td><td><span class="link-text">x</span></td></tr>'
        )

    ad = (
        '<tr class="result-sponsored"><td>1.</td><td><a class="result-link" '
        'href="https://duckduckgo.com/y.js?u=1">Buy now</a></td></tr>'
    )
    return _html(f"<table>{ad}{''.join(map(item, rows))}</table>")


def _bing(rows: tuple[Row, ...]) -> str:
    def item(row: Row) -> str:
        sealed = base64.urlsafe_b64encode(row.url.encode()).decode().rstrip("=")
        href = f"https://www.bing.com/ck/a?!&amp;&amp;p=1&amp;u=a1{sealed}&amp;ntb=1"
        return (
            f'<li class="b_algo"><h2><a href="{href}">{escape(row.title)}</a></h2>'
            f'<div class="b_caption"><p>{_bold(row.snippet)}</p></div></li>'
        )

    ad = (
        f'<li class="b_ad"><ul><li class="b_algo"><span>Sponsored</span><h2><a href="{AD}">x</a>'
        "</h2></li></ul></li>"
    )
    return _html(f'<ol id="b_results">{ad}{"".join(map(item, rows))}</ol>')


def _google(rows: tuple[Row, ...]) -> str:
    def item(row: Row) -> str:
        href = f"/url?q={quote(row.url, safe=':/')}&amp;sa=U"
        return (
            f'<div class="g"><div><a href="{href}"><h3>{escape(row.title)}</h3><cite>x.example › y'
            f'</cite></a></div><div><div class="kx9Qz">{_bold(row.snippet)}</div></div></div>'
        )

    ad = f'<div id="tads"><div data-text-ad="1"><a href="{AD}"><h3>Buy now</h3></a></div></div>'
    return _html(f'{ad}<div id="search"><div id="rso">{"".join(map(item, rows))}</div></div>')


def _brave(rows: tuple[Row, ...]) -> str:
    def item(row: Row, kind: str = "web") -> str:
        return (
            f'<div class="snippet s-1" data-pos="1" data-type="{kind}"><a href="{escape(row.url)}">'
            f'<cite>x › y</cite><div class="title search-snippet-title">{escape(row.title)}</div>'
            '</a><div class="generic-snippet">'
            f'<div class="content">{_bold(row.snippet)}</div></div></div>'
        )

    ad = item(Row(AD, "Buy now", "Cheap"), "ad")
    return _html(f'<div id="results">{ad}{"".join(map(item, rows))}</div>')


def _mojeek(rows: tuple[Row, ...]) -> str:
    items = "".join(
        f'<li class="r1"><a class="ob" href="{escape(r.url)}"><p class="i">x › y</p></a><h2>'
        f'<a class="title" href="{escape(r.url)}">{escape(r.title)}</a></h2>'
        f'<p class="s">{_bold(r.snippet)}</p></li>'
        for r in rows
    )
    return _html(f'<ul class="results-standard">{items}</ul>')


def _startpage(rows: tuple[Row, ...]) -> str:
    items = "".join(
        f'<div class="result css-1"><a class="result-title result-link" href="{escape(r.url)}">'
        f'<h2 class="wgl-title">{escape(r.title)}</h2></a>'
        f'<p class="description">{_bold(r.snippet)}</p></div>'
        for r in rows
    )
    link = f'<a class="result-title" href="{AD}">x</a>'
    ad = f'<div class="sponsored"><div class="result">{link}</div></div>'
    return _html(f'<section class="w-gl">{ad}{items}</section>')


def _yandex(rows: tuple[Row, ...]) -> str:
    def item(row: Row, subtitle: str = "") -> str:
        toggle = '<span class="Link ExtendedText-Toggle">Скрыть</span>'
        return (
            '<li class="serp-item serp-item_card"><div class="Organic"><div class="OrganicTitle">'
            f'<a class="Link OrganicTitle-Link" href="{escape(row.url)}">'
            f'<h2 class="OrganicTitle-LinkText"><span>{escape(row.title)}</span></h2></a></div>'
            f'<div class="Organic-Subtitle">{subtitle}<a href="{escape(row.url)}">x › y</a>'
            '</div><div class="TextContainer OrganicText"><label class="ExtendedText">'
            f'<span class="ExtendedText-Short">{escape(row.snippet[:9])}... {toggle}</span>'
            f'<span class="ExtendedText-Full">{_bold(row.snippet)} {toggle}</span></label></div>'
            "</div></li>"
        )

    ad = item(Row(AD, "Buy now", "Cheap"), '<span class="label">Реклама</span>')
    return _html(f'<ul id="search-result">{ad if rows else ""}{"".join(map(item, rows))}</ul>')


def _arxiv(rows: tuple[Row, ...]) -> str:
    entries = "".join(
        f"<entry><id>{escape(r.url)}</id><title>{escape(r.title)}</title>"
        f"<summary>{escape(r.snippet)}</summary><published>2024-05-01T00:00:00Z</published></entry>"
        for r in rows
    )
    return f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'


def _openalex(rows: tuple[Row, ...]) -> str:
    def work(row: Row) -> dict[str, object]:
        index: dict[str, list[int]] = {}
        for position, word in enumerate(row.snippet.split()):
            index.setdefault(word, []).append(position)
        return {
            "display_name": row.title,
            "primary_location": {"landing_page_url": row.url},
            "abstract_inverted_index": index,
        }

    return json.dumps({"results": [work(row) for row in rows]})


def _crossref(rows: tuple[Row, ...]) -> str:
    """A reply in the form of https://api.crossref.org/works."""
    items = [
        {
            "DOI": "10.5555/12345678", "URL": row.url, "title": [row.title], "type": "book",
            "abstract": f"<jats:p>{escape(row.snippet)}</jats:p>", "container-title": ["Waters"],
            "author": [{"given": "Ann", "family": "Rower", "sequence": "first", "affiliation": []}],
            "issued": {"date-parts": [[2024, 5, 3]]}, "score": 31.2, "is-referenced-by-count": 4,
        }
        for row in rows
    ]  # fmt: skip
    message = {"total-results": len(items), "items-per-page": 10, "items": items}
    return json.dumps({"status": "ok", "message-type": "work-list", "message": message})


def _json(path: str, url: str, title: str, snippet: str, **beside: object) -> object:
    def page(rows: tuple[Row, ...]) -> str:
        data: object = [
            {url: r.url, title: escape(r.title), snippet: _bold(r.snippet)} for r in rows
        ]
        for step in reversed(path.split(".")):
            data = {step: data, **beside}
        return json.dumps(data)

    return page


def _wikipedia(rows: tuple[Row, ...]) -> str:
    hits = [
        {"title": r.title, "snippet": f'<span class="m">{escape(r.snippet)}</span>'} for r in rows
    ]
    return json.dumps({"batchcomplete": True, "query": {"search": hits}})


def _reddit(rows: tuple[Row, ...]) -> str:
    posts = [
        {"data": {"permalink": f"/r/x/comments/{n}/", "title": r.title, "selftext": r.snippet}}
        for n, r in enumerate(rows)
    ]
    return json.dumps({"data": {"children": posts}})


def _bold(text: str) -> str:
    first, _, rest = text.partition(" ")
    return f"<b>{escape(first)}</b> {escape(rest)}"


_PAGES = {
    "duckduckgo": _duckduckgo,
    "duckduckgo_lite": _duckduckgo_lite,
    "bing": _bing,
    "google": _google,
    "brave": _brave,
    "mojeek": _mojeek,
    "startpage": _startpage,
    "yandex": _yandex,
    "arxiv": _arxiv,
    "openalex": _openalex,
    "crossref": _crossref,
    "wikipedia": _wikipedia,
    "reddit": _reddit,
    "serper": _json("organic", "link", "title", "snippet", credits=1),
    "tavily": _json("results", "url", "title", "content"),
    "brave_api": _json("web.results", "url", "title", "description"),
    "searxng": _json("results", "url", "title", "content"),
    "github": _json("items", "html_url", "full_name", "description", total_count=3),
    "hackernews": _json("hits", "url", "title", "story_text"),
    "stackexchange": _json("items", "link", "title", "body"),
}
