"""Conversations: every post is read, however the forum is built."""

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
    """A forum built from nested boxes, with ranks, counts, dates and signatures."""
    return "".join(
        f"<div class='post bg{n % 2}' id='p{n}'><div class=side><a class=username href='/members/{n}'>Member {n}</a>"
        f"<p>Posts: {n * 37}</p></div><div class=main><p class=meta>by <b>Member {n}</b> on 0{n}.02.2021</p>"
        f"<div class=content>{text}</div><div class=sig>Nothing at all lasts as long as good Welsh slate does</div></div></div>"
        for n, text in enumerate(said, 1)
    )


def table(said: list[str]) -> str:
    """A forum built from bare table rows, as twenty years ago."""
    rows = "".join(
        f"<tr><td><a href='profile.php?u={n}'>Member {n}</a><br>Posted: {n} March 2004</td><td>{text}</td></tr>"
        for n, text in enumerate(said, 1)
    )
    return f"<table cellpadding=4><tr><td colspan=2><table><tr><td>Walls</td></tr></table></td></tr>{rows}</table>"


def question(said: list[str]) -> str:
    """A question and its answers, which are not in the same box."""
    asked, *answers = [
        f"<div class=prose><p>{text}</p></div><div class=user-info>said Mar {n}, 2019 <a href='/users/{n}'>Member {n}</a></div>"
        for n, text in enumerate(said, 1)
    ]
    given = "".join(f"<div class=answer><b>31</b>{answer}</div>" for answer in answers)
    return f"<div id=question><b>17</b>{asked}</div><div id=answers><h2>2 Answers</h2>{given}</div>"


def guest_book(said: list[str]) -> str:
    """A guest book with the date in the same box as the entry."""
    rows = "".join(
        f"<tr><td><b><a href='profil.php?user={n}'>Member {n}</a></b><br>12 posts</td><td><i>written on 0{n}.03.2005 at 18:0{n}</i><hr>{text}</td></tr>"
        for n, text in enumerate(said, 1)
    )
    return f"<table border=1 width=90%>{rows}</table>"


@pytest.mark.parametrize("forum", [boxes, table, question, guest_book])
def test_every_post_in_thread_is_kept(forum: Callable[[list[str]], str]) -> None:
    said = [f"{text} Said the mason of house {n}." for n in range(3) for text in SAID]
    page = f"<title>Damp wall</title><h1>Damp wall</h1>{forum(said)}<p>Users browsing this forum: none</p>"
    text = extract(page, URL).text
    assert [line for line in said if line not in text] == []


def test_quote_from_outside_thread_is_kept() -> None:
    cited = "A wall that cannot breathe will drown, as the old masons used to say."
    page = f"<h1>Damp wall</h1>{boxes([SAID[0], f'<blockquote>{cited}</blockquote>{SAID[1]}'])}"
    assert cited in extract(page, URL).text


def test_article_list_with_authors_and_dates_is_not_a_thread() -> None:
    entries = "".join(
        f"<div class=entry><h2><a href='/{n}'>How to mend the wall number {n}</a></h2><span class=author>Ada Holm</span>"
        f" <span>{n} May 2024</span><div class=excerpt>{text}</div></div>"
        for n, text in enumerate(SAID, 1)
    )
    text = extract(f"<h1>All articles</h1>{entries}", URL).text
    assert all(f"How to mend the wall number {n}" in text for n in (1, 2, 3))


def test_list_with_unlinked_headlines_is_not_a_thread() -> None:
    entries = "".join(
        f"<div class=entry><h3>Mending the wall number {n}</h3><span class=author>Ada Holm</span>"
        f" <span>{n} May 2024</span><div class=excerpt>{text}</div><a href='/{n}'>more</a></div>"
        for n, text in enumerate(SAID, 1)
    )
    text = extract(f"<h1>All articles</h1>{entries}", URL).text
    assert all(f"Mending the wall number {n}" in text for n in (1, 2, 3))


