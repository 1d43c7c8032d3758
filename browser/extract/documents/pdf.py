"""Reads a PDF: its pages in order, its outline, links and metadata."""

from __future__ import annotations

import ctypes
import math
import re
import threading
import time
from collections import defaultdict
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import pypdfium2
import pypdfium2.raw as pdfium

from browser.errors import Encrypted, ExtractError
from browser.extract.dates import iso_date
from browser.extract.documents.composer import Composer
from browser.extract.documents.front_matter import FrontMatter, read_front_matter
from browser.extract.documents.pdf_fields import (
    HIDDEN_FLAGS,
    MAX_ANNOTATIONS,
    place_fields,
    read_string,
    take_fields,
)
from browser.extract.documents.pdf_layout import (
    add_page,
    key,
    page_lines,
    resolve_line_hyphens,
    usual_height,
)
from browser.text.words import one_line
from browser.types import Document, Publication

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from browser.extract.documents.pdf_layout import Line

# Pdfium is not thread-safe: using it from two threads crashes the process.
_PDFIUM_LOCK = threading.Lock()
_MAX_PAGES = 2_000
_UNTITLED = frozenset(("", "(anonymous)", "anonymous", "untitled", "(unspecified)"))
_EDGE_PUNCTUATION = ".,;:!?()[]\"'“”‘’"
# Matches titles that a program set to the name of the printed file.
_FILE_NAME = re.compile(
    r"(?:microsoft \w+ - )?[^\s/\\]+\.(?:docx?|html?|tex|dvi|indd|qxd|rtf|xlsx?)"
)
# The outline of a thousand-page book has a few hundred entries; circular outlines never end.
_MAX_OUTLINE_ENTRIES = 5_000
_MAX_OUTLINE_DEPTH = 6
# Maximum number of links on a page; a page of references has about a hundred.
_MAX_LINKS = 500
_MAX_ADDRESS_CHARS = 2_000
_DRAWN_ANNOTATIONS = frozenset(
    (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP)
)
_NOT_COMMENTS = frozenset(
    (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP)
)
# Matches dingbats, private-use and undecodable characters. They make up at least 66 % of the text
# of 16 unreadable PDFs, and at most 12 % of the 933 others that were measured.
_SYMBOL = re.compile("[\u2700-\u27bf\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_GARBLED_SHARE = 1 / 3


def extract_pdf(body: bytes, url: str, name: str, *, layout: bool = True) -> Document:
    """Read a PDF's text; `pages` contains the pages' offsets, and a note reports scanned pages.

    Layout analysis takes most of the time. Without `layout`, only the first page is analysed (for
    the title and authors): tables become lines of text, and headings come only from the outline.

    Raises ExtractError if the file is broken or needs a password.
    """
    with _PDFIUM_LOCK:
        try:
            pdf = pypdfium2.PdfDocument(body)
        except pypdfium2.PdfiumError as error:
            if "password" not in str(error).lower():
                raise ExtractError(f"not readable as PDF: {error}") from error
            raise Encrypted("the PDF is encrypted") from error
        try:
            return _read_pdf(pdf, url, name, layout=layout)
        finally:
            pdf.close()


def _read_pdf(pdf: pypdfium2.PdfDocument, url: str, name: str, *, layout: bool) -> Document:
    pdf.init_forms()  # without this, form fields are neither read nor drawn
    titles, scanner, links = _outline(pdf), _Scanner(), Composer()
    pages: list[Document] = []
    words: set[str] = set()
    front = FrontMatter()
    for number in range(min(len(pdf), _MAX_PAGES)):
        composer = Composer()
        with suppress(pypdfium2.PdfiumError):  # the other pages remain readable
            page = pdf[number]
            text = page.get_textpage()
            for target, label in _page_links(page, text) if layout else ():
                links.link(target, label)
            fields = take_fields(page)
            comments, is_drawn_over = _annotations(page)
            # Text that was typed into fields and boxes is not part of the page's text until the
            # fields and boxes are merged into the page.
            if is_drawn_over and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == 1:
                text.close()
                page.close()
                page = pdf[number]
                text = page.get_textpage()
            lines = page_lines(text, layout=layout or not number or bool(fields))
            if not number and not _is_garbled(lines):
                front = read_front_matter(lines, usual_height(lines))
            if recognised := scanner.read(page, number, lines):
                composer.paragraph(recognised)
                lines = []
            lines = place_fields(lines, fields)
            add_page(composer, lines, titles.get(number, {}))
            shown = key("".join(line.text for line in lines)) if comments else ""
            for comment in comments:
                if key(comment) not in shown:
                    composer.paragraph(comment)
            words.update(*(line.text.lower().split() for line in lines))
            text.close()
            page.close()
        pages.append(composer.document("", "", ""))
    words = {word.strip(_EDGE_PUNCTUATION) for word in words}
    texts = [resolve_line_hyphens(page.text, words) for page in pages]
    offsets, end = [], 0
    for text in texts:
        offsets.append(end)
        end += len(text) + 2 if text else 0
    meta = {key: one_line(value) for key, value in pdf.get_metadata_dict().items()}
    first = next((text for n, text in enumerate(texts) if text and n not in scanner.garbled), "")
    return Document(
        url=url,
        title=_title(meta.get("Title", ""), front.title, first) or name,
        text="\n\n".join(filter(None, texts)),
        markdown="\n\n".join(resolve_line_hyphens(p.markdown, words) for p in pages if p.markdown),
        author=_author(meta.get("Author", ""), front.authors, first),
        published=front.published or _date(meta.get("CreationDate", "")),
        modified=_date(meta.get("ModDate", "")),
        kind="pdf",
        links=tuple(links.links.values()),
        tables=tuple(table for page in pages for table in page.tables),
        pages=tuple(min(offset, max(end - 2, 0)) for offset in offsets),
        notes=tuple(_notes(len(pdf), texts.count(""), len(scanner.garbled), scanner.pages)),
        publication=Publication(doi=front.doi, arxiv=front.arxiv),
    )


def _title(declared: str, shown: str, text: str) -> str:
    """Return the declared title if the document contains it, or else the largest or first line."""
    if declared.lower() in _UNTITLED or _FILE_NAME.fullmatch(declared.lower()):
        declared = ""
    if declared and (not shown or key(declared) in key(text)):
        return declared
    lines = [line for line in text.split("\n") if line and not line.startswith("|")]
    return shown or declared or next(iter(lines), "").strip("# ")[:200]


def _author(declared: str, shown: str, text: str) -> str | None:
    """Return the declared authors if the document shows them, or else those below its title.

    The declared author may be a user name or a template's author.
    """
    names = [word for word in re.findall(r"\w+", declared) if len(word) > 1]
    # A declared author who is one of several shown authors may have typeset the document.
    if names and key(names[-1]) in key(shown):
        return shown
    if names and (key(names[-1]) in key(text) or (not shown and len(names) > 1)):
        return declared if declared.lower() not in _UNTITLED else None
    return shown or None


def _annotations(page: pypdfium2.PdfPage) -> tuple[list[str], bool]:
    """Return a page's comments, and whether fields, boxes or stamps are drawn on it."""
    comments, is_drawn_over = [], False
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if not pdfium.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAGS:
            is_drawn_over = is_drawn_over or kind in _DRAWN_ANNOTATIONS
            if kind not in _NOT_COMMENTS:
                get = partial(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
                comments.append(read_string(get))
        pdfium.FPDFPage_CloseAnnot(annotation)
    return comments, is_drawn_over


def _is_garbled(lines: Iterable[Line]) -> bool:
    """Whether lines are unreadable because their font does not map glyphs to letters."""
    text = "".join(line.text for line in lines)
    return len(_SYMBOL.findall(text)) > _GARBLED_SHARE * len(text)


def _notes(count: int, empty: int, garbled: int, scanned: int) -> Iterator[str]:
    if scanned:
        yield f"pages read by OCR: {scanned}; letters may be wrong"
    if garbled:
        yield (
            f"the text of {garbled} of {count} pages is unreadable: their fonts do not say which"
            " letters they show; look for another copy of the document"
            " (the extra `ocr` can read some: pip install 'urchin-research[ocr]')"
        )
    if count and empty == min(count, _MAX_PAGES):
        yield (
            "a scan: its pages are images without text"
            " (the extra `ocr` can read some: pip install 'urchin-research[ocr]')"
        )
    elif empty:
        yield f"{empty} of {count} pages contain no text"
    if count > _MAX_PAGES:
        yield f"only the first {_MAX_PAGES} of {count} pages were read"


def _date(value: str) -> str | None:
    """Parse a date in PDF format (ISO 32000-1, 7.9.4): `D:20240503080000+02'00'`."""
    digits = value.removeprefix("D:").replace("'", "")
    return iso_date(f"{digits[:8]}T{digits[8:]}" if digits[8:14].isdecimal() else digits[:8])


def _outline(pdf: pypdfium2.PdfDocument) -> Mapping[int, Mapping[str, int]]:
    """Return the outline's headings by page, as a map from their `key` to their level (from 1)."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    try:
        for entry in islice(pdf.get_toc(max_depth=_MAX_OUTLINE_DEPTH), _MAX_OUTLINE_ENTRIES):
            target = entry.get_dest()
            page = target.get_index() if target else None
            if page is not None:
                found[page][key(entry.get_title())] = entry.level + 1
    except pypdfium2.PdfiumError:  # a broken outline: headings are recognised by size instead
        return {}
    return found


def _page_links(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage) -> Iterator[tuple[str, str]]:
    """Yield (address, link text) for the links to other documents."""
    document = page.pdf
    position, link, box = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    for _ in range(_MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, ctypes.byref(position), ctypes.byref(link)):
            return
        action = pdfium.FPDFLink_GetAction(link)
        size = pdfium.FPDFAction_GetURIPath(document, action, None, 0) if action else 0
        if not 0 < size <= _MAX_ADDRESS_CHARS:
            continue
        address = ctypes.create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(document, action, address, size)
        words = ""
        if pdfium.FPDFLink_GetAnnotRect(link, ctypes.byref(box)):
            words = text.get_text_bounded(box.left, box.bottom, box.right, box.top)
        yield address.value.decode("utf-8", "replace"), words


# 150 dpi: 10-point letters are 20 pixels high, as in the OCR models' training data.
_SCALE = 150 / 72
# A page takes 1 to 5 s on one core; the tool call that reads a document has a limit of 30 s.
_MAX_OCR_SECONDS = 20.0
# An image that covers this share of a page without text is a scan.
_SCAN_SHARE = 0.5
_MAX_PIXELS = 20_000_000
# Text recognised with a lower confidence is dirt or part of a drawing.
_MIN_CONFIDENCE = 0.5


class _Scanner:
    """Reads pages without readable text by OCR, until the time for OCR is used up.

    `pages` counts the pages read; `garbled` contains the numbers of the unreadable pages.
    """

    def __init__(self) -> None:
        self.pages = 0
        self.garbled: set[int] = set()
        self._until = math.inf

    def read(self, page: pypdfium2.PdfPage, number: int, lines: Sequence[Line]) -> str:
        """Return the lines of an image or of garbled text from top to bottom.

        Returns "" for other pages, without the extra `ocr`, or if time is up.
        """
        is_garbled = _is_garbled(lines)
        if not is_garbled and any(line.text.strip() for line in lines):
            return ""
        text = self._recognise(page) if is_garbled or _is_scan(page) else ""
        if is_garbled and not text:
            self.garbled.add(number)
        return text

    def _recognise(self, page: pypdfium2.PdfPage) -> str:
        if time.monotonic() > self._until:
            return ""
        engine = _ocr_engine()
        if engine is None:
            return ""
        # The clock starts when the engine has been loaded, which may be slow on a busy machine.
        self._until = min(self._until, time.monotonic() + _MAX_OCR_SECONDS)
        width, height = page.get_size()
        scale = min(_SCALE, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
        found = engine(page.render(scale=scale).to_numpy())
        lines = zip(found.txts or (), found.scores or (), strict=True)
        text = "\n".join(line for line, confidence in lines if confidence > _MIN_CONFIDENCE)
        self.pages += bool(text)
        return text


def _is_scan(page: pypdfium2.PdfPage) -> bool:
    width, height = page.get_size()
    for picture in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE]):
        left, bottom, right, top = picture.get_bounds()
        if (right - left) * (top - bottom) >= _SCAN_SHARE * width * height:
            return True
    return False


@cache
def _ocr_engine() -> Any:
    """Return the OCR engine, which is loaded once (2 s); None without the extra `ocr`."""
    try:
        from rapidocr import RapidOCR  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return RapidOCR(params={"Global.log_level": "critical"})
