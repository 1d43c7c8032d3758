"""Word documents and presentations (.docx, .pptx and their kin).

mammoth turns a Word document into HTML, which is read as a page is. Before it sees them, the parts
are parsed safely and written anew: without entities, hidden and deleted text, formatting that says
nothing, and with equations as TeX. Each slide is a page, its title a heading, its notes below.
"""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError
from zipfile import ZipFile

from lxml import etree

from browser.errors import ExtractError
from browser.extract.documents.archive import parse_xml, without_office
from browser.extract.documents.composer import Composer, core_properties
from browser.extract.tree import MOST_TAGS, bounded, parse_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.extract.documents.archive import Archive
    from browser.types import Document

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Parts that mammoth looks at. What it is not given it takes for empty.
_NEEDED = ("styles", "numbering", "footnotes", "endnotes")
_WITH_TEXT = frozenset(("footnotes", "endnotes"))
# A book of a thousand pages has 200,000 tags, heavily formatted 800,000; mammoth takes some 30 µs
# and 1 KB for each that is left.
_MOST_TAGS = 1_000_000
_GONE = (
    f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}delText", f"{W}sectPr", f"{W}proofErr",
    f"{W}bookmarkStart", f"{W}bookmarkEnd", f"{W}drawing", f"{W}object", f"{W}commentReference",
    f"{W}commentRangeStart", f"{W}commentRangeEnd",
)  # fmt: skip
_KEPT_FORMATS = frozenset((f"{W}b", f"{W}i", f"{W}rStyle"))
# Half points; smaller than two points nobody reads.
_SMALLEST = 4
_OFF = frozenset(("0", "false", "off", "none"))
_DEEPEST_STYLE = 10
_BODY_LEVEL = 9
_STYLE_MAP = """
p[style-name='Title'] => h1:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name^='List Bullet'] => ul > li:fresh
p[style-name^='List Number'] => ol > li:fresh
p[style-name='HTML Preformatted'] => pre:separator('\n')
r[style-name='footnote reference'] => !
r[style-name='endnote reference'] => !
"""


def read_docx(archive: Archive, main: str, url: str, name: str) -> Document:
    """Read headings, paragraphs, lists, tables, links, equations and notes; no comments.

    Text that is hidden, or that tracked changes deleted, is not read. Raises ExtractError for a
    broken file.
    """
    try:
        import mammoth  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise without_office("docx", "PDF") from error

    composer = Composer()
    packed = _rewritten(archive, main, composer)
    try:
        page = mammoth.convert_to_html(
            BytesIO(packed), style_map=_STYLE_MAP, convert_image=lambda _: []
        ).value
    # mammoth raises whatever it runs into on files that are not what they claim to be.
    except (
        LookupError, ValueError, TypeError, AttributeError, OSError, RecursionError, ExpatError,
    ) as error:  # fmt: skip
        raise ExtractError(f"not readable as a Word file: {error!r}") from error
    if page.count("<") > MOST_TAGS:
        composer.notes.append("only its beginning was read: it is far too long")
    root = parse_html(f"<body>{page}</body>")
    for link in root.iter("a"):
        if (link.get("href") or "").startswith("#") and link.text == "↑":
            link.text = ""  # the way back from a footnote
    for table in root.iter("table"):
        rows = list(table.iter("tr"))
        # One of a single column lays out paragraphs; one of two may be of names and values.
        widest = max(map(len, rows), default=0)
        if widest == 2:
            table.insert(0, etree.Element("caption"))
        elif widest > 2:
            for cell in rows[0]:
                cell.tag = "th"
    composer.markup(root)
    return composer.document(url, "docx", name, core_properties(archive))


