"""Each platform's fields, from small pages and replies written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json

import pytest

from browser.extract import extract_body
from browser.extract.platforms import Platform, Record, all_platforms, parse_platform
from browser.types import Link


def parsed(url: str, content: str | dict[str, object] | list[object]) -> Record:
    record = parse_platform(url, content)
    assert record is not None
    return record


def test_every_platform_is_found_by_itself() -> None:
    names = {platform.name for platform in all_platforms()}
    assert {"arxiv", "github", "hackernews", "news", "reddit", "wikipedia", "x", "youtube"} <= names
    assert len(names) == len(all_platforms())


@pytest.mark.parametrize(
    "url",
    [
        "https://x.com.evil.test/a/status/1",
        "https://evil.test/?u=https://x.com/a/status/1",
        "https://notgithub.com/a/b",
        "https://evil.test\\@github.com.evil.test/a/b",
        "data:text/html,github.com",
    ],
)
def test_hosts_are_never_matched_by_substring(url: str) -> None:
    page = '<article data-testid=tweet><div data-testid=tweetText>x</div></article><article class="markdown-body">y</article>'
    assert parse_platform(url, page) is None


@pytest.mark.parametrize("platform", all_platforms(), ids=lambda platform: platform.name)
def test_a_page_without_the_usual_markup_is_no_record(platform: Platform) -> None:
    if platform.hosts:
        assert parse_platform(f"https://{platform.hosts[0]}/a/b/1", "<p>Nothing known.</p>") is None


@pytest.mark.parametrize("platform", all_platforms(), ids=lambda platform: platform.name)
@pytest.mark.parametrize(
    "reply", ['{"items": 3}', "[[]]", '{"pairs": [1]}', '{"post_stream": []}', "null"]
)
def test_replies_of_another_shape_are_no_record(platform: Platform, reply: str) -> None:
    host = platform.hosts[0] if platform.hosts else "e.org"
    assert parse_platform(f"https://{host}/api/v1", json.loads(reply) or reply) is None


def test_hacker_news_item_and_comments() -> None:
    page = """<table class=fatitem><tr class=athing id=7><td><span class=titleline><a href="https://e.org/a">Boats</a>
    <span class=sitestr>e.org</span></span><tr><td class=subtext><span class=score>12 points</span> <a class=hnuser>ann</a>
    <span class=age title="2024-05-03T08:00:00 1714723200"></span> <a>2 comments</a></table><table class=comment-tree>
    <tr class="athing comtr" id=8><td class=ind indent=0><td><a class=hnuser>bo</a><span class=age title="2024-05-03T09:00:00"></span><div class=commtext>First.</div>
    <tr class="athing comtr" id=9><td class=ind indent=1><td><a class=hnuser>cy</a><div class=commtext>Reply.<p>More.</div></table>"""
    item = parsed("https://news.ycombinator.com/item?id=7", page)
    assert (item.kind, item.id, item.title, item.author) == ("story", "7", "Boats", "ann")
    assert item.published == "2024-05-03T08:00:00"
    assert item.counts == {"points": 12, "comments": 2}
    assert item.fields == {"target": "https://e.org/a", "site": "e.org"}
    assert [(c.id, c.author, c.text, c.parent) for c in item.items] == [
        ("8", "bo", "First.", None),
        ("9", "cy", "Reply.\n\nMore.", "8"),
    ]


def test_github_issue() -> None:
    page = """<link rel=canonical href="https://github.com/o/r/issues/5"><bdi data-testid=issue-title>Leak</bdi><span data-testid=header-state>Closed</span>
    <div data-testid=issue-body><a data-testid=issue-body-header-author href=/ann>ann</a><relative-time datetime="2024-05-03T08:00:00Z"></relative-time><div class=markdown-body><p>It leaks.</p></div></div>
    <div data-testid="comment-viewer-outer-box-X" id=issuecomment-6><a data-testid=avatar-link>bo</a><relative-time datetime="2024-05-04T08:00:00Z"></relative-time><div class=markdown-body>Fixed.</div></div>
    <div data-testid=issue-labels><a>bug</a></div>"""
    issue = parsed("https://github.com/o/r/issues/5", page)
    assert (issue.kind, issue.id, issue.title, issue.text, issue.author) == (
        "issue",
        "5",
        "Leak",
        "It leaks.",
        "ann",
    )
    assert issue.published == "2024-05-03T08:00:00+00:00"
    assert issue.fields == {"state": "closed", "repository": "o/r"}
    assert issue.tags == ("bug",)
    assert [(c.id, c.author, c.text) for c in issue.items] == [("issuecomment-6", "bo", "Fixed.")]


def test_github_repository() -> None:
    page = """<meta name=octolytics-dimension-repository_nwo content=o/r><span id=repo-stars-counter-star title="1,234">1.2k</span>
    <span id=repo-network-counter>56</span><div class=BorderGrid-cell><p class=f4>A tool.</p></div><a class=topic-tag>boats</a>
    <article class=markdown-body><h1>r</h1><p>Read me.</p></article>"""
    repository = parsed("https://github.com/o/r", page)
    assert (repository.kind, repository.id, repository.text) == (
        "repository",
        "o/r",
        "# r\n\nRead me.",
    )
    assert repository.counts == {"stars": 1234, "forks": 56}
    assert repository.fields == {"description": "A tool."}
    assert repository.tags == ("boats",)


def test_arxiv_paper() -> None:
    page = """<meta name=citation_title content="On Tides"><meta name=citation_author content="Rower, Ann"><meta name=citation_author content="Mole, Jo">
    <meta name=citation_date content="2024/05/03"><meta name=citation_arxiv_id content="2405.00001"><meta name=citation_pdf_url content="https://arxiv.org/pdf/2405.00001">
    <div class=dateline>[Submitted on 3 May 2024 (v1), last revised 9 Jun 2024 (this version, v2)]</div><blockquote class=abstract><span>Abstract:</span>Tides rise.</blockquote>
    <td class="tablecell subjects">Oceans (phys.oc); Waves (phys.wa)"""
    paper = parsed("https://arxiv.org/abs/2405.00001v2", page.replace("<td", "<table><tr><td"))
    assert (paper.id, paper.title, paper.text) == ("2405.00001", "On Tides", "Tides rise.")
    assert (paper.author, paper.published, paper.modified) == (
        "Ann Rower, Jo Mole",
        "2024-05-03",
        "2024-06-09",
    )
    assert paper.tags == ("phys.oc", "phys.wa")
    assert paper.fields["version"] == "2"
    assert paper.links == (Link("https://arxiv.org/pdf/2405.00001", "PDF"),)


def test_bluesky_post_from_page_and_api() -> None:
    node = {
        "@type": "DiscussionForumPosting",
        "text": "It&#39;s high tide.",
        "datePublished": "2024-05-03T08:00:00Z",
        "author": {"name": "Ann", "alternateName": "@ann.bsky.social"},
        "interactionStatistic": [
            {"interactionType": "https://schema.org/LikeAction", "userInteractionCount": 3}
        ],
    }
    page = f'<script type="application/ld+json">{json.dumps(node)}</script>'
    post = parsed("https://bsky.app/profile/ann.bsky.social/post/3k", page)
    assert (post.id, post.text, post.author, post.handle) == (
        "3k",
        "It's high tide.",
        "Ann",
        "ann.bsky.social",
    )
    assert post.counts == {"likes": 3}
    reply = {"thread": {"post": {"uri": "at://did/app.bsky.feed.post/3k", "author": {"handle": "ann.bsky.social", "displayName": "Ann"},
             "record": {"text": "High.", "createdAt": "2024-05-03T08:00:00Z"}, "likeCount": 2}, "replies": []}}  # fmt: skip
    same = parsed("https://public.api.bsky.app/xrpc/app.bsky.feed.getPostThread", reply)
    assert (same.text, same.url, same.counts) == (
        "High.",
        "https://bsky.app/profile/ann.bsky.social/post/3k",
        {"likes": 2},
    )


def test_reddit_old_page() -> None:
    page = """<div class="thing link" data-author=ann data-subreddit=boats data-permalink="/r/boats/comments/a1/x/" data-score=7><a class=title>Which rope?</a>
    <div class=usertext-body><p>Tell me.</p></div></div><div class="thing comment" data-author=bo data-permalink="/r/boats/comments/a1/x/c1/" data-fullname=t1_c1>
    <div class=entry><span class="score unvoted">4 points</span><time datetime="2024-05-03T08:00:00Z"></time><div class=usertext-body><p>Hemp.</p></div></div>
    <div class=child><div class="thing comment" data-author=ann data-permalink=/p data-fullname=t1_c2><div class=entry><div class=usertext-body>Thanks.</div></div></div></div></div>"""
    post = parsed("https://old.reddit.com/r/boats/comments/a1/x/", page)
    assert (post.id, post.title, post.text, post.author) == ("a1", "Which rope?", "Tell me.", "ann")
    assert (post.counts, post.fields) == ({"points": 7}, {"community": "boats"})
    assert [(c.id, c.text, c.parent) for c in post.items] == [
        ("c1", "Hemp.", None),
        ("c2", "Thanks.", "c1"),
    ]
    assert post.items[0].counts == {"points": 4}


def test_reddit_elements_and_json() -> None:
    page = """<shreddit-post id=t3_a1 permalink="/r/boats/comments/a1/x/" post-title="Which rope?" author=ann score=7 comment-count=1 created-timestamp="2024-05-03T08:00:00Z" subreddit-prefixed-name=r/boats>
    <div slot=text-body><p>Tell me.</p></div></shreddit-post><shreddit-comment thingid=t1_c1 author=bo score=4 permalink=/c1><div slot=comment>Hemp.</div></shreddit-comment>"""
    post = parsed("https://www.reddit.com/r/boats/comments/a1/x/", page)
    listing = [
        {"kind": "Listing", "data": {"children": [{"kind": "t3", "data": {"id": "a1", "title": "Which rope?", "selftext": "Tell me.", "author": "ann", "score": 7, "num_comments": 1, "subreddit": "boats", "is_self": True, "created_utc": 1714723200, "permalink": "/r/boats/comments/a1/x/"}}]}},
        {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": {"id": "c1", "body": "Hemp.", "author": "bo", "score": 4, "parent_id": "t3_a1", "replies": ""}}]}},
    ]  # fmt: skip
    same = parsed("https://www.reddit.com/r/boats/comments/a1/x.json", listing)
    for record in (post, same):
        assert (record.id, record.title, record.text, record.author) == (
            "a1",
            "Which rope?",
            "Tell me.",
            "ann",
        )
        assert record.counts == {"points": 7, "comments": 1}
        assert record.published == "2024-05-03T08:00:00+00:00"
        assert [(c.id, c.text, c.author) for c in record.items] == [("c1", "Hemp.", "bo")]


def test_wikipedia_article() -> None:
    page = """<h1 id=firstHeading>Tide</h1><div id=mw-content-text><div class=mw-parser-output><table class=infobox><tr><th>Period<td>12 h</table>
    <p>Tides rise.<sup class=reference><a href="#cite_note-1">[1]</a></sup></p><div class=toc>Contents</div><h2>Causes<span class=mw-editsection>[edit]</span></h2><p>The Moon.</p>
    <ol class=references><li id=cite_note-1><span class=reference-text>Rower, <a class=external href="https://e.org/r">Tides</a>.</span></ol></div></div>
    <div id=mw-normal-catlinks><ul><li><a>Oceans</a></ul></div>"""
    article = parsed("https://en.wikipedia.org/wiki/Tide", page)
    assert (article.title, article.text) == ("Tide", "Tides rise.\n\n## Causes\n\nThe Moon.")
    assert article.fields == {"infobox: Period": "12 h"}
    assert [(s.title, s.text) for s in article.items] == [
        ("Tide", "Tides rise."),
        ("Causes", "The Moon."),
    ]
    assert article.links == (Link("https://e.org/r", "Rower, Tides.", "reference"),)
    assert article.tags == ("Oceans",)


def test_youtube_video_from_state_and_microdata() -> None:
    state = {"videoDetails": {"videoId": "v1", "title": "Knots", "shortDescription": "How to.", "author": "Ann", "viewCount": "1200", "lengthSeconds": "61", "channelId": "UC1", "keywords": ["rope"]},
             "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": [{"baseUrl": "https://e.org/c", "languageCode": "en"}]}}}  # fmt: skip
    video = parsed(
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
    same = parsed("https://www.youtube.com/watch?v=v1", micro)
    assert (same.id, same.published, same.counts) == (
        "v1",
        "2024-05-03",
        {"views": 1200, "seconds": 61},
    )
    gone = parsed(
        "https://www.youtube.com/youtubei/v1/player",
        {"playabilityStatus": {"status": "ERROR", "reason": "Private"}},
    )
    assert (gone.kind, gone.fields) == ("unavailable", {"reason": "Private"})


def test_x_post_with_replies() -> None:
    def tweet(name: str, number: int, text: str) -> str:
        return f"""<article data-testid=tweet><div data-testid=User-Name><a href="/{name}"><span>{name.title()}</span></a><a href="/{name}/status/{number}"><time datetime="2024-05-03T08:00:00.000Z"></time></a></div>
        <div data-testid=tweetText>{text} <a href="https://t.co/x">e.org</a></div><div role=group aria-label="1 reply, 2 reposts, 3,456 likes, 4 bookmarks, 5 views"></div></article>"""

    page = tweet("ann", 1, "Before.") + tweet("ann", 2, "Main.") + tweet("bo", 3, "After.")
    post = parsed("https://x.com/ann/status/2", page)
    assert (post.id, post.text, post.author, post.handle) == ("2", "Main. e.org", "Ann", "ann")
    assert post.url == "https://x.com/ann/status/2"
    assert post.published == "2024-05-03T08:00:00+00:00"
    assert post.counts == {"replies": 1, "reposts": 2, "likes": 3456, "bookmarks": 4, "views": 5}
    assert post.links == (Link("https://t.co/x", "e.org"),)
    assert [item.id for item in post.items] == ["1", "3"]


def test_mastodon_post_on_any_host() -> None:
    page = """<meta property="profile:username" content="ann@port.example"><meta property="og:published_time" content="2024-05-03T08:00:00Z"><div id=mastodon><div class=detailed-status>
    <strong class=display-name__html>Ann</strong><div class=status__content__text><p>High tide.</p></div><span class=detailed-status__favorites>1.2K</span></div>
    <div class=status data-id=6><a class=status__display-name title="bo@b.example"></a><strong class=display-name__html>Bo</strong><time datetime="2024-05-03T09:00:00Z"></time><div class=status__content__text>Yes.</div></div></div>"""
    post = parsed("https://port.example/@ann/5", page)
    assert (post.id, post.text, post.author, post.handle) == (
        "5",
        "High tide.",
        "Ann",
        "ann@port.example",
    )
    assert post.counts == {"likes": 1200}
    assert [(r.id, r.text, r.handle) for r in post.items] == [("6", "Yes.", "bo@b.example")]
    api = {
        "id": "5",
        "url": "https://port.example/@ann/5",
        "content": "<p>High.</p>",
        "created_at": "2024-05-03T08:00:00Z",
        "account": {"acct": "ann", "display_name": "Ann"},
        "favourites_count": 2,
    }
    assert parsed("https://port.example/api/v1/statuses/5", api).text == "High."


def test_substack_note_and_post() -> None:
    note = """<meta property="og:title" content="Ann (@ann)"><div class=ProseMirror>Other.</div><div class="feedPermalinkUnit-x"><div class=ProseMirror><p>A note.</p></div></div>"""
    record = parsed("https://substack.com/@ann/note/c-1", note)
    assert (record.id, record.text, record.author, record.handle) == (
        "c-1",
        "A note.",
        "Ann",
        "ann",
    )
    post = """<script type="application/ld+json">{"@type":"NewsArticle","headline":"Ropes","datePublished":"2024-05-03","author":[{"name":"Ann"}],"isAccessibleForFree":false}</script>
    <h1 class=post-title>Ropes</h1><h3 class=subtitle>On hemp</h3><div class=available-content><div class="body markup"><p>Long.</p></div></div>"""
    record = parsed("https://ann.substack.com/p/ropes", post)
    assert (record.title, record.text, record.author, record.published) == (
        "Ropes",
        "Long.",
        "Ann",
        "2024-05-03",
    )
    assert record.fields == {"subtitle": "On hemp", "free": "false"}


def test_medium_story() -> None:
    text = "A knot holds a boat to the pier through the night and the wind. " * 5
    page = f"""<meta property="og:type" content=article><meta name=author content="Ann Rower"><meta property="article:author" content="https://medium.com/@ann">
    <meta property="article:published_time" content="2024-05-03T08:00:00Z"><meta name="twitter:data1" content="7 min read"><article><h1 class=pw-post-title>Knots</h1><p>{text}</p><p>{text}</p></article>"""
    story = parsed("https://medium.com/@ann/knots-ac4ec8aee7d1", page)
    assert (story.id, story.title, story.author, story.handle) == (
        "ac4ec8aee7d1",
        "Knots",
        "Ann Rower",
        "ann",
    )
    assert story.counts == {"minutes": 7}
    assert story.text.startswith("A knot holds")


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


def test_google_scholar_results() -> None:
    page = """<div class=gs_r><div class=gs_ggs><a href="https://e.org/t.pdf">PDF</a></div><div class=gs_ri><h3 class=gs_rt><span class=gs_ct1>[BOOK]</span> <a href="https://e.org/t">On tides</a></h3>
    <div class=gs_a>A Rower, J Mole… - Journal of Water, 2021 - e.org</div><div class=gs_rs>Tides rise.</div><div class=gs_fl><a href="/scholar?cites=77&amp;hl=en">Cited by 1,409</a></div></div></div>"""
    listing = parsed("https://scholar.google.co.uk/scholar?q=tides", page)
    paper = listing.items[0]
    assert (paper.id, paper.title, paper.url, paper.text) == (
        "77",
        "On tides",
        "https://e.org/t",
        "Tides rise.",
    )
    assert (paper.author, paper.published, paper.counts) == (
        "A Rower, J Mole…",
        "2021",
        {"citations": 1409},
    )
    assert paper.fields == {"venue": "Journal of Water", "site": "e.org", "type": "book"}
    assert paper.links == (Link("https://e.org/t.pdf", "PDF"),)


def test_dexscreener_pair() -> None:
    pair = {"chainId": "solana", "dexId": "pool", "url": "https://dexscreener.com/solana/p1", "pairAddress": "p1", "baseToken": {"address": "t1", "name": "Tide", "symbol": "TIDE"}, "quoteToken": {"symbol": "SOL"},
            "priceUsd": "0.01", "priceChange": {"h24": -4.5}, "volume": {"h24": 10.5}, "liquidity": {"usd": 99.5}, "fdv": 1000, "txns": {"h24": {"buys": 3, "sells": 2}}, "pairCreatedAt": 1714723200000}  # fmt: skip
    record = parsed("https://api.dexscreener.com/latest/dex/pairs/solana/p1", {"pairs": [pair]})
    assert (record.id, record.title, record.published) == (
        "p1",
        "TIDE/SOL",
        "2024-05-03T08:00:00+00:00",
    )
    assert record.counts == {"buys h24": 3, "sells h24": 2}
    assert record.fields["price change h24"] == "-4.5"
    assert {
        record.fields[name] for name in ("chain", "token", "price_usd", "liquidity_usd", "fdv")
    } == {"solana", "t1", "0.01", "99.5", "1000"}


def test_discourse_topic_and_list() -> None:
    post = {
        "id": 1,
        "post_number": 1,
        "username": "ann",
        "name": "Ann",
        "cooked": "<p>Hello.</p>",
        "created_at": "2024-05-03T08:00:00Z",
        "topic_id": 9,
        "topic_slug": "t",
    }
    topic = {
        "id": 9,
        "slug": "t",
        "title": "Tides",
        "views": 5,
        "tags": ["sea"],
        "post_stream": {
            "posts": [
                post,
                {
                    **post,
                    "id": 2,
                    "post_number": 2,
                    "reply_to_post_number": 1,
                    "cooked": "<p>Hi.</p>",
                },
            ]
        },
    }
    record = parsed("https://forum.example/t/t/9.json", topic)
    assert (record.url, record.title, record.text, record.author, record.tags) == (
        "https://forum.example/t/t/9",
        "Tides",
        "Hello.",
        "Ann",
        ("sea",),
    )
    assert [(p.text, p.parent) for p in record.items] == [("Hi.", "1")]
    latest = {
        "users": [{"id": 3, "username": "ann"}],
        "topic_list": {
            "topics": [
                {
                    "id": 9,
                    "slug": "t",
                    "title": "Tides",
                    "posts_count": 2,
                    "posters": [{"user_id": 3}],
                }
            ]
        },
    }
    assert parsed("https://forum.example/latest.json", latest).items[0].author == "ann"


def test_stack_exchange_question_and_answers() -> None:
    page = """<div id=question-header><h1>How to splice?</h1></div><div id=question data-questionid=4><div class=js-vote-count>12</div><div class=s-prose><p>Rope.</p></div><a class=post-tag>rope</a>
    <div class="post-signature owner"><span class=relativetime title="2024-05-03 08:00:00Z">x</span><div class=user-details><a href="/users/1/ann">Ann</a></div></div></div>
    <div class="answer accepted-answer" data-answerid=5><div class=js-vote-count>3</div><div class=s-prose><p>So.</p></div></div>"""
    question = parsed("https://sailing.stackexchange.com/questions/4/how", page)
    assert (question.id, question.title, question.text, question.author, question.handle) == (
        "4",
        "How to splice?",
        "Rope.",
        "Ann",
        "1",
    )
    assert (question.published, question.counts, question.tags) == (
        "2024-05-03T08:00:00+00:00",
        {"points": 12},
        ("rope",),
    )
    answer = question.items[0]
    assert (answer.id, answer.text, answer.counts, answer.fields) == (
        "5",
        "So.",
        {"points": 3},
        {"accepted": "true"},
    )


def test_news_article_and_live_blog() -> None:
    node = {
        "@type": "NewsArticle",
        "headline": "Lock opens",
        "datePublished": "2024-05-03T08:00:00Z",
        "author": {"name": "Ann"},
        "publisher": {"name": "The Post"},
        "keywords": "lock, canal",
        "articleSection": "Local",
    }
    text = (
        "The lock keeper opened the gates again after a long winter of repairs on the canal. " * 4
    )
    page = f'<script type="application/ld+json">{json.dumps(node)}</script><h1>Lock opens</h1><p>{text}</p>'
    article = parsed("https://post.example/lock", page)
    assert (article.platform, article.title, article.author, article.published) == (
        "news",
        "Lock opens",
        "Ann",
        "2024-05-03T08:00:00+00:00",
    )
    assert article.fields == {"publisher": "The Post", "section": "Local"}
    assert article.tags == ("lock", "canal")
    live = {
        "@type": "LiveBlogPosting",
        "headline": "Live",
        "liveBlogUpdate": [
            {
                "headline": "9:00",
                "articleBody": "Gates move.",
                "datePublished": "2024-05-03T09:00:00Z",
            }
        ],
    }
    blog = parsed(
        "https://post.example/live",
        f'<script type="application/ld+json">{json.dumps(live)}</script><p>{text}</p>',
    )
    assert (blog.kind, [(u.title, u.text) for u in blog.items]) == (
        "live_blog",
        [("9:00", "Gates move.")],
    )


def test_a_platform_page_that_lost_its_markup_is_read_as_a_page_and_says_so() -> None:
    page = b"<title>Story</title><h1>Story</h1><p>The boats came in before the storm.</p>"
    document = extract_body(page, "text/html", "https://news.ycombinator.com/item?id=1")
    assert "The boats came in before the storm." in document.text
    assert "hackernews" in document.notes[0]


def test_a_platform_page_is_completed_from_its_record() -> None:
    state = {
        "videoDetails": {
            "videoId": "v1",
            "title": "Knots",
            "shortDescription": "How to tie a bowline.",
            "author": "Ann",
        }
    }
    page = f"<title>Knots - YouTube</title><div></div><script>var ytInitialPlayerResponse = {json.dumps(state)};</script>"
    document = extract_body(page.encode(), "text/html", "https://www.youtube.com/watch?v=v1")
    assert (document.title, document.author) == ("Knots", "Ann")
    assert document.text == "How to tie a bowline."


def test_recipes_and_products_of_any_site() -> None:
    recipe = {"@type": "Recipe", "name": "Eel soup", "description": "Warm.", "recipeIngredient": ["1 eel", "salt"], "totalTime": "PT1H", "recipeYield": "4", "author": {"name": "Ann"},
              "recipeInstructions": [{"@type": "HowToSection", "itemListElement": [{"@type": "HowToStep", "text": "Boil."}]}, {"@type": "HowToStep", "text": "Eat."}],
              "aggregateRating": {"ratingValue": 4.5, "ratingCount": 12}}  # fmt: skip
    soup = parsed(
        "https://soup.example/eel",
        f'<script type="application/ld+json">{json.dumps(recipe)}</script>',
    )
    assert (soup.platform, soup.kind, soup.title, soup.author) == (
        "schema.org",
        "recipe",
        "Eel soup",
        "Ann",
    )
    assert soup.text == "Warm.\n\n- 1 eel\n- salt\n\n- Boil.\n- Eat."
    assert soup.fields == {"rating": "4.5", "total_time": "PT1H", "yield": "4"}
    assert soup.counts == {"ratings": 12}
    product = {
        "@type": ["Product"],
        "name": "Rope",
        "brand": {"name": "Hemp & Co"},
        "offers": [
            {"price": "9.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
        ],
    }
    rope = parsed(
        "https://shop.example/rope",
        f'<script type="application/ld+json">{json.dumps(product)}</script>',
    )
    assert rope.fields == {
        "price": "9.90",
        "currency": "EUR",
        "availability": "InStock",
        "brand": "Hemp & Co",
    }
