"""Shows a saved source with its supporting quotes marked, without scripts or requests.

The page is reduced to its text and structure (nh3 removes scripts, styles, frames, forms and URLs
that would be loaded) and shown in a sandboxed frame, under a policy that blocks all requests.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING, Final

import nh3
from markupsafe import Markup

from agent.errors import JournalError
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.export.finished_run import FinishedRun
    from agent.types import ReportSource

POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'self'"
)
_ALLOWED_TAGS: Final = set(
    "p br pre ul ol li table thead tbody tr th td caption h1 h2 h3 h4 h5 h6 blockquote hr strong"
    " b em i code dl dt dd figure figcaption section article main sub sup div span".split()
)
_REMOVED_TAGS: Final = set(
    "script style noscript template svg nav footer iframe form head title".split()
)
_TAG_RE: Final = re.compile("(<[^>]*>)")
"""Matches tags in nh3's output, where `<` and `>` occur only in tags."""
MAX_HTML_BYTES: Final = 3 * 2**20
"""Maximum size of a page in bytes; larger ones are shown as text, as browsers take too long to lay
them out.
"""


def saved_body(record: FinishedRun, source: ReportSource) -> Markup:
    """Return a source's page, or its text, as safe HTML with the first quote at `#words`."""
    page, found = mark_quotes(_saved_html(record, source), source.quotes)
    # If a quote is not found, show the extracted text, from which the quote was taken.
    if not page or not found:
        text = escape(clean(record.source_text(source)))
        page, _ = mark_quotes(f"<pre>{text}</pre>", source.quotes)
    return Markup(page)  # noqa: S704 - sanitised HTML or escaped text


def _saved_html(record: FinishedRun, source: ReportSource) -> str:
    """Return a page's saved HTML without active content, or an empty string."""
    row = record.source_on_record(source)
    if not row or source.via not in ("http", "browser") or not row.get("body"):
        return ""
    try:
        raw = record.folder.blob(row["body"])
    except JournalError:
        return ""
    if len(raw) > MAX_HTML_BYTES or b"<" not in raw[:2000] or b"\0" in raw[:1000]:
        return ""
    text = raw.decode("utf-8", "replace")
    return nh3.clean(
        text, tags=_ALLOWED_TAGS, clean_content_tags=_REMOVED_TAGS, attributes={}, link_rel=None
    )


def mark_quotes(html: str, quotes: Sequence[str]) -> tuple[str, bool]:
    """Mark quotes in the page, even across elements; the second value is False if any is missing.

    Whitespace and the bars between table cells are ignored, since the page has real cells instead.
    The first mark has the id `words`.
    """
    parts = _TAG_RE.split(html)  # text and the tags in between
    texts = [unescape(text) for text in parts[::2]]
    text_letters = [_letters(text) for text in texts]
    page_letters = "".join(text_letters)
    wanted = [_letters(quote) for quote in quotes]
    starts = [page_letters.find(letters) if letters else -1 for letters in wanted]
    found = [(at, at + len(quote)) for at, quote in zip(starts, wanted, strict=True) if at >= 0]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):  # overlapping quotes share a mark
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    offset = 0
    for n, (text, letters) in enumerate(zip(texts, text_letters, strict=True)):
        marked, at = "", 0
        positions: list[int] = []  # of the letters in the text
        for start, end in spans:
            first, last = max(start, offset), min(end, offset + len(letters)) - 1
            if first <= last:
                positions = positions or [i for i, letter in enumerate(text) if _letters(letter)]
                begin, stop = positions[first - offset], positions[last - offset] + 1
                name = ' id="words"' if first <= found[0][0] <= last else ""
                marked += f"{_html(text[at:begin])}<mark{name}>{_html(text[begin:stop])}</mark>"
                at = stop
        parts[2 * n] = marked + _html(text[at:])
        offset += len(letters)
    return "".join(parts), len(found) == len(quotes)


def _html(text: str) -> str:
    return escape(text, quote=False)


def _letters(text: str) -> str:
    """Return the text without whitespace and table bars."""
    return "".join(text.replace("|", " ").split())