def _rewritten(archive: Archive, main: str, composer: Composer) -> bytes:
    """Pack anew what mammoth needs, without what nobody sees."""
    related = archive.related(main)
    parts = {main: True} | {to: kind in _WITH_TEXT for kind, to in related.values()
                            if kind in _NEEDED}  # fmt: skip
    styles = archive.tree(next((to for kind, to in related.values() if kind == "styles"), ""))
    headings = _heading_styles(styles)
    if not archive.read(main):
        raise ExtractError("the Word file lacks its text")
    out = BytesIO()
    with ZipFile(out, "w") as packed:
        for part, has_text in parts.items():
            data = archive.read(part)
            whole = len(data)
            data = bounded(data, _MOST_TAGS)
            if len(data) < whole:
                composer.notes.append("only its beginning was read: it is far too long")
            root = parse_xml(data)
            if root is None and part == main:
                raise ExtractError("the text of the Word file is broken XML")
            if root is not None:
                if has_text and (pictures := _clean(root, headings)):
                    composer.notes.append(f"{pictures} pictures in it were not read")
                packed.writestr(part, etree.tostring(root))
                packed.writestr(archive.relations_of(part), archive.relations(part))
        packed.writestr(archive.relations_of(""), archive.relations(""))
    return out.getvalue()


def _clean(root: etree._Element, headings: dict[str, int]) -> int:
    """Take out what nobody sees, and what mammoth cannot read; how many pictures went with it."""
    etree.strip_tags(root, etree.Entity)
    for equation in list(root.iter(f"{_M}oMath")):
        _replace(equation, _run(f"${_tex(equation).strip()}$"))
    for choice in list(root.iter(f"{_MC}AlternateContent")):
        _replace(choice, next(choice.iter(f"{W}txbxContent"), etree.Element(f"{W}r")))
    for drawing in list(root.iter(f"{W}drawing", f"{W}pict")):
        if (box := next(drawing.iter(f"{W}txbxContent"), None)) is not None:
            _replace(drawing, box)
    for style in list(root.iter(f"{W}rPr")):
        run = style.getparent()
        if run is not None and run.tag == f"{W}r" and _is_hidden(style):
            run.clear()
        else:
            style[:] = [mark for mark in style if mark.tag in _KEPT_FORMATS]
    for paragraph in root.iter(f"{W}p"):
        _set_level(paragraph, headings)
    pictures = sum(1 for _ in root.iter("{*}blip", "{*}imagedata"))
    for gone in list(root.iter(*_GONE)):
        if (parent := gone.getparent()) is not None:
            parent.remove(gone)
    return pictures


def _replace(old: etree._Element, new: etree._Element) -> None:
    if (parent := old.getparent()) is not None:
        parent.replace(old, new)


def _run(text: str) -> etree._Element:
    run = etree.Element(f"{W}r")
    etree.SubElement(run, f"{W}t").text = text
    return run


def _is_hidden(style: etree._Element) -> bool:
    if _is_on(style, "vanish") or _is_on(style, "webHidden"):
        return True
    size = _value(style, "sz")
    if size.isdecimal() and int(size) < _SMALLEST:
        return True
    # White letters on the white of the page; a ground of their own, or a table's, may be dark.
    if _value(style, "color").lower() != "ffffff" or next(style.iterancestors(f"{W}tbl"), None):
        return False
    paragraph = next(style.iterancestors(f"{W}p"), style)
    return next(paragraph.iter(f"{W}shd", f"{W}highlight"), None) is None


def _is_on(style: etree._Element, name: str) -> bool:
    mark = style.find(f"{W}{name}")
    return mark is not None and mark.get(f"{W}val", "1").lower() not in _OFF


def _heading_styles(styles: etree._Element | None) -> dict[str, int]:
    """The level of each paragraph style that is a heading's, by its name or the one it builds on.

    Word names built-in styles in English in the file, whatever language it shows.
    """
    nodes = {node.get(f"{W}styleId", ""): node
             for node in (styles.iter(f"{W}style") if styles is not None else ())}  # fmt: skip

    def level(name: str, depth: int) -> int:
        node = nodes.get(name)
        if node is None or depth == 0:
            return 0
        words = _value(node, "name").lower().split()
        outline = _value(node, "pPr/outlineLvl")
        if words[:1] == ["heading"] and words[-1].isdecimal():
            return int(words[-1])
        if outline.isdecimal():
            return int(outline) + 1
        return level(_value(node, "basedOn"), depth - 1)

    return {name: level(name, _DEEPEST_STYLE) for name in nodes}


