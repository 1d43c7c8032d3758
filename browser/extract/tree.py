"""The bytes that came: what they really are, as text, and their HTML as an lxml tree.

The first bytes decide what a body is, then the header, then the URL's ending. The encoding is found
in the order in which browsers look for it: byte order mark, the header's charset, the page's own
declaration (HTML standard, "prescan a byte stream"), then by looking at the bytes. Labels mean what
the WHATWG Encoding standard says they do. A tree is cut off where a page is larger than anyone
reads.
"""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import AnyStr, Final
from urllib.parse import urlsplit

import webencodings
from lxml import etree, html

from browser.errors import ExtractError
from browser.text.words import clean

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"""<meta(?=[\s/])((?:[^>"']|"[^"]*"|'[^']*')*)""", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"""([^\s/>="']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE
)
_HEAD_ENDS = re.compile(rb"</head|<body", re.IGNORECASE)
# Browsers look at so many bytes whatever they hold, and on to the end of the head.
_PRESCAN = 1024
_LONGEST_HEAD = 64 * 1024
# Encodings that Python knows in a narrower form than browsers use under the same name.
_WIDER = {
    "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs",
    "x-user-defined": "cp1252", "iso-8859-8-i": "iso-8859-8", "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}  # fmt: skip
_NAMES = {"cp1252": "windows-1252"}
# Of markup in UTF-16 this share of every second byte is zero, and hardly any of the others.
_ZEROS = 0.4
_STRAY = 0.05
_FEWEST_PAIRS = 4
# Of text in a Latin script hardly more than a tenth of the bytes are beyond ASCII.
_FOREIGN = 0.2
_LOOKED_AT = 16 * 1024


def decode(body: bytes, content_type: str = "") -> str:
    """Decode a page's bytes; what does not fit becomes U+FFFD. `content_type` is the header."""
    return decode_noted(body, content_type)[0]


