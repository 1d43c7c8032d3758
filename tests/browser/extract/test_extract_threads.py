"""Conversations: every post is read, whatever the forum is built of."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.extract import extract

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://example.org/thread/7"
SAID = [
    "The back wall is wet up to about a metre although the gutters are new and the ground was dug away.",
    "Tape a sheet of glass to the plaster for a week and look on which side of it the water sits.",
    "Nine times out of ten it is cement in the joints that traps the rain behind the stone.",
]


def boxes(said: list[str]) -> str:
    """A forum of nested boxes, with ranks, counts, dates and signatures."""
    return "".join(
        f"<div class='post bg{n % 2}' id='p{n}'><div class=side><a class=username href='/members/{n}'>Member {n}</a>"
        f"<p>Posts: {n * 37}</p></div><div class=main><p class=meta>by <b>Member {n}</b> on 0{n}.02.2021</p>"
        f"<div class=content>{text}</div><div class=sig>Nothing at all lasts as long as good Welsh slate does</div></div></div>"
        for n, text in enumerate(said, 1)
    )


def table(said: list[str]) -> str:
    """A forum of bare table rows, as they were built twenty years ago."""
    rows = "".join(
        f"<tr><td><a href='profile.php?u={n}'>Member {n}</a><br>Posted: {n} March 2004</td><td>{text}</td></tr>"
        for n, text in enumerate(said, 1)
    )
    return f"<table cellpadding=4><tr><td colspan=2><table><tr><td>Walls</td></tr></table></td></tr>{rows}</table>"


def question(said: list[str]) -> str:
    """A question and its answers, which do not stand in the same box."""
    asked, *answers = [
        f"<div class=prose><p>{text}</p></div><div class=user-info>said Mar {n}, 2019 <a href='/users/{n}'>Member {n}</a></div>"
        for n, text in enumerate(said, 1)
    ]
    given = "".join(f"<div class=answer><b>31</b>{answer}</div>" for answer in answers)
    return f"<div id=question><b>17</b>{asked}</div><div id=answers><h2>2 Answers</h2>{given}</div>"


def guest_book(said: list[str]) -> str:
    """A guest book that writes the day into the box of what was said."""
    rows = "".join(
        f"<tr><td><b><a href='profil.php?user={n}'>Member {n}</a></b><br>12 posts</td><td><i>written on 0{n}.03.2005 at 18:0{n}</i><hr>{text}</td></tr>"
        for n, text in enumerate(said, 1)
    )
    return f"<table border=1 width=90%>{rows}</table>"


@pytest.mark.parametrize("forum", [boxes, table, question, guest_book])
def test_every_post_of_a_thread_is_kept(forum: Callable[[list[str]], str]) -> None:
    said = [f"{text} Said the mason of house {n}." for n in range(3) for text in SAID]
    page = f"<title>Damp wall</title><h1>Damp wall</h1>{forum(said)}<p>Users browsing this forum: none</p>"
    text = extract(page, URL).text
    assert [line for line in said if line not in text] == []


def test_a_quote_from_elsewhere_stays() -> None:
    cited = "A wall that cannot breathe will drown, as the old masons used to say."
    page = f"<h1>Damp wall</h1>{boxes([SAID[0], f'<blockquote>{cited}</blockquote>{SAID[1]}'])}"
    assert cited in extract(page, URL).text


def test_a_list_of_articles_with_authors_and_dates_is_no_thread() -> None:
    entries = "".join(
        f"<div class=entry><h2><a href='/{n}'>How to mend the wall number {n}</a></h2><span class=author>Ada Holm</span>"
        f" <span>{n} May 2024</span><div class=excerpt>{text}</div></div>"
        for n, text in enumerate(SAID, 1)
    )
    text = extract(f"<h1>All articles</h1>{entries}", URL).text
    assert all(f"How to mend the wall number {n}" in text for n in (1, 2, 3))


def test_a_list_of_entries_whose_headlines_lead_nowhere_is_no_thread() -> None:
    entries = "".join(
        f"<div class=entry><h3>Mending the wall number {n}</h3><span class=author>Ada Holm</span>"
        f" <span>{n} May 2024</span><div class=excerpt>{text}</div><a href='/{n}'>more</a></div>"
        for n, text in enumerate(SAID, 1)
    )
    text = extract(f"<h1>All articles</h1>{entries}", URL).text
    assert all(f"Mending the wall number {n}" in text for n in (1, 2, 3))


def test_a_thing_above_its_reviews_is_kept() -> None:
    rows = "".join(f"<li>Feature {n}: made of wood, glass and wool</li>" for n in range(12))
    text = extract(f"<h1>Blanket</h1><ul>{rows}</ul><p>89 pounds</p>{boxes(SAID)}", URL).text
    assert "Feature 11" in text
    assert "89 pounds" in text


def test_an_article_with_its_comments_is_no_thread() -> None:
    body = "".join(
        f"<p>The museum keeps model {n} of the old lighthouse, which burned down.</p>"
        for n in range(4)
    )
    text = extract(f"<h1>The lighthouse</h1><div>{body}</div>{boxes(SAID)}", URL).text
    assert "model 3 of the old lighthouse" in text


ENTRIES = [
    (
        "Bridge closed",
        "The road bridge over the estuary is closed until further notice, and lorries are held at the services.",
    ),
    (
        "Trees are down",
        "Two trees have fallen across the line, so that no train will run before the evening, the railway says.",
    ),
    (
        "Good morning",
        "The storm came ashore shortly after four in the morning, with rain and with winds of ninety miles an hour.",
    ),
]


def live_blog(entry: str) -> str:
    lead = "<p>All that happened on the day of the storm, told by those who were there on the coast.</p>"
    told = "".join(entry.format(n=n, title=t, text=x) for n, (t, x) in enumerate(ENTRIES, 1))
    more = "<section><h2>More</h2><p>Ten ways to wrap a present when the paper has run out.</p></section>"
    return f"<meta property='og:type' content='article'><h1>Storm</h1>{lead}<div>{told}</div>{more}"


@pytest.mark.parametrize(
    "entry",
    [
        "<article class='b1'><header><a href='#{n}'>1{n}.05 GMT</a><h2>{title}</h2></header><p>{text}</p></article>",
        "<li class=item><div class=meta><time>1{n}:41 Uhr</time><span>Jana Berg</span></div><div class=text><h3>{title}</h3><p>{text}</p></div></li>",
    ],
)
def test_of_a_live_blog_the_lead_and_every_entry_with_its_headline_are_kept(entry: str) -> None:
    text = extract(live_blog(entry), URL).text
    assert text.startswith("All that happened on the day")
    assert all(title in text and line in text for title, line in ENTRIES)
