"""Forums of any make: a thread's posts with who said them and when."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import pytest

from browser.extract.body import extract_body
from browser.extract.platforms import parse_platform
from tests.browser.extract.platforms.reading import parsed

URL = "https://forum.stonehouse.example.org/viewtopic.php?t=7"
SAID = [
    "The back wall is wet up to about a metre although the gutters are new and the ground was dug away.",
    "Tape a sheet of glass to the plaster for a week and look on which side of it the water sits.",
    "Nine times out of ten it is cement in the joints that traps the rain behind the stone.",
]
NAMES = ["marlstone", "Limewash Len", "old_tiler"]
PHPBB = "<div class='post bg1'><dl class=postprofile><dt><a href='./memberlist.php?u=2' class=username>{who}</a></dt><dd>Posts: 37</dd><dd>Joined: Tue Mar 01, 2011</dd></dl><div class=postbody><p class=author>by <a class=username href=x>{who}</a> » <time datetime='2021-02-0{n}T18:22:00+00:00'>Feb 0{n}, 2021</time></p><div class=content>{said}</div><div class=signature>Nothing lasts</div></div></div>"
XENFORO = "<article class='message message--post' data-author='{who}'><div class=message-user><a href='/members/{n}/' class=avatar><img></a><h4><a class=username href='/members/{n}/'>{who}</a></h4><h5 class=userTitle>Member</h5></div><div class=message-main><time datetime='2021-02-0{n}T18:22:00+00:00'>Feb {n}, 2021</time><a href=#p>#{n}</a><article class=message-body><div class=bbWrapper>{said}</div></article></div></article>"
VBULLETIN = "<table id=post{n}><tr><td class=thead>0{n}.02.2021, 21:40</td></tr><tr><td class=alt2><a class=bigusername href='member.php?u={n}'>{who}</a> <span>Beiträge: 133</span></td></tr><tr><td class=alt1 id=td_post_{n}><div id=post_message_{n}>{said}</div></td></tr></table>"
MAKES = {"phpBB": PHPBB, "XenForo": XENFORO, "vBulletin": VBULLETIN}


def page(make: str) -> str:
    posts = "".join(
        MAKES[make].format(n=n, who=who, said=said)
        for n, (who, said) in enumerate(zip(NAMES, SAID, strict=True), 1)
    )
    return f"<title>Damp wall - Stonehouse</title><h1>Stonehouse</h1><h2>Damp wall</h2><div>{posts}</div><footer>Powered by {make}</footer>"


@pytest.mark.parametrize("make", MAKES)
def test_a_thread_is_its_posts_with_who_said_them_and_when(make: str) -> None:
    thread = parsed(URL, page(make))
    assert (thread.platform, thread.kind, thread.title) == ("forum", "thread", "Damp wall")
    assert thread.counts == {"posts": 3}
    posts = (thread, *thread.items)
    assert [post.text for post in posts] == SAID
    assert [post.author for post in posts] == NAMES
    assert [(post.published or "")[:10] for post in posts] == [
        "2021-02-01",
        "2021-02-02",
        "2021-02-03",
    ]


@pytest.mark.parametrize("make", MAKES)
def test_its_text_says_who_said_what_once(make: str) -> None:
    document = extract_body(page(make).encode(), "text/html", URL)
    assert [document.text.count(said) for said in SAID] == [1, 1, 1]
    assert "Limewash Len, 2021-02-02" in document.text
    assert document.author == "marlstone"


def test_a_page_of_a_forum_that_is_no_thread_is_a_plain_one() -> None:
    listing = "".join(
        f"<tr><td><a href='t{n}'>How to mend wall number {n}?</a></td><td><a class=username>Ann</a></td><td>{n} May 2024</td></tr>"
        for n in range(9)
    )
    markup = f"<h1>Walls</h1><table>{listing}</table><footer>Powered by phpBB</footer>"
    assert parse_platform(URL, markup) is None
    document = extract_body(markup.encode(), "text/html", URL)
    assert "wall number 3" in document.text
    assert document.notes == ()