def decode_noted(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Decode a page's bytes, and say in words what was wrong with them; nothing mostly.

    A label of UTF-8 is believed as far as the bytes bear it out: it is every editor's default.
    """
    for bom, name in _BOMS:
        if body.startswith(bom):
            return _noted(body[len(bom) :].decode(name, "replace"))
    if wide := utf16_of(body):
        return _noted(body.decode(wide, "replace"))
    header = _HEADER.search(content_type)
    label = (_codec(header[1]) if header else None) or _declared(body)
    if label and label != "utf-8":
        return _noted(body.decode(label, "replace"))
    try:
        return body.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        text, name = _guess(body, error)
    if label and name != "utf-8":
        return text, f"it says that it is UTF-8 and is not: read as {_NAMES.get(name, name)}"
    return _noted(text)


def utf16_of(body: bytes) -> str:
    """The byte order of UTF-16 without a mark: of markup every second byte is zero."""
    head = body[: _PRESCAN // 2 * 2]
    even, odd = head[::2], head[1::2]
    if len(odd) < _FEWEST_PAIRS:
        return ""
    if odd.count(0) > _ZEROS * len(odd) and even.count(0) < _STRAY * len(even):
        return "utf-16-le"
    if even.count(0) > _ZEROS * len(even) and odd.count(0) < _STRAY * len(odd):
        return "utf-16-be"
    return ""


def _noted(text: str) -> tuple[str, str]:
    lost = text.count("\ufffd")
    return text, f"{lost} characters could not be decoded" if lost else ""


def _declared(body: bytes) -> str | None:
    if found := _XML.search(body[:_PRESCAN]):
        return _for_ascii(found[1])
    for match in _META.finditer(_COMMENT.sub(b"", _head(body))):
        if (label := _meta_label(match[1])) and (name := _for_ascii(label)):
            return name
    return None


def _head(body: bytes) -> bytes:
    end = _HEAD_ENDS.search(body, _PRESCAN, _LONGEST_HEAD)
    return body[: end.start() if end else _PRESCAN]


def _meta_label(attributes: bytes) -> bytes | None:
    """The label of `charset`, or of `content` where `http-equiv` says that it is a content type."""
    found: dict[bytes, bytes] = {}
    for name, *values in _ATTRIBUTE.findall(attributes):
        found.setdefault(name.lower(), next(filter(None, values), b""))
    if b"charset" in found:
        return found[b"charset"]
    if found.get(b"http-equiv", b"").strip().lower() != b"content-type":
        return None
    label = _HEADER.search(found.get(b"content", b"").decode("ascii", "replace"))
    return label[1].encode("ascii", "replace") if label else None


def _for_ascii(label: bytes) -> str | None:
    """The codec of a label that could be read as ASCII: it cannot be UTF-16, whatever it says."""
    name = _codec(label.decode("ascii", "replace"))
    return "utf-8" if name and name.startswith("utf-16") else name


def _codec(label: str) -> str | None:
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name == "replacement":
        return None
    return _WIDER.get(encoding.name, str(encoding.codec_info.name))


def _guess(body: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    # One torn character at the very end, or a stray byte in a long text, is still UTF-8.
    valid = body.decode("utf-8", "replace")
    wrong = valid.count("\ufffd")
    multibyte = sum(1 for character in valid if character > "\x7f") - wrong
    if error.start >= len(body) - 3 or multibyte > 10 * wrong:
        return valid, "utf-8"
    name = _by_letters(body)
    return body.decode(name, "replace"), name


def _by_letters(body: bytes) -> str:
    """The likeliest encoding of text in a script of its own; Western European for all others."""
    text = re.sub(rb"<[^>]*>|[\x00-\x20]+", b" ", body[:_LOOKED_AT])
    beyond = sum(1 for byte in text if byte > 0x7F)
    if beyond < _FOREIGN * len(text):
        return "cp1252"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - few pages say nothing at all

    best = from_bytes(text).best()
    return (_codec(best.encoding) or best.encoding) if best else "cp1252"


# Elements as trafilatura wants them, without the Python call an element that lxml.html makes.
_LOOKUP = etree.ElementDefaultClassLookup(element=html.HtmlElement)

# Each takes some 500 bytes of memory once it is read: a packed body of nothing but tags would take
# gigabytes. The longest articles and lists have 60,000, and a few megabytes.
MOST_TAGS = 150_000
_MOST_BYTES = 5_000_000
# Of a page that is cut anyway so many are read, which takes a few seconds at worst.
_TAGS_OF_CUT = 50_000

# Of a <noscript> at least so many characters are an article; a notice that scripts are needed
# is shorter.
_ARTICLE_CHARS = 1_000

_OF_HEAD = frozenset(("title", "meta", "link", "script", "style", "base", "noscript", "template"))


def parse_html(page: str | bytes, content_type: str = "") -> etree._Element:
    """Parse as leniently as browsers do; comments and processing instructions are dropped.

    Bytes are decoded by BOM, the header's charset, the page's own meta, then by guess.
    Raises ExtractError where nothing at all can be made of the input.
    """
    return parse_page(page, content_type)[0]


def parse_page(page: str | bytes, content_type: str = "") -> tuple[etree._Element, tuple[str, ...]]:
    """Parse as `parse_html` does, and tell what could not be read, in words for people."""
    cut = page[:_MOST_BYTES]
    text, note = decode_noted(cut, content_type) if isinstance(cut, bytes) else (cut, "")
    read = bounded(text) if len(cut) == len(page) else bounded(text, _TAGS_OF_CUT)
    notes: tuple[str, ...] = (note,) if note else ()
    if len(cut) < len(page) or len(read) < len(text):
        notes += ("only its beginning was read: it is far too large",)
    data = read.replace("\x00", "").encode("utf-8", "replace")
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, collect_ids=False
    )
    parser.set_element_class_lookup(_LOOKUP)
    try:
        root = etree.fromstring(data or b"<html></html>", parser)
    except etree.XMLSyntaxError as error:
        message = f"not readable as HTML: {error}"
        raise ExtractError(message) from error
    if root is None:
        message = "not readable as HTML: no element in it"
        raise ExtractError(message)
    _mend_head(root)
    _open_noscript(root)
    return root, notes


def bounded(markup: AnyStr, most: int = MOST_TAGS) -> AnyStr:
    """Cut markup off where it has more tags than a page anyone reads; all others are whole."""
    sign = "<" if isinstance(markup, str) else b"<"
    if markup.count(sign) <= most:
        return markup
    end = -1
    for _ in range(most + 1):
        end = markup.find(sign, end + 1)
    return markup[:end]


def _mend_head(root: etree._Element) -> None:
    """Move out of the head what begins the body: libxml2 knows no <main> or <article> to end it."""
    head, body = root.find("head"), root.find("body")
    if head is None:
        return
    stray = next((child for child in head if child.tag not in _OF_HEAD), None)
    if stray is None:
        return
    if body is None:
        body = etree.SubElement(root, "body")
    moved = [stray, *stray.itersiblings()]
    moved[-1].tail = _joined(moved[-1].tail, body.text)
    body.text = None
    for place, element in enumerate(moved):
        body.insert(place, element)


def _open_noscript(root: etree._Element) -> None:
    """Read a <noscript> that holds more text than all the rest: scripts show it from elsewhere."""
    longest = max(root.iter("noscript"), key=lambda box: len(raw_text(box)), default=None)
    if longest is None or len(text := text_content(longest)) < _ARTICLE_CHARS:
        return
    if len(text) > _seen_chars(root):
        longest.tag = "div"


def _seen_chars(root: etree._Element) -> int:
    """Characters of the body outside scripts, styles, templates and noscripts."""
    body = root.find("body")
    kinds = ("script", "style", "noscript", "template")
    boxes = () if body is None else body.iter(*kinds)
    outermost = (box for box in boxes if next(box.iterancestors(*kinds), None) is None)
    return len(text_content(root if body is None else body)) - sum(
        len(text_content(box)) for box in outermost
    )


def remove(element: etree._Element) -> None:
    """Take an element out of its tree; the text behind it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if tail := element.tail:
        previous = element.getprevious()
        if previous is None:
            parent.text = _joined(parent.text, tail)
        else:
            previous.tail = _joined(previous.tail, tail)
    parent.remove(element)


def _joined(*texts: str | None) -> str:
    """Put texts together, without the characters that lxml gives and does not take."""
    return _NOT_XML.sub("", "".join(filter(None, texts)))


def raw_text(element: etree._Element) -> str:
    """All text in an element, as it stands."""
    return "".join(map(str, element.itertext()))


def text_content(element: etree._Element) -> str:
    """All text in an element, whitespace collapsed."""
    return clean(" ".join(raw_text(element).split()))


def local_name(element: etree._Element) -> str:
    """The name without namespace, or a prefix that nobody bound; empty of a comment."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


BINARY: Final = "binary"

_PREFIX = 1024
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"{\\rtf", "rtf"),
    (b"\xd0\xcf\x11\xe0", "ole"),
    (b"\x1f\x8b\x08", "gzip"),
)
_PICTURES = (
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"RIFF",
    b"\x00\x00\x01\x00",
    b"OggS",
    b"ID3",
    b"\x1aE\xdf\xa3",
)
_HTML = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype html|html|head|body|title|script|style|meta|link"
    rb"|div|table|h1|p|a|br|main|article|section|nav|header|ul|iframe)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)[\s>]")
_XML_OPENS = re.compile(rb"\s*<\?xml|\s*<[A-Za-z_][\w:.-]*(?:\s[^<>]*)?>")
# What the first line of a stored message is, when nothing else says that it is one.
_MAIL = re.compile(
    rb"(?:return-path|received|delivered-to|message-id|mime-version|x-original-to):\s|From \S+@\S",
    re.IGNORECASE,
)
# MIME Sniffing, "binary data byte": text has none of these.
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# Where text is declared, a share of such bytes up to this is damage, such as a NUL in a template.
_DAMAGE = 0.02
_XHTML = re.compile(rb"<html[\s>]", re.IGNORECASE)
_TYPES = {
    "text/html": "html", "application/xhtml+xml": "html", "application/pdf": "pdf",
    "application/json": "json", "application/ld+json": "json", "text/json": "json",
    "application/rss+xml": "feed", "application/atom+xml": "feed", "text/xml": "xml",
    "application/xml": "xml", "text/csv": "csv", "text/tab-separated-values": "csv",
    "text/markdown": "md", "text/x-markdown": "md", "text/plain": "text",
    "message/rfc822": "mail", "application/mbox": "mail", "multipart/related": "mail",
}  # fmt: skip
_ENDINGS = {
    ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf", ".json": "json",
    ".jsonl": "text", ".xml": "xml", ".rss": "feed", ".atom": "feed", ".csv": "csv", ".tsv": "csv",
    ".md": "md", ".markdown": "md", ".txt": "text", ".rst": "text", ".log": "text",
    ".eml": "mail", ".mbox": "mail", ".mht": "mail", ".mhtml": "mail",
}  # fmt: skip


def sniff(body: bytes, content_type: str, url: str) -> str:
    """Name the kind: BINARY, or html pdf text md json xml feed csv mail rtf zip ole gzip."""
    head = body[:_PREFIX].removeprefix(b"\xef\xbb\xbf")
    declared = _TYPES.get(content_type.partition(";")[0].strip().lower(), "")
    ending = _ENDINGS.get(PurePosixPath(urlsplit(url).path).suffix.lower(), "")
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff")) or bool(utf16_of(head))
    wide = wide or "utf-16" in content_type.lower()
    # A stray zero in a page is dropped by the parser; any other text has none.
    if wide or (b"\x00" in head and _HTML.match(head)):
        head = head.lstrip(b"\xff\xfe").replace(b"\x00", b"")
    if signed := _signature(head, declared or ending):
        return signed
    if declared in {"json", "csv", "md", "feed", "mail"}:
        return declared
    if declared in {"text", ""} and ending in {"csv", "md", "json", "mail"}:
        return ending
    if not (declared or ending) and _MAIL.match(head):
        return "mail"
    return _by_markup(head, declared or ending) or _by_text(head, declared, ending)


def _signature(head: bytes, said: str) -> str:
    for magic, kind in _SIGNATURES:
        if head.startswith(magic):
            return kind
    # Generators put lines before the mark, and readers look past them; a text may quote it.
    if said in {"pdf", ""} and b"%PDF-" in head and not head.lstrip().startswith(b"<"):
        return "pdf"
    if head.startswith(_PICTURES):
        return BINARY
    strange = len(_NOT_TEXT.findall(head))
    return BINARY if strange > (_DAMAGE * len(head) if said else 0) else ""


def _by_markup(head: bytes, said: str) -> str:
    if said in {"text", "md"}:  # a tutorial in plain text may begin with a tag
        return ""
    if _HTML.match(head) or (_XHTML.search(head) and not _FEED.search(head)):
        return "html"
    if _FEED.search(head):
        return "feed"
    if said != "html" and _XML_OPENS.match(head):
        return "xml"
    return ""


def _by_text(head: bytes, declared: str, ending: str) -> str:
    if declared or ending:
        return declared or ending
    start = head.lstrip()[:1]
    if start in {b"{", b"["}:
        return "json"
    return "html" if b"</" in head else "text"
