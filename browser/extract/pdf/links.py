"""The links of a PDF's page: annotations with an address, and the words that they cover."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import pypdfium2.raw as pdfium

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pypdfium2

# A page of references has a hundred; more is a machine's.
_MOST_LINKS = 500
_LONGEST_ADDRESS = 2_000


def page_links(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage) -> Iterator[tuple[str, str]]:
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
