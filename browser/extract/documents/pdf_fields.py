"""Reads the fields of a PDF form and puts their values beside their printed labels."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pypdfium2.raw as pdfium

from browser.extract.documents.pdf_layout import Cell, Line, usual_height
from browser.text.words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pypdfium2

HIDDEN_FLAGS = 0x01 | 0x02 | 0x20
"""Flags of annotations that are not shown: invisible, hidden, no view (ISO 32000-1, table 165)."""
MAX_ANNOTATIONS = 2_000
"""A form has hundreds of fields, a reviewed paper about a hundred comments."""
_MAX_BYTES = 20_000
_MAX_OPTIONS = 1_000
_BOXES = frozenset((pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON))
_CHOICES = frozenset((pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX))
_USUAL_HEIGHT = 12.0  # points, of the letters on a page without printed text
# A box belongs to the words beside it if they are not further away than this many line heights.
_BOX_GAP = 1.5
# A field often covers the end of the words beside it by less than this many line heights.
_COVER = 0.5
# A label above a field is at most this many line heights away from it.
_LABEL_GAP = 1.5
# A field of more lines than this has its label beside its first line.
_MAX_CENTRED_LINES = 2.5


class PdfField(NamedTuple):
    """A filled field or a box: its text, its own name, and its edges in points."""

    text: str
    name: str
    left: float
    bottom: float
    right: float
    top: float
    is_box: bool


def read_string(function: Callable[..., int]) -> str:
    """Return the text that a function of pdfium writes to its last arguments (buffer, size)."""
    text = ctypes.create_string_buffer(min(function(None, 0), _MAX_BYTES))
    function(ctypes.cast(text, ctypes.POINTER(pdfium.FPDF_WCHAR)), len(text))
    return text.raw.decode("utf-16-le", "ignore").rstrip("\0")


def take_fields(page: pypdfium2.PdfPage) -> list[PdfField]:
    """Return a page's filled fields and its boxes, and hide them on the page.

    Fields that are not returned, such as buttons and signatures, stay visible.
    """
    fields = []
    if page.formenv:
        for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
            annotation = pdfium.FPDFPage_GetAnnot(page, number)
            flags = pdfium.FPDFAnnot_GetFlags(annotation)
            is_widget = pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_WIDGET
            if is_widget and not flags & HIDDEN_FLAGS:
                field = _field(page.formenv, annotation)
                if field.text:
                    fields.append(field)
                    pdfium.FPDFAnnot_SetFlags(annotation, flags | HIDDEN_FLAGS)
            pdfium.FPDFPage_CloseAnnot(annotation)
    return fields


def _field(form: pypdfium2.PdfFormEnv, annotation: object) -> PdfField:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    text = ""
    if kind in _BOXES:
        text = "[x]" if pdfium.FPDFAnnot_IsChecked(form, annotation) else "[ ]"
    elif kind in _CHOICES:
        text = ", ".join(_chosen(form, annotation))
    flags = pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation)
    is_text = kind == pdfium.FPDF_FORMFIELD_TEXTFIELD
    is_secret = is_text and flags & pdfium.FPDF_FORMFLAG_TEXT_PASSWORD
    if not text and (is_text or kind in _CHOICES) and not is_secret:
        text = read_string(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation))
    names = (pdfium.FPDFAnnot_GetFormFieldAlternateName, pdfium.FPDFAnnot_GetFormFieldName)
    name = next(filter(None, (read_string(partial(get, form, annotation)) for get in names)), "")
    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(box))
    bottom, top = sorted((box.bottom, box.top))
    return PdfField(
        one_line(text), one_line(name), box.left, bottom, box.right, top, is_box=kind in _BOXES
    )


def _chosen(form: pypdfium2.PdfFormEnv, annotation: object) -> Iterator[str]:
    """Yield the labels of the chosen options; a field's value may be a code for them."""
    for n in range(min(pdfium.FPDFAnnot_GetOptionCount(form, annotation), _MAX_OPTIONS)):
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, n):
            yield read_string(partial(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, n))


