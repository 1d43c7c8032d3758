"""LinkedIn: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.extract.platforms import parse_platform
from tests.browser.extract.platforms.reading import parsed


def test_linkedin_article() -> None:
    page = """<h1>Harbours</h1><div class=base-main-card><h3>Ann Rower</h3><h4>Harbour master</h4><a href="https://de.linkedin.com/in/ann-rower?trk=x">x</a><div class=base-main-card__metadata>Published Dec 19, 2023</div></div>
    <div class=article-content__body><p>Deep water.</p></div><span class=social-counts-reactions__social-counts-numRections>361</span><a class=social-action-counts__social-counts-item>48 Comments</a>
    <section class=comment><a class=comment__actor-name href="https://www.linkedin.com/in/bo">Bo</a><span class=comment__message>Yes.</span><span class=comment__likes-count>6 Likes</span></section>"""
    article = parsed("https://www.linkedin.com/pulse/harbours-ann-rower", page)
    assert (article.title, article.text, article.author, article.handle) == (
        "Harbours",
        "Deep water.",
        "Ann Rower",
        "ann-rower",
    )
    assert (article.published, article.counts) == ("2023-12-19", {"likes": 361, "replies": 48})
    assert [(c.author, c.text, c.counts) for c in article.items] == [("Bo", "Yes.", {"likes": 6})]


def test_the_wall_is_no_record() -> None:
    assert (
        parse_platform("https://www.linkedin.com/in/ann", "<h1>Join LinkedIn</h1><form></form>")
        is None
    )
