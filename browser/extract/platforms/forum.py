"""Forums of any make, by their software's name: threads with who said what and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.blocks import walk
from browser.extract.hidden import strip_hidden
from browser.extract.metadata import read_title
from browser.extract.platforms.base import Platform
from browser.extract.platforms.record import Record
from browser.extract.render import render_text
from browser.extract.thread import read_thread

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source
    from browser.extract.thread import Post


class Forum(Platform):
    """Boxes of one kind that hold all that is said, each beside a name and a day."""

    name = "forum"
    marks = (b"phpBB", b"XenForo", b"vBulletin", b"Simple Machines", b"MyBB", b"flarum", b"Flarum",
             b"NodeBB", b"nodebb", b"Invision Community", b"IPS Community", b"bbpress", b"bbPress",
             b"FluxBB", b"PunBB", b"WoltLab", b"YetAnotherForum", b"UBB.threads")  # fmt: skip
    general = True
    verified = False

    def claims(self, source: Source) -> bool:
        """By the name of its software, which stands below most forums."""
        markup = source.markup
        body = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
        return source.json is None and any(mark in body for mark in self.marks)

    def parse(self, source: Source) -> Record | None:
        """Read a thread; None for lists of threads, and where no posts can be told."""
        title = read_title(source.root, declared=source.meta.get("og:title"))
        strip_hidden(source.root, list(source.root.iter()))
        walked = walk(source.root, source.url)
        blocks = [b for b in walked.blocks if not walked.regions.is_frame(b.region)]
        posts = [_post(post) for post in read_thread(blocks)]
        if not posts:
            return None
        first = posts[0]
        return Record(
            self.name, "thread", source.canonical, title=title or None, text=first.text,
            author=first.author, published=first.published, counts={"posts": len(posts)},
            items=tuple(posts[1:]),
        )  # fmt: skip


def _post(post: Post) -> Record:
    text = render_text(post.blocks)
    return Record("forum", "post", text=text, author=post.author, published=post.published)