def test_product_details_above_reviews_are_kept() -> None:
    rows = "".join(f"<li>Feature {n}: made of wood, glass and wool</li>" for n in range(12))
    text = extract(f"<h1>Blanket</h1><ul>{rows}</ul><p>89 pounds</p>{boxes(SAID)}", URL).text
    assert "Feature 11" in text
    assert "89 pounds" in text


def test_article_with_comments_is_not_a_thread() -> None:
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
def test_live_blog_keeps_lead_and_entries_with_headlines(entry: str) -> None:
    text = extract(live_blog(entry), URL).text
    assert text.startswith("All that happened on the day")
    assert all(title in text and line in text for title, line in ENTRIES)


def phpbb(said: list[str]) -> str:
    """Posts with their author's profile beside them, and a signature below."""
    return "".join(
        f"<div id=p{n}7 class='post bg{n % 2}'><dl class=postprofile><dt><a href='./memberlist.php?u={n}' class=username>Member {n}</a></dt>"
        f"<dd>Posts: {n}4</dd><dd>Joined: Sat Jan 0{n}, 2011</dd></dl><div class=postbody><ul><li><a href=q>Quote</a></li></ul>"
        f"<p class=author>by <a href='./memberlist.php?u={n}'>Member {n}</a> <time datetime='2021-02-0{n}T16:15:00+00:00'>today</time></p>"
        f"<div class=content>{text}</div></div></div>"
        for n, text in enumerate(said, 1)
    )


def vbulletin(said: list[str]) -> str:
    """Posts as list items, with the day above and the author to the left."""
    rows = "".join(
        f"<li class='postbit old' id=post_94{n}><span class=date>0{n}.02.2021</span><a class=username href='member.php?{n}'>Member {n}</a>"
        f"<div>Registered</div><blockquote>{text}</blockquote><a href=r>Reply with quote</a></li>"
        for n, text in enumerate(said, 1)
    )
    return f"<ol id=posts>{rows}</ol>"


def numeric(said: list[str]) -> str:
    """Posts with name, rank and counts in one box, a letter as the picture, and numeric dates."""
    return "".join(
        f"<div class='post classic' id=post_7{n}><div class=post_author><a class=avatar href='member.php?uid={n}'>M</a>"
        f"<a href='member.php?uid={n}'>Member {n}</a><br>Senior<br>Posts: 1,2{n}4<br>Joined: Jan 2011</div>"
        f"<div class=post_content><span class=post_date>02-0{n}-2021, 09:15 AM</span><div class=post_body id=pid_{n}>{text}</div></div></div>"
        for n, text in enumerate(said, 1)
    ).replace("02-04-2021", "02-14-2021")


@pytest.mark.parametrize("board", [phpbb, vbulletin, boxes, numeric])
def test_each_post_follows_its_author_and_date(board: Callable[[list[str]], str]) -> None:
    said = [SAID[0], "Done on 2021-02-02.", *SAID[1:]]
    listed = f"{said[2]}<ul><li>in front: damp air</li></ul>"  # a line that is not a sentence
    text = extract(f"<h1>Damp wall</h1>{board([*said[:2], listed, *said[3:]])}", URL).text
    said.insert(3, "in front: damp air")
    places = [text.index(post) for post in said]
    assert places == sorted(places)
    for n, post in zip((1, 2, 3, 3, 4), said, strict=True):
        head = text[: text.index(post)].rpartition("Member ")[2]
        assert head.startswith((f"{n}, 2021-02-0{n}", f"{n}, 2021-02-14"))
    assert "Quote" not in text
    assert "Joined" not in text


