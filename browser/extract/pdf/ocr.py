"""Scanned pages read by their picture, with the extra `ocr` (its models come with the library)."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as pdfium

if TYPE_CHECKING:
    import pypdfium2

# 150 dots an inch: letters of 10 points are 20 pixels high, as the models were trained on.
_SCALE = 150 / 72
# A page takes 1 to 5 s on one core; a call that reads a page has 30 s.
_MOST_SECONDS = 20.0
# A scan fills its page; a picture on an empty one is a picture.
_SCAN = 0.5
_MOST_PIXELS = 20_000_000
# What is less sure than this is dirt, or a drawing.
_SUREST_DIRT = 0.5


class Scanner:
    """Reads pages without text as long as its time lasts; `pages` counts those read."""

    def __init__(self) -> None:
        self.pages = 0
        self._until = time.monotonic() + _MOST_SECONDS

    def read(self, page: pypdfium2.PdfPage) -> str:
        """The lines of a page from top to bottom; nothing without the extra or without time."""
        engine = _engine()
        width, height = page.get_size()
        if engine is None or time.monotonic() > self._until or not _is_scan(page, width * height):
            return ""
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
