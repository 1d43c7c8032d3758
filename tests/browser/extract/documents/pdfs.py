"""Small test PDFs: positioned text, an outline, links, encryption."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Sheet:
    """A page: `texts` are (left, bottom, size, words), `links` (left, bottom, right, top, url)."""

    texts: list[tuple[float, float, float, str]]
    links: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    title: str = ""


def build_pdf(*sheets: Sheet, locked: bool = False) -> bytes:
    """Write the pages; each sheet's `title` becomes an outline entry."""
    objects: list[str] = ["", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]

    def add(content: str) -> int:
        objects.append(content)
        return len(objects)

    pages = [_page(sheet, add) for sheet in sheets]
    first = len(objects) + 2
    titled = [(page, sheet.title) for page, sheet in zip(pages, sheets, strict=True) if sheet.title]
    last = first + len(titled) - 1
    root = add(f"<</First {first} 0 R/Last {last} 0 R/Count {len(titled)}>>" if titled else "null")
    for n, (page, title) in enumerate(titled):
        following = f"/Next {first + n + 1} 0 R" if n + 1 < len(titled) else ""
        add(f"<</Title({title})/Parent {root} 0 R/Dest[{page} 0 R/Fit]{following}>>")
    outlines = f"/Outlines {root} 0 R" if titled else ""
    objects[0] = f"<</Type/Catalog/Pages 2 0 R{outlines}>>"
    kids = " ".join(f"{page} 0 R" for page in pages)
    objects[1] = f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>"
    return _file(objects, locked=locked)


def annotated_pdf(texts: list[tuple[float, float, float, str]], *annotations: str) -> bytes:
    """A page with texts, as in a Sheet, and annotations, which may be fields of a form."""
    kids = " ".join(f"{6 + n} 0 R" for n in range(len(annotations)))
    drawn = _drawn(texts)
    fonts = "<</Font<</F1 3 0 R>>>>"
    form = f"<</Fields[{kids}]/DA(/F1 11 Tf 0 g)/DR{fonts}>>"
    box = "/MediaBox[0 0 600 800]"
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/AcroForm{form}>>",
        "<</Type/Pages/Kids[5 0 R]/Count 1>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream",
        f"<</Type/Page/Parent 2 0 R{box}/Contents 4 0 R/Annots[{kids}]/Resources{fonts}>>",
        *annotations,
    ]
    return _file(objects, locked=False)


def _drawn(texts: list[tuple[float, float, float, str]]) -> str:
    return " ".join(
        f"BT /F1 {size} Tf {left} {bottom} Td ({words}) Tj ET"
        for left, bottom, size, words in texts
    )


def _page(sheet: Sheet, add: object) -> int:
    assert callable(add)
    drawn = _drawn(sheet.texts)
    stream = add(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    links = " ".join(
        f"<</Type/Annot/Subtype/Link/Rect[{a} {b} {c} {d}]/A<</S/URI/URI({url})>>>>"
        for a, b, c, d, url in sheet.links
    )
    number = add(
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {stream} 0 R"
        f"/Annots[{links}]/Resources<</Font<</F1 3 0 R>>>>>>"
    )
    return int(number)


def _file(objects: list[str], *, locked: bool) -> bytes:
    out, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    lock = f"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{'00' * 32}>/U<{'11' * 32}>>>"
    trailer = f"<</Size {size}/Root 1 0 R{lock if locked else ''}>>"
    xref = len(out)
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer{trailer}\n"
    return f"{out}startxref\n{xref}\n%%EOF".encode()