SHOP = "<div class=shop><ul>{}</ul></div>"
GOODS = "<li class='product post-{0}'><a href=/p/{0}><img src=a{0}.jpg alt='Lamp {0}'><h2>Lamp of {0} watts</h2></a><a href=/p/{0}><h2>Lamp of {0} watts</h2><span class=price><del>£{0}9.00</del> <ins>£{0}5.00</ins></span></a></li>"
RANKING = "<article class=Box-row><h2><a href=/o/r{0}>owner / repo{0}</a></h2><p>A tool that does the thing number {0} very quickly indeed.</p><div>Rust <a href=s>1,2{0}4</a></div></article>"


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        (SHOP.format("".join(map(GOODS.format, range(1, 9)))), "- Lamp of 3 watts\n  £35.00"),
        ("<main>" + "".join(map(RANKING.format, range(1, 9))) + "</main>", "- owner / repo3\n  A tool that does the thing number 3 very quickly indeed.\n  Rust 1,234"),
    ],
)  # fmt: skip
def test_listing_entries_are_complete_and_separate(page: str, wanted: str) -> None:
    frame = "<footer>Delivery is free. All prices include tax. We are in Dorset every day.</footer>"
    links = "".join(f"<li><a href=/f{n}>Colour {n}</a></li>" for n in range(3))
    filters = f"<div><ul>{links}<li>Brass (2)</li></ul></div>"
    document = extract(f"<h1>All of them</h1>{filters}{page}{frame}", "https://example.org/all")
    assert "Colour 1" in document.text  # a question may be about the links beside the entries
    assert "Brass (2)" in document.text
    assert wanted in document.text
    assert "Dorset" not in document.text
    assert document.text.index(" 1") < document.text.index(" 8")


def test_old_prices_are_struck_through_in_markdown_and_absent_from_text() -> None:
    document = extract(SHOP.format("".join(map(GOODS.format, range(1, 9)))), URL)
    assert "£39.00" not in document.text
    assert "~~£39.00~~ £35.00" in document.markdown
    assert "![Lamp 3](https://example.org/thread/a3.jpg)" in document.markdown


_NAMES = ["marlstone", "Limewash Len", "old_tiler"]
PHPBB = "<div class='post bg1'><dl class=postprofile><dt><a href='./memberlist.php?u=2' class=username>{who}</a></dt><dd>Posts: 37</dd></dl><div class=postbody><p class=author>by <a class=username href=x>{who}</a> » <time datetime='2021-02-0{n}T18:22:00+00:00'>Feb 0{n}, 2021</time></p><div class=content>{said}</div><div class=signature>Nothing lasts</div></div></div>"
XENFORO = "<article class='message message--post' data-author='{who}'><div class=message-user><h4><a class=username href='/members/{n}/'>{who}</a></h4></div><div class=message-main><time datetime='2021-02-0{n}T18:22:00+00:00'>Feb {n}, 2021</time><article class=message-body><div class=bbWrapper>{said}</div></article></div></article>"
VBULLETIN = "<table id=post{n}><tr><td class=thead>0{n}.02.2021, 21:40</td></tr><tr><td class=alt2><a class=bigusername href='member.php?u={n}'>{who}</a></td></tr><tr><td class=alt1 id=td_post_{n}><div id=post_message_{n}>{said}</div></td></tr></table>"
_FORUM_TEMPLATES = {"phpBB": PHPBB, "XenForo": XENFORO, "vBulletin": VBULLETIN}


@pytest.mark.parametrize("make", _FORUM_TEMPLATES)
def test_forum_software_posts_follow_author_and_date(make: str) -> None:
    posts = "".join(
        _FORUM_TEMPLATES[make].format(n=n, who=who, said=said)
        for n, (who, said) in enumerate(zip(_NAMES, SAID, strict=True), 1)
    )
    page = f"<title>Damp wall - Stonehouse</title><h1>Stonehouse</h1><h2>Damp wall</h2><div>{posts}</div>"
    blocks = extract(page, "https://forum.example/viewtopic.php?t=7").text.split("\n\n")[2:]
    assert [line.partition(", ")[0] for line in blocks[::2]] == _NAMES
    assert [line.partition(", ")[2][:10] for line in blocks[::2]] == [
        "2021-02-01", "2021-02-02", "2021-02-03",
    ]  # fmt: skip
    assert blocks[1::2] == SAID