def place_fields(lines: Sequence[Line], fields: Sequence[PdfField]) -> list[Line]:
    """Add fields to the printed lines that they are beside, or below as lines of their own.

    A field without printed text beside it or directly above it is labelled with its own name.
    """
    placed = list(lines)
    usual = usual_height(lines) or _USUAL_HEIGHT
    unlabelled: list[Line] = []
    for field in sorted(fields, key=lambda field: (-_first_line(field, usual), field.left)):
        if (at := _beside(placed, field, usual)) is not None:
            line = placed[at]
            placed[at] = _joined(line, field, is_named=line in unlabelled)
            unlabelled = [placed[at] if other is line else other for other in unlabelled]
            continue
        at, is_labelled = _below(placed, field, usual, unlabelled)
        text = field.text if is_labelled else _named(field)
        middle = _first_line(field, usual)
        line = Line((Cell(text, field.left, field.right),), usual, middle - usual / 2)
        placed.insert(at, line)
        if not is_labelled:
            unlabelled.append(line)
    return placed


def _named(field: PdfField) -> str:
    if not field.name:
        return field.text
    return f"{field.text} {field.name}" if field.is_box else f"{field.name}: {field.text}"


def _first_line(field: PdfField, usual: float) -> float:
    """Return the middle of a field's first line."""
    if field.top - field.bottom > _MAX_CENTRED_LINES * usual:
        return field.top - usual
    return (field.bottom + field.top) / 2


def _beside(lines: Sequence[Line], field: PdfField, usual: float) -> int | None:
    """Return the nearest line at a field's height; for values, rather one that starts before it."""
    middle, best = _first_line(field, usual), None
    for at, line in enumerate(lines):
        reach = max(line.height, usual) / 2
        if not line.height or abs(line.bottom + line.height / 2 - middle) > reach:
            continue
        gap = min(_gap(cell, field) for cell in line.cells)
        rank = (not field.is_box and line.cells[0].left > field.left, gap, at)
        best = rank if best is None else min(best, rank)
    return best[-1] if best else None


def _below(
    lines: Sequence[Line], field: PdfField, usual: float, unlabelled: Sequence[Line]
) -> tuple[int, bool]:
    """Return where a field follows the nearest line above it, and whether that is its label."""
    middle = _first_line(field, usual)
    found = []
    for at, line in enumerate(lines):
        if line.height and line.bottom > middle:
            is_near = line.bottom - field.top <= _LABEL_GAP * usual
            is_over = min(_gap(cell, field) for cell in line.cells) < 0
            found.append((not (is_near and is_over), line.bottom - middle, at))
    if not found:  # also if the lines have no positions
        return (0 if any(line.height for line in lines) else len(lines)), False
    is_apart, _, at = min(found)
    return at + 1, not is_apart and lines[at] not in unlabelled


def _gap(cell: Cell, field: PdfField) -> float:
    """Return the distance between a cell and a field; negative if one is above the other."""
    return max(cell.left - field.right, field.left - cell.right)


def _joined(line: Line, field: PdfField, *, is_named: bool) -> Line:
    """Add a field to a line: within a cell that it partly covers, or as a cell of its own."""
    text = _named(field) if is_named else field.text
    cells = list(line.cells)
    nearest = min(range(len(cells)), key=lambda n: _gap(cells[n], field))
    cell = cells[nearest]
    if _gap(cell, field) > (_BOX_GAP if field.is_box else -_COVER) * line.height:
        cells = sorted((*cells, Cell(text, field.left, field.right)), key=lambda c: c.left)
        return line._replace(cells=tuple(cells))
    # The words' positions are not known, but are about proportional to their letters.
    words = cell.text.split(" ")
    is_label = not field.is_box and field.left <= cell.left and field.right >= cell.right
    share = 1.0 if is_label else (field.left - cell.left) / max(cell.right - cell.left, 1.0)
    ends = [len(" ".join(words[:n])) / max(len(cell.text), 1) for n in range(len(words) + 1)]
    at = min(range(len(ends)), key=lambda n: abs(ends[n] - share))
    cells[nearest] = Cell(
        " ".join((*words[:at], text, *words[at:])),
        min(cell.left, field.left),
        max(cell.right, field.right),
    )
    return line._replace(cells=tuple(cells))
