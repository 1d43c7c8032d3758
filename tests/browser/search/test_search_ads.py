"""Advertisements are recognised by their labels; what only mentions advertisements is kept."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.search import parse_results

AD = "https://sponsor.example/buy"
FOUND = [f"https://site{n}.example/page" for n in range(4)]


def block(url: str, title: str, beside: str = "") -> str:
    snippet = "The lighthouse on the north pier was first lit in 1867 and is open on Sundays."
    return f"<div class=a><div><a href='{url}'><h3>{title}</h3></a></div>{beside}<div class=b>{snippet}</div></div>"


def results(*, first: str = "", last: str = "", beside: str = "", title: str = "Page") -> list[str]:
    """Return what is read from four results with something before, after or beside them."""
    rows = "".join(block(url, f"{title} {n}", beside) for n, url in enumerate(FOUND))
    page = f"<div id=rso>{first}{rows}{last}</div>"
    return [result.url for result in parse_results("google", page).results]


@pytest.mark.parametrize(
    "label",
    [
        "<span>Sponsored</span>",
        "<button>Ad</button>",
        "<a href='/about-ads'>Gesponsert</a>",
        "<small>Anzeige</small>",
        "<span>Sponsored · sponsor.example</span>",
        "<span><i></i>Sponsored<i>:</i></span>",
        "<span><span>Sp</span><span>onso</span><span>red</span></span>",
    ],
)
def test_labelled_result_is_dropped_as_ad(label: str) -> None:
    assert results(first=block(AD, "Buy now", label)) == FOUND


@pytest.mark.parametrize(
    "beside",
    [
        "<p>How <b>ads</b> pay for the web</p>",
        "<p><b>Ads</b> are everywhere, it seems</p>",
        "<cite>site.example › ads</cite>",
    ],
)
def test_bold_word_in_snippet_is_not_an_ad_label(beside: str) -> None:
    assert results(beside=beside) == FOUND


def test_ad_word_as_title_is_not_an_ad_label() -> None:
    page = f"<div id=rso>{block(FOUND[0], 'Advertisement')}{block(FOUND[1], 'Anzeige')}</div>"
    assert [r.url for r in parse_results("google", page).results] == FOUND[:2]