def _set_level(paragraph: etree._Element, headings: dict[str, int]) -> None:
    """Name the style of a heading as mammoth knows it, whatever the document calls it."""
    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        return
    style = properties.find(f"{W}pStyle")
    outline = _value(properties, "outlineLvl")
    level = headings.get(style.get(f"{W}val", ""), 0) if style is not None else 0
    if outline.isdecimal():
        level = int(outline) + 1
    if 0 < level <= _BODY_LEVEL:
        if style is None:
            style = etree.SubElement(properties, f"{W}pStyle")
        style.set(f"{W}val", f"Heading{min(level, 6)}")


def _value(element: etree._Element, path: str) -> str:
    child = element.find("/".join(f"{W}{name}" for name in path.split("/")))
    return child.get(f"{W}val", "") if child is not None else ""


_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# Signs of sums and accents that TeX writes as commands; all other letters stay as they are.
_SUMS = {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∮": r"\oint", "⋃": r"\bigcup"}
_ACCENTS = {
    "\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0305": r"\overline",
    "\u0307": r"\dot", "\u0308": r"\ddot", "\u20d7": r"\vec",
}  # fmt: skip


def _tex(element: etree._Element) -> str:
    """Give an `m:oMath`, or any part of one, as TeX; structures without a form keep their text."""
    return "".join(_pieces(element))


def _pieces(element: etree._Element) -> Iterator[str]:
    for node in element:
        if isinstance(node.tag, str) and node.tag.endswith("}t"):
            yield node.text or ""
        elif isinstance(node.tag, str) and not node.tag.endswith("Pr"):
            yield _structure(node)


def _structure(node: etree._Element) -> str:  # noqa: PLR0911 - one form a structure
    match node.tag.removeprefix(_M):
        case "f":
            over, under = _part(node, "num"), _part(node, "den")
            return f"({over})/({under})" if _property(node, "type") == "lin" else _frac(over, under)
        case "sSup" | "sSub" | "sSubSup" | "sPre":
            scripts = _script("_", _part(node, "sub")) + _script("^", _part(node, "sup"))
            base = _part(node, "e")
            return f"{{}}{scripts}{base}" if node.tag == f"{_M}sPre" else f"{base}{scripts}"
        case "rad":
            degree = _part(node, "deg")
            return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(node, 'e')}}}"
        case "nary":
            sign = _property(node, "chr", "∫")
            limits = _script("_", _part(node, "sub")) + _script("^", _part(node, "sup"))
            return f"{_SUMS.get(sign, sign)}{limits} {_part(node, 'e')}"
        case "d":
            inner = _property(node, "sepChr", "|").join(_tex(e) for e in node.findall(f"{_M}e"))
            return f"{_property(node, 'begChr', '(')}{inner}{_property(node, 'endChr', ')')}"
        case "func":
            return f"{_part(node, 'fName')} {_part(node, 'e')}"
        case "limLow" | "limUpp":
            mark = "_" if node.tag == f"{_M}limLow" else "^"
            return _part(node, "e") + _script(mark, _part(node, "lim"))
        case "acc" | "bar":
            sign = _property(node, "chr", "\u0302" if node.tag == f"{_M}acc" else "\u0305")
            return f"{_ACCENTS.get(sign, sign)}{{{_part(node, 'e')}}}"
        case "m" | "eqArr":
            rows = node.findall(f"{_M}mr") or node.findall(f"{_M}e")
            cells = (" & ".join(map(_tex, row.findall(f"{_M}e"))) or _tex(row) for row in rows)
            body = r" \\ ".join(cells)
            return rf"\begin{{matrix}}{body}\end{{matrix}}"
    return _tex(node)


def _frac(over: str, under: str) -> str:
    return rf"\frac{{{over}}}{{{under}}}"


def _part(node: etree._Element, name: str) -> str:
    part = node.find(f"{_M}{name}")
    return _tex(part).strip() if part is not None else ""


def _script(mark: str, text: str) -> str:
    return f"{mark}{{{text}}}" if len(text) > 1 else f"{mark}{text}" if text else ""


def _property(node: etree._Element, name: str, default: str = "") -> str:
    """The value of a property; one that is there without a value is an empty sign."""
    found = node.find(f"{_M}{node.tag.removeprefix(_M)}Pr/{_M}{name}")
    return default if found is None else found.get(f"{_M}val", "")


