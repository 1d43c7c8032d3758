"""X (Twitter): posts and their conversation, from the web client and from the pages of before."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.base import Platform
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.x_old import old_post
from browser.extract.platforms.x_post import STATUS, drawn_post

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

# `Ann (@ann) on X`, `Ann on X: "…" / X`; in other languages the name stands elsewhere.
_CARD = re.compile(r"(.{1,80}?)(?: \(@\w{1,15}\))? on (?:X|Twitter)(?::.*)?", re.DOTALL)
_GONE = "[data-testid=error-detail], [data-testid=emptyState], [data-testid=empty_state_body_text]"


class X(Platform):
    """`article[data-testid=tweet]`; before it, `.tweet[data-tweet-id]`."""

    name = "x"
    hosts = ("x.com", "twitter.com")

    def parse(self, source: Source) -> Record | None:
        """Read the post that the address names, the rest of the page as items; else a timeline."""
        posts = [drawn_post(source, node) for node in source.all("article[data-testid=tweet]")]
        posts = posts or [old_post(source, node) for node in source.all(".tweet[data-tweet-id]")]
        found = STATUS.search("/" + "/".join(source.path))
        if not posts:
            reason = source.text(_GONE)
            gone = Record(self.name, "unavailable", source.url, fields=fields(reason=reason))
            return gone if reason else _declared(source, found)
        if not found:
            return Record(self.name, "timeline", source.url, items=tuple(posts))
        head = next((post for post in posts if post.id == found[2]), posts[0])
        rest = tuple(post for post in posts if post is not head)
        return replace(head, items=(*head.items, *rest))


def _declared(source: Source, found: re.Match[str] | None) -> Record | None:
    """What a post's page says without a drawn post: an article alone, or its card."""
    body = source.first("[data-testid=twitterArticleRichTextView]")
    said, name = source.meta.get("og:description", ""), source.meta.get("og:title", "")
    card = _CARD.fullmatch(name)
    if found is None or (body is None and not (card and said)):
        return None
    picture = source.meta.get("og:image", "")
    return Record(
        "x", "post" if body is None else "article", f"https://x.com{found[0]}", id=found[2],
        title=source.text("[data-testid=twitter-article-title]") or None, handle=found[1],
        text=said.strip("“”\" ") if body is None else source.body(body),
        author=card[1].strip() if card else None,
        media=(picture,) if "/profile_images/" not in picture and picture else (),
    )  # fmt: skip