@pytest.mark.parametrize("tag", ["li", "div"])
def test_posts_with_a_class_of_their_own_stay_in_place_and_signatures_are_left_out(
    tag: str,
) -> None:
    says = [*SAID, "It is done now, thanks."]
    posts = "".join(
        f"<{tag} class='{'starter' if n % 2 else 'guest'} post'><a class=username href='/user/{n}'>Member {n}</a>"
        f"<time datetime='2021-02-0{n}'>Feb</time><blockquote class=said>{said}</blockquote><blockquote class=signature>Nr. {n} lasts</blockquote></{tag}>"
        for n, said in enumerate(says, 1)
    )
    notice = "<p>Members may answer here after they have confirmed their address by mail.</p>"
    document = extract(f"<h1>Damp wall</h1><section>{posts}</section>{notice}", URL)
    parts = document.markdown.split("\n\n")[1:]
    heads = [f"**Member {n}, 2021-02-0{n}:**" for n in range(1, len(says) + 1)]
    assert parts[: 2 * len(says)] == [x for pair in zip(heads, says, strict=True) for x in pair]
    assert parts[2 * len(says)] == "**Outside the posts:**"
    assert f"{len(says)} quotes" in " ".join(document.notes)


def test_quotes_built_from_other_elements_are_quotes_with_their_author() -> None:
    cited = "<div class=bbcode_container><div class=bbcode_quote><div>Originally posted by <b>Len</b></div><div class=message>Wait a week.</div></div></div>"
    wrapped = "<blockquote><div><cite><b>Len</b> wrote:<span>Monday</span></cite>Wait a week.</div></blockquote>"
    posts = "".join(
        f"<li class=post id=p{n}><div class=author itemprop=author><a href='/user/{n}'><b itemprop=name>Member {n}</b></a> Joined: Jan 2011</div>"
        f"<time datetime='2021-02-0{n}'>Feb</time><{tag} class=said>{quote}{said}</{tag}></li>"
        for n, (tag, quote, said) in enumerate(
            zip(("div", "blockquote", "div"), (cited, cited, wrapped), SAID, strict=True), 1
        )
    )
    document = extract(f"<h1>Damp wall</h1><ol>{posts}</ol>", URL)
    given = "> Originally posted by **Len**\n\n> Wait a week."
    parts = [given, given, "> **Len** wrote:Monday\n> Wait a week."]
    assert document.author == "Member 1"
    for n, (part, said) in enumerate(zip(parts, SAID, strict=True), 1):
        assert f"**Member {n}, 2021-02-0{n}:**\n\n{part}\n\n{said}" in document.markdown


def test_two_posts_in_tables_are_told_from_poll_readers_and_profiles() -> None:
    posts = "".join(
        f"<table class=box><tr><td><b class=postauthor>Member {n}</b></td><td><div class=toolbar>Posted: 2016-01-0{n}</div></td></tr>"
        f"<tr><td><div>Joined: July 2012</div></td><td><table><tr><td><div class=postbody><div class=quotetitle>Len wrote:</div>{said}</div></td></tr></table></td></tr></table>"
        for n, said in enumerate(SAID[:2], 1)
    )
    poll = "<table class=box><tr><td><p class=author>You may select <b>1</b> option</p></td></tr></table>"
    readers = "<table class=box><tr><td>Who is online</td></tr></table><table class=box><tr><td>Now: <a href='/user/9'>Google</a></td></tr></table>"
    document = extract(f"<h1>Damp wall</h1><div>{poll}{posts}{readers}</div>", URL)
    assert document.text.endswith(
        "\n\n".join(
            f"Member {n}, 2016-01-0{n}:\n\nLen wrote:\n\n{said}"
            for n, said in enumerate(SAID[:2], 1)
        )
    )


def test_thread_on_page_that_declares_an_article_is_read_as_posts() -> None:
    declared = "<meta property='og:type' content='article'>"
    text = extract(f"{declared}<h1>Damp wall</h1>{phpbb(SAID)}", URL).text
    for n, said in enumerate(SAID, 1):
        assert f"Member {n}, 2021-02-0{n}T16:15:00+00:00:\n\n{said}" in text
    lead = f"<p>{SAID[0]} So says the report that the town published on Monday.</p>"
    text = extract(f"{declared}<h1>Damp wall</h1>{lead}{phpbb(SAID)}", URL).text
    assert "Outside the posts" not in text
    assert "Member 1, 2021-02-01" not in text
