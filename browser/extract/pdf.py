"""PDF documents: text with page offsets, outline and metadata."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pypdfium2

from browser.errors import ExtractError
from browser.text import clean
from browser.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

# Pdfium is one library with one state: two threads in it crash the process.
_PDFIUM = threading.Lock()
_MOST_PAGES = 2_000
# Pdfium's mark for a hyphen that only breaks the line.
_LINE_HYPHEN = re.compile("\ufffe\\s*")
_PDF_DATE = re.compile(
    r"D:(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?(?:(Z)|([+-]\d{2})'?(\d{2})?)?"
)
_ENDS_SENTENCE = re.compile(r"[.!?:…][\"'”’)\]]*$")
# A line this long, against the page's longest, runs on into the next one.
_FULL_LINE = 0.75
_SHORTEST_FULL_LINE = 40
_EMPTY_TITLES = frozenset(("", "(anonymous)", "untitled", "(unspecified)"))


def extract_pdf(body: bytes, url: str, name: str) -> Document:
    """Read a PDF's text; `pages` holds the offset of each page. A scan is said to be one.

    Raises ExtractError where the file is broken or asks for a password.
    """
    with _PDFIUM:
        try:
            pdf = pypdfium2.PdfDocument(body)
        except pypdfium2.PdfiumError as error:
            message = f"not readable as PDF: {error}"
            raise ExtractError(message) from error
        try:
            return _read(pdf, url, name)
        finally:
            pdf.close()


def _read(pdf: pypdfium2.PdfDocument, url: str, name: str) -> Document:
    count = min(len(pdf), _MOST_PAGES)
    texts = [_page_text(pdf[number]) for number in range(count)]
    offsets, position = [], 0
    for text in texts:
        offsets.append(position)
        position += len(text) + 2 if text else 0
    body = "\n\n".join(text for text in texts if text)
    meta = pdf.get_metadata_dict()
    title = meta.get("Title", "").strip()
    return Document(
        url=url,
        title=clean(title) if title.lower() not in _EMPTY_TITLES else (_first_line(body) or name),
        text=body,
        markdown=body,
        author=_said(meta.get("Author", "")),
        published=_date(meta.get("CreationDate", "")),
        modified=_date(meta.get("ModDate", "")),
        kind="pdf",
        pages=tuple(min(offset, len(body)) for offset in offsets),
        notes=tuple(_notes(len(pdf), texts)),
    )


def _page_text(page: pypdfium2.PdfPage) -> str:
    textpage = page.get_textpage()
    raw = textpage.get_text_bounded()
    textpage.close()
    page.close()
    lines = [" ".join(line.split()) for line in clean(_LINE_HYPHEN.sub("", raw)).split("\n")]
    return _paragraphs([line for line in lines if line])


def _paragraphs(lines: list[str]) -> str:
    longest = max(map(len, lines), default=0)
    full = max(_SHORTEST_FULL_LINE, _FULL_LINE * longest)
    parts: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=bool(lines)):
        parts.extend((line, _separator(line, following, full)))
    return "".join(parts[:-1])


def _separator(line: str, following: str, full: float) -> str:
    if len(line) >= full:
        return " "
    if _ENDS_SENTENCE.search(line) or len(following) >= full:
        return "\n\n"
    return "\n"


def _first_line(body: str) -> str:
    return body.partition("\n")[0].strip()[:200]


def _notes(count: int, texts: list[str]) -> Iterator[str]:
    if count and not any(texts):
        yield "a scan: its pages are pictures and hold no text"
    elif empty := sum(1 for text in texts if not text):
        yield f"{empty} of {count} pages hold no text"
    if count > _MOST_PAGES:
        yield f"the first {_MOST_PAGES} of {count} pages"


def _said(value: str) -> str | None:
    text = clean(value.strip())
    return None if text.lower() in _EMPTY_TITLES else text


def _date(value: str) -> str | None:
    match = _PDF_DATE.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second, utc, offset, minutes = match.groups()
    if hour is None:
        return f"{year}-{month}-{day}"
    zone = "+00:00" if utc else f"{offset}:{minutes or '00'}" if offset else ""
    return f"{year}-{month}-{day}T{hour}:{minute}:{second}{zone}"
