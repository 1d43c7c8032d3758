"""Weighs what would be left out of a page, so that no step removes the page's body.

The body is the one that the page declares (`articleBody` in JSON-LD), or else the text that
trafilatura finds. Any step that would remove a large part of the page first calls this module; a
note reports text that was left out, or that was kept although it looked hidden. Of 187 news pages
and articles, 9 have a large hidden part, and 3 of these parts are the article.
"""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from lxml import etree

from browser.text.words import count_words, word_list, word_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


MAJORITY = 0.5
"""A part that contains more than this share of the body is taken for the body."""
MIN_WEIGHED_SHARE = 1 / 3
"""A part with more than this share of the page's prose is weighed before it is removed."""
WHOLE_PAGE_SHARE = 0.9
"""A part with more than this share of the prose is treated as the page itself."""
MIN_BODY_CHARS = 500
"""In characters; anything shorter cannot be used as the body."""

MAX_TEASER_CHARS = 1_500
"""In characters; a page with more visible prose than this shows its article."""
HIDDEN_REASON = "hidden"
"""The reason given when text that the user does not see is left out."""
LEFT_OUT = "left out as "
"""The beginning of each note about what was left out."""
OUTSIDE_CONTENT_REASON = "outside the main content"
"""The reason given when blocks next to an article or a thread are left out; always noted."""
MIN_NOTED_WORDS = 50
"""In words; longer frames and hidden text are noted. 15 of 60 articles have such a frame."""
_REMEDY = "opening the page in the browser shows"
# How notes refer to some kinds of blocks; the other kinds keep their names.
_NAMES = {"item": "list item", "item-rest": "list item", "code": "code block"}

# Text in these elements is a link, part of a control, or invisible.
_NO_PROSE_TAGS = frozenset("a script style noscript template head select textarea button".split())
_MIN_PROSE_CHARS = 40
_TAG = re.compile(r"<[^>]*>")


def extract_article(root: etree._Element, *, precise: bool = False, fast: bool = False) -> str:
    """Return the text of a page's article, as trafilatura reads it; "" if it finds none.

    With `fast`, its result is not compared with those of other extractors, which saves a third of
    the time.
    """
    import trafilatura  # noqa: PLC0415 - takes 0.17 s, and only some pages need it

    # If trafilatura finds nothing, the page is read without it, so its warning is suppressed.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    found = trafilatura.extract(root, favor_precision=precise, include_comments=False, fast=fast)
    return found or ""


class ContentWeigher:
    """Weighs parts of one page against its body; `notes` reports what was left out, and how much.

    `declared` is the text that the page declares as its body. `needs_scripts` explains why a
    browser may show more than was read.
    """

    def __init__(self, root: etree._Element, declared: str) -> None:
        self._root = root
        words = word_list(_TAG.sub(" ", declared)) if len(declared) >= MIN_BODY_CHARS else []
        self._declared = frozenset(word_runs(words))
        self._declared_words = len(words)
        self._words: Counter[str] = Counter()
        self._heavy_words = 0
        self._kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.notes: list[str] = []
        self.needs_scripts = ""

    @cached_property
    def prose(self) -> int:
        """The number of characters of prose on the page, whether visible or not."""
        return prose_chars([self._root])

    @cached_property
    def _trafilatura_body(self) -> frozenset[tuple[str, ...]]:
        found = extract_article(self._root, fast=True)
        return frozenset(word_runs(word_list(found)) if len(found) >= MIN_BODY_CHARS else ())

    def holds_body(self, parts: Iterable[etree._Element], share: float) -> bool:
        """Whether `parts`, with this `share` of the page's prose, contain most of its body."""
        if not MIN_WEIGHED_SHARE < share <= WHOLE_PAGE_SHARE:
            return share > MIN_WEIGHED_SHARE
        body = self._declared or self._trafilatura_body
        if not body:
            return share > MAJORITY
        found = {
            run
            for part in parts
            for run in word_runs(word_list("".join(map(str, part.itertext()))))
        }
        return len(body & found) > MAJORITY * len(body)

    def keep_hidden(self, words: int) -> None:
        """Add a note on how many words of the body were kept although the page hides them."""
        self.needs_scripts = f"its text appears only after a script has run ({words} words)"
        self.notes.append(f"the page hides its text until a script shows it: {words} words")

    def hide(self, parts: Iterable[etree._Element], *, heavy: bool = False) -> None:
        """Count the words of hidden elements, except links and controls.

        `heavy` parts are large enough to be the body.
        """
        words = sum(map(count_words, unlinked_texts(parts)))
        self._words[HIDDEN_REASON] += words
        self._heavy_words += words if heavy else 0

    def leave_out(self, why: str, blocks: Iterable[tuple[str, int]]) -> None:
        """Count blocks (kind and words) that are left out; `why` completes "left out as …"."""
        for kind, words in blocks:
            self._words[why] += words
            self._kinds[why][_NAMES.get(kind, kind)] += 1

    def finish(self, text: str) -> None:
        """Add notes on what was left out; set `needs_scripts` if too much is hidden or missing."""
        kept = count_words(text)
        for why, words in self._words.items():
            if words > MIN_NOTED_WORDS or why == OUTSIDE_CONTENT_REASON:
                kinds = [f"{n} {kind}{'s' * (n > 1)}" for kind, n in self._kinds[why].most_common()]
                found = f" ({', '.join(kinds)})" if kinds else ""
                remedy = "a control on the page may show" if why == HIDDEN_REASON else _REMEDY
                self.notes.append(
                    f"{LEFT_OUT}{why}: {words} words{found}; the text has {kept}; {remedy} them"
                )
        if self._heavy_words > max(kept, MIN_NOTED_WORDS):
            words = self._heavy_words
            self.needs_scripts = f"the page hides more text than it shows ({words} words)"
        read = self._declared and self._declared.intersection(word_runs(word_list(text)))
        if len(read) < MAJORITY * len(self._declared):
            shown = round(self._declared_words * len(read) / len(self._declared))
            self.needs_scripts = (
                f"the page declares an article of {self._declared_words} words but shows {shown}"
            )
            self.notes.append(self.needs_scripts)


def prose_chars(parts: Iterable[etree._Element]) -> int:
    """Return the number of characters of prose in elements, that is, in long text outside links."""
    texts = unlinked_texts(parts)
    return sum(len(text.strip()) for text in texts if len(text) >= _MIN_PROSE_CHARS)


def unlinked_texts(parts: Iterable[etree._Element]) -> Iterator[str]:
    """The text nodes of elements, except those in links and controls."""
    for part in parts:
        if next(part.iterancestors(*_NO_PROSE_TAGS), None) is not None:
            continue
        walker = etree.iterwalk(part, events=("start", "end"))
        for event, node in walker:
            if event == "end":
                if node is not part and node.tail:
                    yield node.tail
            elif node.tag in _NO_PROSE_TAGS:
                walker.skip_subtree()
            elif node.text:
                yield node.text
