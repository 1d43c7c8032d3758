"""Reads Word documents (.docx and related) with mammoth.

mammoth converts a document to HTML, which is then read like a page. Before that, the parts are
parsed safely and rewritten: entities, hidden or deleted text and irrelevant formatting are removed,
equations become TeX, and the numbers that Word displays before paragraphs are added. Headers and
footers, which mammoth does not read, and chart data are added afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from io import BytesIO
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError
from zipfile import ZipFile

from lxml import etree

from browser.errors import ExtractError
from browser.extract.documents.archive import missing_extra_error, relations_of
from browser.extract.documents.charts import read_drawings
from browser.extract.documents.composer import Composer, dublin_core
from browser.extract.documents.word_numbers import MAX_STYLE_DEPTH, Numbers, W
from browser.extract.tree import MAX_TAGS, local_name, parse_html, parse_xml, truncate_tags

if TYPE_CHECKING:
    from browser.extract.documents.archive import Archive
    from browser.types import Document

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# The parts that mammoth reads, and whether they contain text. It treats missing parts as empty.
_MAMMOTH_PARTS = {
    "styles": False, "numbering": False, "footnotes": True, "endnotes": True, "comments": True
}  # fmt: skip
# A thousand-page book has 200,000 tags, or 800,000 if heavily formatted; mammoth takes about 30 µs
# and 1 KB for each tag that is not removed.
_MAX_TAGS = 1_000_000
_REMOVED = tuple(
    f"{W}{name}"
    for name in """del moveFrom instrText delText sectPr proofErr bookmarkStart bookmarkEnd drawing
    object commentRangeStart commentRangeEnd fldChar sdtPr sdtEndPr""".split()
)
# Content controls and the like, which are replaced by their content: mammoth supports them only in
# some places.
_WRAPPERS = tuple(f"{W}{name}" for name in ("sdt", "sdtContent", "smartTag", "customXml"))
_KEPT_FORMATS = frozenset((f"{W}b", f"{W}i", f"{W}rStyle"))
# Letters smaller than two points are treated as hidden; sizes are in half-points.
_MIN_HALF_POINTS = 4
_OFF_VALUES = frozenset(("0", "false", "off", "none"))
_BODY_LEVEL = 9
_STYLE_MAP = """
p[style-name='Title'] => h1:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name^='List Bullet'] => ul > li:fresh
p[style-name^='List Number'] => ol > li:fresh
p[style-name='HTML Preformatted'] => pre:separator('\n')
comment-reference => sup
"""
_TOO_LONG = "only the beginning was read: the document is too long"


def read_docx(archive: Archive, main: str, url: str, name: str) -> Document:
    """Read a document's visible content.

    This includes headings, paragraphs, lists, tables, links, equations, notes, comments, charts,
    headers and footers. Hidden text and text deleted in tracked changes are left out. Raises
    ExtractError for a broken file, or without the extra `office`.
    """
    try:
        import mammoth  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra_error("docx", "office", "PDF") from error

    composer = Composer()
    packed = BytesIO(_repack(archive, main, composer.notes))
    try:
        page = mammoth.convert_to_html(
            packed, style_map=_STYLE_MAP, convert_image=lambda _: []
        ).value
    # mammoth does not check its input: damaged files may raise any of these.
    except (
        LookupError, ValueError, TypeError, AttributeError, OSError, RecursionError, ExpatError,
    ) as error:  # fmt: skip
        raise ExtractError(f"not readable as a Word file: {error!r}") from error
    if page.count("<") > MAX_TAGS:
        composer.notes.append(_TOO_LONG)
    root = parse_html(f"<body>{page}</body>")
    for link in root.iter("a"):
        if (link.get("href") or "").startswith("#") and link.text == "↑":
            link.text = ""  # the link from a footnote back to the text
    _mark_tables(root)
    parts = [*dict.fromkeys(archive.related(main).values())]
    _add_headers_or_footers(archive, composer, [part for kind, part in parts if kind == "header"])
    composer.markup(root)
    read_drawings(archive, main, composer)
    _add_headers_or_footers(archive, composer, [part for kind, part in parts if kind == "footer"])
    return composer.document(url, "docx", name, dublin_core(archive.tree("docProps/core.xml")))


def _mark_tables(root: etree._Element) -> None:
    for table in root.iter("table"):
        rows = list(table.iter("tr"))
        # `is_data_table` treats tables with a caption or header cells as data. A one-column table
        # is layout; a two-column table may be names and values, so it gets no header cells.
        widest = max(map(len, rows), default=0)
        if widest == 2:
            table.insert(0, etree.Element("caption"))
        elif widest > 2:
            for cell in rows[0]:
                cell.tag = "th"


def _add_headers_or_footers(archive: Archive, composer: Composer, parts: list[str]) -> None:
    """Add the paragraphs of headers or footers, without duplicates."""
    texts = {}
    for root in map(archive.tree, parts):
        if root is None:
            continue
        _clean_part(root, {}, None)
        for paragraph in root.iter(f"{W}p"):
            pieces = (n.text or " " for n in paragraph.iter(f"{W}t", f"{W}tab", f"{W}br"))
            texts["".join(pieces).strip()] = True
    for text in texts:
        if any(map(str.isalpha, text)):  # skips page numbers
            composer.paragraph(text)


def _repack(archive: Archive, main: str, notes: list[str]) -> bytes:
    """Clean the parts that mammoth needs, and pack them into a new file."""
    related = archive.related(main).values()
    parts = {main: True} | {
        to: _MAMMOTH_PARTS[kind] for kind, to in related if kind in _MAMMOTH_PARTS
    }
    styles = archive.tree(archive.part(main, "styles"))
    headings = _heading_levels(styles)
    numbers = Numbers(archive.tree(archive.part(main, "numbering")), styles)
    if not archive.read(main):
        raise ExtractError("the Word file has no text part")
    out = BytesIO()
    with ZipFile(out, "w") as packed:
        for part, has_text in parts.items():
            data = archive.read(part)
            read = truncate_tags(data, _MAX_TAGS)
            if len(read) < len(data):
                notes.append(_TOO_LONG)
            root = parse_xml(read)
            if root is None and part == main:
                raise ExtractError("the text of the Word file is invalid XML")
            if root is not None:
                if has_text and (pictures := _clean_part(root, headings, numbers)):
                    notes.append(f"pictures not read: {pictures}")
                _complete_styles(root)
                packed.writestr(part, etree.tostring(root))
        for part in ("", *parts):
            root = archive.tree(relations_of(part))
            data = b"<Relationships/>" if root is None else etree.tostring(root)
            packed.writestr(relations_of(part), data)
    return out.getvalue()


def _complete_styles(root: etree._Element) -> None:
    """Remove styles without an id, and add missing types: mammoth needs both."""
    for style in list(root.iter(f"{W}style")):
        parent = style.getparent()
        if parent is not None and f"{W}styleId" not in style.attrib:
            parent.remove(style)
        style.set(f"{W}type", style.get(f"{W}type", "paragraph"))


def _clean_part(root: etree._Element, headings: dict[str, int], numbers: Numbers | None) -> int:
    """Remove invisible content and content that mammoth cannot read; returns the picture count."""
    etree.strip_tags(root, etree.Entity, *_WRAPPERS)
    for equation in list(root.iter(f"{_M}oMath")):
        _replace(equation, _run(f"${_tex(equation).strip()}$"))
    etree.strip_elements(root, f"{_MC}Fallback", with_tail=False)  # the same drawings again
    etree.strip_tags(root, f"{_MC}AlternateContent", f"{_MC}Choice")
    pictures = sum(1 for _ in root.iter("{*}blip", "{*}imagedata"))
    for drawing in list(root.iter(f"{W}drawing", f"{W}pict")):
        boxes = [*drawing.iter(f"{W}txbxContent")]
        for box in boxes[1:]:  # a group of text boxes
            boxes[0].extend(box)
        text = _alternative_text(drawing)
        for shown in [*boxes, *([_run(text)] if text else ())][:1]:
            _replace(drawing, shown)
    _clean_formats(root)
    if numbers is not None:
        _write_numbers(root, numbers)
    for properties in root.iter(f"{W}pPr"):
        _set_level(properties, headings)
    for gone in list(root.iter(*_REMOVED)):
        if (parent := gone.getparent()) is not None:
            parent.remove(gone)
    return pictures


def _clean_formats(root: etree._Element) -> None:
    """Empty hidden runs, and remove irrelevant formatting."""
    for style in list(root.iter(f"{W}rPr")):
        run = style.getparent()
        if run is not None and run.tag == f"{W}r" and _is_hidden(style):
            run.clear()
        else:
            style[:] = [mark for mark in style if mark.tag in _KEPT_FORMATS]


def _alternative_text(drawing: etree._Element) -> str:
    texts = (node.get("descr", "").split() for node in drawing.iter("{*}docPr"))
    return next((f"Picture: {' '.join(text)}" for text in texts if text), "")


def _write_numbers(root: etree._Element, numbers: Numbers) -> None:
    for paragraph in root.iter(f"{W}p"):
        if label := numbers.next_label(paragraph):
            paragraph.insert(1, _run(f"{label} "))  # its properties come first


def _run(text: str) -> etree._Element:
    run = etree.Element(f"{W}r")
    etree.SubElement(run, f"{W}t").text = text
    return run


def _replace(old: etree._Element, new: etree._Element) -> None:
    if (parent := old.getparent()) is not None:
        parent.replace(old, new)


def _is_hidden(style: etree._Element) -> bool:
    for name in ("vanish", "webHidden"):
        mark = style.find(f"{W}{name}")
        if mark is not None and mark.get(f"{W}val", "1").lower() not in _OFF_VALUES:
            return True
    size = _value(style, "sz")
    if size.isdecimal() and int(size) < _MIN_HALF_POINTS:
        return True
    # White letters on a white page are hidden; inside a table, or with their own background,
    # they may be readable.
    in_table = next(style.iterancestors(f"{W}tbl"), None) is not None
    if _value(style, "color").lower() != "ffffff" or in_table:
        return False
    paragraph = next(style.iterancestors(f"{W}p"), style)
    return next(paragraph.iter(f"{W}shd", f"{W}highlight"), None) is None


def _heading_levels(styles: etree._Element | None) -> dict[str, int]:
    """Return each paragraph style's heading level, which may be inherited; 0 if not a heading.

    In the file, the names of Word's built-in styles are in English, regardless of its language.
    """
    found = styles.iter(f"{W}style") if styles is not None else ()
    nodes = {node.get(f"{W}styleId", ""): node for node in found}

    def level(name: str, depth: int) -> int:
        node = nodes.get(name)
        if node is None or depth == 0:
            return 0
        words = _value(node, "name").lower().split()
        outline = _value(node, "pPr/outlineLvl")
        if words[:1] == ["heading"] and words[-1].isdecimal():
            return int(words[-1])
        return (
            int(outline) + 1 if outline.isdecimal() else level(_value(node, "basedOn"), depth - 1)
        )

    return {name: level(name, MAX_STYLE_DEPTH) for name in nodes}


def _set_level(properties: etree._Element, headings: dict[str, int]) -> None:
    """Give a heading the style name that mammoth expects."""
    style = properties.find(f"{W}pStyle")
    outline = _value(properties, "outlineLvl")
    level = (
        int(outline) + 1 if outline.isdecimal() else headings.get(_value(properties, "pStyle"), 0)
    )
    if 0 < level <= _BODY_LEVEL:
        if style is None:
            style = etree.SubElement(properties, f"{W}pStyle")
        style.set(f"{W}val", f"Heading{min(level, 6)}")


def _value(element: etree._Element, path: str) -> str:
    child = element.find("/".join(f"{W}{name}" for name in path.split("/")))
    return child.get(f"{W}val", "") if child is not None else ""


_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# Operators and accents that are commands in TeX; other characters are left unchanged.
_COMMANDS = {
    "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∮": r"\oint", "⋃": r"\bigcup",
    "\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0305": r"\overline",
    "\u0307": r"\dot", "\u0308": r"\ddot", "\u20d7": r"\vec",
}  # fmt: skip
# The symbols that structures have by default.
_DEFAULT_SIGNS = {"nary": "∫", "acc": "\u0302", "bar": "\u0305"}
_TEX_FORMS = {
    "f": r"\frac{{{num}}}{{{den}}}", "func": "{fName} {e}", "rad": r"\sqrt{degree}{{{e}}}",
    "sSup": "{e}{scripts}", "sSub": "{e}{scripts}", "sSubSup": "{e}{scripts}",
    "nary": "{sign}{scripts} {e}", "limLow": "{e}{below}", "limUpp": "{e}{above}",
    "acc": "{sign}{{{e}}}", "bar": "{sign}{{{e}}}",
}  # fmt: skip


def _tex(node: etree._Element) -> str:
    """Convert an `m:oMath` element or part of it to TeX; unknown structures yield their text."""
    name = local_name(node)
    if name == "t":
        return node.text or ""
    return "" if name.endswith("Pr") else _structure(node, name)


def _structure(node: etree._Element, name: str) -> str:
    parts = [(local_name(child), _tex(child)) for child in node]
    if name in _TEX_FORMS:
        first = defaultdict(str, {key: text.strip() for key, text in reversed(parts)})
        sign = _property(node, "chr", _DEFAULT_SIGNS.get(name, ""))
        first["sign"] = _COMMANDS.get(sign, sign)
        first["scripts"] = _script("_", first["sub"]) + _script("^", first["sup"])
        first["degree"] = f"[{first['deg']}]" if first["deg"] else ""
        first["below"], first["above"] = _script("_", first["lim"]), _script("^", first["lim"])
        return _TEX_FORMS[name].format_map(first)
    if name == "d":
        inner = _property(node, "sepChr", "|").join(text for key, text in parts if key == "e")
        return f"{_property(node, 'begChr', '(')}{inner}{_property(node, 'endChr', ')')}"
    if name in {"m", "eqArr"}:
        rows = r" \\ ".join(text for key, text in parts if key in {"mr", "e"})
        return rf"\begin{{matrix}}{rows}\end{{matrix}}"
    return (" & " if name == "mr" else "").join(text for _, text in parts)


def _script(mark: str, text: str) -> str:
    return f"{mark}{{{text}}}" if len(text) > 1 else f"{mark}{text}" if text else ""


def _property(node: etree._Element, name: str, default: str) -> str:
    """A property's value; "" if it has no value, `default` if it is missing."""
    found = node.find(f"{_M}{local_name(node)}Pr/{_M}{name}")
    return default if found is None else found.get(f"{_M}val", "")
