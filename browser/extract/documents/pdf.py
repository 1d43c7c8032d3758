"""A PDF into a Document: its pages one after the other, and what it says of itself."""

from __future__ import annotations

import ctypes
import math
import re
import threading
import time
from collections import defaultdict
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import pypdfium2
import pypdfium2.raw as pdfium

from browser.errors import ExtractError
from browser.extract.dates import iso_date
from browser.extract.documents.composer import Composer
from browser.extract.documents.pdf_layout import add_page, key
from browser.text.words import clean
from browser.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Pdfium is one library with one state: two threads in it crash the process.
_PDFIUM = threading.Lock()
_MOST_PAGES = 2_000
_EMPTY_TITLES = frozenset(("", "(anonymous)", "untitled", "(unspecified)"))
# What programs put for a title: the name of the file that was printed.
_FILE_NAME = re.compile(
    r"(?:microsoft \w+ - )?[^\s/\\]+\.(?:docx?|html?|tex|dvi|indd|qxd|rtf|xlsx?)"
)
# A book of a thousand pages has a few hundred; one that goes in circles has no end.
_MOST_ENTRIES = 5_000
_DEEPEST = 6
# A page of references has a hundred; more is a machine's.
_MOST_LINKS = 500
_LONGEST_ADDRESS = 2_000


def extract_pdf(body: bytes, url: str, name: str) -> Document:
    """Read a PDF's text; `pages` holds the offset of each page. A scan is said to be one.

    Raises ExtractError where the file is broken or asks for a password.
    """
    with _PDFIUM:
        try:
            pdf = pypdfium2.PdfDocument(body)
        except pypdfium2.PdfiumError as error:
            if "password" not in str(error).lower():
                raise ExtractError(f"not readable as PDF: {error}") from error
            raise ExtractError(
                "the PDF is encrypted", hint="Save it without a password, then read it."
            ) from error
        try:
            return _read(pdf, url, name)
        finally:
            pdf.close()


def _read(pdf: pypdfium2.PdfDocument, url: str, name: str) -> Document:
    outline = _outline(pdf)
    whole, scanner = Composer(), _Scanner()
    pages = (
        _read_page(pdf, n, outline.get(n, {}), whole, scanner)
        for n in range(min(len(pdf), _MOST_PAGES))
    )
    texts = [page.document("", "", "") for page in pages]
    meta = pdf.get_metadata_dict()
    return Document(
        url=url,
        title=_title(meta.get("Title", "")) or _first_line(texts) or name,
        text="\n\n".join(page.text for page in texts if page.text),
        markdown="\n\n".join(page.markdown for page in texts if page.markdown),
        author=_said(meta.get("Author", "")),
        published=_date(meta.get("CreationDate", "")),
        modified=_date(meta.get("ModDate", "")),
        kind="pdf",
        links=tuple(whole.links.values()),
        tables=tuple(table for page in texts for table in page.tables),
        pages=_offsets(texts),
        notes=tuple(_notes(len(pdf), texts, scanner.pages)),
    )


def _read_page(
    pdf: pypdfium2.PdfDocument,
    number: int,
    titles: Mapping[str, int],
    whole: Composer,
    scanner: _Scanner,
) -> Composer:
    """Read one page by itself; links are gathered for the whole document."""
    composer = Composer()
    try:
        page = pdf[number]
        text = page.get_textpage()
    except pypdfium2.PdfiumError:  # one broken page leaves the others readable
        return composer
    add_page(composer, text, titles)
    if not composer.blocks:
        composer.paragraph(scanner.read(page))
    for target, words in _page_links(page, text):
        whole.link(target, words)
    text.close()
    page.close()
    return composer


def _offsets(texts: list[Document]) -> tuple[int, ...]:
    offsets, position = [], 0
    for page in texts:
        offsets.append(position)
        position += len(page.text) + 2 if page.text else 0
    return tuple(min(offset, max(position - 2, 0)) for offset in offsets)


def _first_line(texts: list[Document]) -> str:
    """The first of the largest headings of the first page that has text, else its first line."""
    lines = next((page.text for page in texts if page.text), "").split("\n")
    headings = sorted((line for line in lines if line.startswith("#")), key=_depth)
    plain = (line for line in lines if line and not line.startswith("|"))
    return next(iter([*headings, *plain]), "").strip("# ")[:200]