_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES = frozenset(("title", "ctrTitle"))
# Date, footer and number stand on every slide; the picture of the slide on its notes.
_FRAME = frozenset(("dt", "ftr", "sldNum", "hdr", "sldImg"))
_MOST_SLIDES = 1_000


def read_pptx(archive: Archive, main: str, url: str, name: str) -> Document:
    """Read the slides in order; `pages` holds where each begins. Raises ExtractError if broken."""
    root = archive.tree(main)
    if root is None:
        raise ExtractError("the presentation lacks its list of slides")
    parts = archive.related(main)
    composer = Composer()
    offsets = []
    for node in [*root.iter(f"{_P}sldId")][:_MOST_SLIDES]:
        offsets.append(composer.length)
        _read_slide(archive, parts.get(node.get(f"{_R}id", ""), ("", ""))[1], composer)
    document = composer.document(url, "pptx", name, core_properties(archive))
    return replace(document, pages=tuple(min(at, len(document.text)) for at in offsets))


def _read_slide(archive: Archive, part: str, composer: Composer) -> None:
    root = archive.tree(part)
    if root is None or root.get("show") == "0":  # a hidden slide
        return
    related = archive.related(part)
    links = {key: to for key, (kind, to) in related.items() if kind == "hyperlink"}
    for shape in root.iter(f"{_P}sp", f"{_A}tbl"):
        if shape.tag == f"{_A}tbl":
            _read_table(shape, composer)
        else:
            _read_shape(shape, composer, links)
    for kind, target in related.values():
        if kind == "chart" and (chart := archive.tree(target)) is not None:
            _read_chart(chart, composer)
    if pictures := sum(1 for _ in root.iter(f"{_P}pic")):
        composer.notes.append(f"{pictures} pictures on a slide were not read")
    notes = archive.tree(next((to for kind, to in related.values() if kind == "notesSlide"), ""))
    for shape in notes.iter(f"{_P}sp") if notes is not None else ():
        _read_shape(shape, composer, {})


def _read_shape(shape: etree._Element, composer: Composer, links: dict[str, str]) -> None:
    role = next((node.get("type", "") for node in shape.iter(f"{_P}ph")), "")
    if role in _FRAME:
        return
    texts = [text for p in shape.iter(f"{_A}p") if (text := _text(p))]
    if role in _TITLES:
        composer.heading(2, " ".join(texts))
    else:
        for text in texts:
            composer.paragraph(text, kind="item" if role else "paragraph")
    for run in shape.iter(f"{_A}r"):
        for link in run.iter(f"{_A}hlinkClick"):
            composer.link(links.get(link.get(f"{_R}id", ""), ""), _text(run))


def _read_table(table: etree._Element, composer: Composer) -> None:
    rows = [[_text(cell) for cell in row.iter(f"{_A}tc")] for row in table.iter(f"{_A}tr")]
    composer.table(rows)


def _read_chart(chart: etree._Element, composer: Composer) -> None:
    """Add the numbers that a chart draws, a row a series."""
    titles = [_text(title) for title in chart.iter(f"{_C}title")]
    series = list(chart.iter(f"{_C}ser"))[:_MOST_SLIDES]
    kinds = next((_values(one, "cat") or _values(one, "xVal") for one in series), [])
    rows = [["", *kinds]] if kinds else []
    rows += [
        ["".join(_values(one, "tx")), *(_values(one, "val") or _values(one, "yVal"))]
        for one in series
    ]
    composer.table(rows, caption=titles[0] if titles else "")
    for title in titles[1:]:
        composer.paragraph(title)


def _values(series: etree._Element, name: str) -> list[str]:
    part = series.find(f"{_C}{name}")
    return [value.text or "" for value in part.iter(f"{_C}v")] if part is not None else []


def _text(element: etree._Element) -> str:
    pieces = (
        node.text or "" if node.tag == f"{_A}t" else " "
        for node in element.iter(f"{_A}t", f"{_A}br")
    )
    return " ".join("".join(pieces).split())