def _depth(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _notes(count: int, texts: list[Document], scanned: int) -> Iterator[str]:
    if scanned:
        yield f"{scanned} pages are pictures, read by their look: letters may be wrong"
    empty = sum(1 for page in texts if not page.text)
    if count and empty == len(texts):
        yield (
            "a scan: its pages are pictures and hold no text"
            " (the extra `ocr` reads some: pip install 'urchin-research[ocr]')"
        )
    elif empty:
        yield f"{empty} of {count} pages hold no text"
    if count > _MOST_PAGES:
        yield f"the first {_MOST_PAGES} of {count} pages"


def _title(value: str) -> str:
    title = _said(value) or ""
    return "" if _FILE_NAME.fullmatch(title.lower()) else title


def _said(value: str) -> str | None:
    text = " ".join(clean(value).split())
    return None if text.lower() in _EMPTY_TITLES else text


def _date(value: str) -> str | None:
    """A date as PDF writes it (ISO 32000-1, 7.9.4): `D:20240503080000+02'00'`."""
    said = value.removeprefix("D:").replace("'", "")
    return iso_date(f"{said[:8]}T{said[8:]}" if said[8:14].isdecimal() else said[:8])


def _outline(pdf: pypdfium2.PdfDocument) -> Mapping[int, Mapping[str, int]]:
    """The headings of each page by the outline, `key` of their words to their level, from 1."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    try:
        for entry in islice(pdf.get_toc(max_depth=_DEEPEST), _MOST_ENTRIES):
            target = entry.get_dest()
            page = target.get_index() if target else None
            if page is not None:
                found[page][key(entry.get_title())] = entry.level + 1
    except pypdfium2.PdfiumError:  # a broken outline: headings by their size, then
        return {}
    return found


def _page_links(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage) -> Iterator[tuple[str, str]]:
    """Yield (address, words) of the links that lead out of the document."""
    document = page.pdf
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(_MOST_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, ctypes.byref(position), ctypes.byref(link)):
            return
        if address := _address(document, link):
            yield address, _words(link, text)


def _address(document: pypdfium2.PdfDocument, link: object) -> str:
    action = pdfium.FPDFLink_GetAction(link)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 0 < size <= _LONGEST_ADDRESS:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _words(link: object, text: pypdfium2.PdfTextPage) -> str:
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFLink_GetAnnotRect(link, ctypes.byref(box)):
        return ""
    return str(text.get_text_bounded(box.left, box.bottom, box.right, box.top))


# 150 dots an inch: letters of 10 points are 20 pixels high, as the models were trained on.
_SCALE = 150 / 72
# A page takes 1 to 5 s on one core; a call that reads a page has 30 s.
_MOST_SECONDS = 20.0
# A scan fills its page; a picture on an empty one is a picture.
_SCAN = 0.5
_MOST_PIXELS = 20_000_000
# What is less sure than this is dirt, or a drawing.
_SUREST_DIRT = 0.5


class _Scanner:
    """Reads pages without text as long as its time lasts; `pages` counts those read."""

    def __init__(self) -> None:
        self.pages = 0
        self._until = math.inf

    def read(self, page: pypdfium2.PdfPage) -> str:
        """The lines of a page from top to bottom; nothing without the extra or without time."""
        width, height = page.get_size()
        if time.monotonic() > self._until or not _is_scan(page, width * height):
            return ""
        engine = _engine()
        if engine is None:
            return ""
        # The time begins when there is an engine: to make it takes seconds, on a busy machine many.
        self._until = min(self._until, time.monotonic() + _MOST_SECONDS)
        scale = min(_SCALE, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
        found = engine(page.render(scale=scale).to_numpy())
        lines = zip(found.txts or (), found.scores or (), strict=True)
        text = "\n".join(line for line, sure in lines if sure > _SUREST_DIRT)
        self.pages += bool(text)
        return text


def _is_scan(page: pypdfium2.PdfPage, area: float) -> bool:
    for picture in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = picture.get_bounds()
        if (right - left) * (top - bottom) >= _SCAN * area:
            return True
    return False


@cache
def _engine() -> Any:
    """The recogniser, made once: 2 s."""
    try:
        from rapidocr import RapidOCR  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return RapidOCR(params={"Global.log_level": "critical"})
