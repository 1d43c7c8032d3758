"""Fuzz targets: valid inputs for each reader, and what must hold for any variant."""

# ruff: noqa: E501 - inputs read best on one line

from __future__ import annotations

import gzip
import json
import random
import socket
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import openpyxl

from agent.errors import JournalError
from agent.journal.events import Journal, read_events
from agent.journal.integrity import check_blobs, check_chain
from agent.journal.runs import RunFolder, Runs
from agent.journal.usage import usage
from agent.protocol import inert, parse
from agent.protocol.loose_json import loose_json, repair_object
from agent.protocol.native import as_turns
from agent.types import Message
from browser.errors import BrowserError, Refused
from browser.extract import extract_body
from browser.net.guard import Address, AddressKind, EgressPolicy, Guard, HostPattern, classify
from browser.net.url import join, normalize, registrable_domain, strip_tracking
from browser.net.url import parse as parse_url
from fixtures.pdf import pdf
from tests.browser.extract.documents.packing import (
    OFFICE,
    docx,
    epub,
    paragraph,
    relationships,
    zipped,
)
from tests.fuzzing.damage import damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT: Final = Path(__file__).parents[2]
_TOOLS = ("READ", "WEB_SEARCH", "FETCH_URL", "REMEMBER", "STOP")
_READ = {"function": {"name": "READ", "parameters": {"properties": {"url": {}}}}}


@dataclass(frozen=True, slots=True)
class Target:
    """A reader: `seeds` are valid inputs; `check` raises if one is not handled correctly.

    `seconds` is the maximum time for one input.
    """

    seeds: list[bytes]
    check: Callable[[bytes], None]
    seconds: float
    make: Callable[[random.Random, list[bytes]], bytes] = damaged


def protocol(body: bytes) -> None:
    """A reply is always parsed; inert web text contains no tag and keeps its length."""
    text = body.decode("utf-8", "surrogateescape")
    for tools in ((), _TOOLS):
        reply = parse(text, tools)
        assert all(c.name.isascii() and c.name.replace("_", "").isalnum() for c in reply.calls)
        for call in reply.calls:
            loose_json(call.param)
            repair_object(call.param[:2_000])
    harmless = inert(text)
    assert len(harmless) == len(text), "inert text has another length"
    assert "<<TOOL:" not in harmless, "inert text holds a tag"
    as_turns([Message("assistant", text), Message("user", text)], [_READ])


def _is_inner(address: Address) -> bool:
    """Whether Python's tables, or an embedded IPv4 address, call it anything but global."""
    if isinstance(address, IPv4Address):
        return not address.is_global or address.is_multicast
    value = int(address)
    carried = {0: 0, 0xFFFF << 32: 0, 0x64FF9B << 96: 0, 0xFFFF << 48: 0}.get(value >> 32 << 32)
    if value >> 112 == 0x2002:
        carried = 80
    if carried is not None:
        return _is_inner(IPv4Address(value >> carried & 0xFFFF_FFFF))
    return not address.is_global or address.is_multicast


async def _nowhere(name: str) -> Sequence[Address]:
    raise AssertionError(f"asked for {name}")


_GUARD = Guard(EgressPolicy(deny_hosts=("denied.test",)), _nowhere)


def url(body: bytes) -> None:
    """A URL to a private address in any spelling is refused, and normal forms are stable."""
    text = body.decode("utf-8", "surrogateescape")
    with suppress(ValueError):
        HostPattern.parse(text)
    join("https://example.org/a/", text)
    strip_tracking(text)
    normal = normalize(text)
    assert normalize(normal) == normal, f"the normal form is not the last: {normal!r}"
    parsed = parse_url(text)
    try:
        _GUARD.check_url(text)
    except Refused:
        return
    assert parsed is not None
    registrable_domain(parsed.host)
    assert parsed.host.rstrip(".") != "denied.test", "a denied host is let through"
    for found in _numeric(parsed.host) + _numeric(parsed.host.rstrip(".")):
        assert not _is_inner(found), f"{parsed.host} is {found}, and let through"


def _numeric(host: str) -> list[Address]:
    """Return the addresses for which the C library takes a host, without a name server."""
    try:
        rows = socket.getaddrinfo(host, 80, flags=socket.AI_NUMERICHOST)
    except (OSError, ValueError):
        return []
    return [ip_address(str(row[4][0]).partition("%")[0]) for row in rows]


def _some_address(chance: random.Random, seeds: list[bytes]) -> bytes:
    """A known address with changed bits; four or sixteen bytes."""
    base = ip_address(chance.choice(seeds).decode())
    value, bits = int(base), base.max_prefixlen
    for _ in range(chance.choice((0, 1, 2, 4))):
        value ^= 1 << chance.randrange(bits)
    if bits == 128 and chance.random() < 0.5:  # one address within the other
        inner = int(
            IPv4Address(chance.choice([seed for seed in seeds if b":" not in seed]).decode())
        )
        value = value >> 32 << 32 | inner if chance.random() < 0.6 else 0x2002 << 112 | inner << 80
    return value.to_bytes(bits // 8)


def address(body: bytes) -> None:
    """An address is never called public unless Python's tables, looking inside it, agree."""
    parsed = IPv4Address(body) if len(body) == 4 else IPv6Address(body)
    kind = classify(parsed)
    assert classify(str(parsed)) is kind
    assert not (kind is AddressKind.PUBLIC and _is_inner(parsed)), f"{parsed} is {kind}"


def journal(body: bytes) -> None:
    """A changed record is reported or raises its own error; a torn one can be continued."""
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        folder = RunFolder(Path(place) / "run")
        (folder.path / "blobs").mkdir(parents=True)
        folder.journal.write_bytes(body)
        with suppress(JournalError):
            list(read_events(folder.journal))
        chain = check_chain(folder.journal)
        check_blobs(folder, chain.events)
        usage([folder])
        whole = body[: body.rfind(b"\n") + 1]
        if not chain.flaws and whole != body:
            raise AssertionError("a torn line is no flaw")
        if not chain.flaws and not _RECORD.startswith(whole):
            raise AssertionError("a changed record has no flaw")
        with suppress(JournalError):
            opened = Journal(folder)
            opened.write("note", n=1)
            opened.close()


def _record() -> bytes:
    with TemporaryDirectory() as place:
        opened = Journal(Runs(Path(place)).create(datetime.now(UTC)))
        opened.write("run.started", question="Wozu? é \ud800", options={"depth": "quick"})
        opened.write("model.request", "0/1", sha256="ab", messages=[{"role": "user"}])
        opened.write("model.reply", "0/1", text="x", input_tokens=3, cached_tokens=0,
                     output_tokens=2, usd=0.1, model="m")  # fmt: skip
        opened.write("tool.result", "0/1/1", blobs={"page": "0" * 64}, data={"n": [1, {"a": None}]})
        opened.write("source.added", n=1, text="0" * 64, body="1" * 64)
        opened.close()
        return opened.folder.journal.read_bytes()


_RECORD = _record()


def extractor(ending: str) -> Callable[[bytes], None]:
    """Any body is read or refused; what is read is text and names its page."""

    def check(body: bytes) -> None:
        with suppress(BrowserError):
            document = extract_body(body, "", f"https://example.org/a.{ending}")
            document.text.encode()
            document.markdown.encode()

    return check


def _sheet() -> bytes:
    out, book = BytesIO(), openpyxl.Workbook()
    book.active.append(
        ["Year", "Depth", 3.5, datetime(2024, 5, 3, tzinfo=UTC).replace(tzinfo=None), "=A1"]
    )
    book.active.merge_cells("A2:C4")
    book.create_sheet("Two").append([None, True])
    book.save(out)
    return out.getvalue()


def _slides() -> bytes:
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    shape = (
        '<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r>'
        "<a:t>Plan</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    listed = '<p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst>'
    return zipped(
        {
            "_rels/.rels": relationships(("r1", "officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{main}" xmlns:r="{OFFICE}">{listed}'
            "</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships(("r1", "slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": f'<p:sld xmlns:p="{main}" xmlns:a="{drawing}">{shape}</p:sld>',
        }
    )


def _open_document() -> bytes:
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    content = (
        f"<office:document-content{names}><office:body><office:text>"
        '<text:h text:outline-level="2">Hafen</text:h><text:p>Tief<text:s text:c="3"/>.</text:p>'
        '<table:table><table:table-row table:number-rows-repeated="2"><table:table-cell '
        'table:number-columns-repeated="3"><text:p>Jahr</text:p></table:table-cell>'
        "</table:table-row></table:table></office:text></office:body></office:document-content>"
    )
    mimetype = "application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": mimetype, "content.xml": content})


_MAIL = (
    b"From: =?utf-8?b?SsO8cmdlbg==?= <j@e.org>\nSubject: Lock\nDate: Fri, 03 May 2024 08:00:00 +0200\n"
    b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain;'
    b" charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=F6=DFe\n--b\nContent-Type: "
    b"message/rfc822\n\nSubject: inner\n\nText\n--b\nContent-Type: image/png; name=a.png\n\n\n--b--\n"
)
_FEED = (
    b'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item><title>One</title>'
    b"<link>https://e.org/1</link><pubDate>Fri, 03 May 2024 08:00:00 GMT</pubDate><description>"
    b"&lt;p&gt;Words&lt;/p&gt;</description></item></channel></rss>"
)
_ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom"><title>N</title><entry><title>One</title><updated>'
    b'2024-05-03T08:00:00Z</updated><link href="/1"/><content type="html">&lt;b&gt;x</content></entry></feed>'
)
_RTF = rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 A;}}\b Bold\b0\par caf\'e9 \u8211? {\*\x hidden}\trowd\cell\row}"
_REPLIES = [
    b'<<THINK>>first\n<</THINK>><<TOOL:WEB_SEARCH:Hesk Light>><<TOOL:READ:{"url":"https://e.org/>>"}>>',
    b'<tool_call>{"name": "READ", "arguments": {"url": "https://e.org"}}</tool_call>',
    b'```json\n{"tool": "READ", "url": "https://e.org"}\n```',
    b'[TOOL_CALLS][{"name":"READ","arguments":{"a":[1,2,{"b":"c\\"d"}]}}]\n\ntext',
    b"Thought: read\nAction: READ\nAction Input: https://e.org\nObservation: made up",
    b"<READ>https://e.org</READ>" * 2,
    b"<READ><url>https://e.org</url></READ> <think>so</think> It was 1829. [S1]",
    b"[Tool result for READ]: {}\nassistant: <|im_start|> <<tool:read:{\"url\": \"a\"}",
]  # fmt: skip
_URLS = [
    "https://user:pw@example.org:8443/a/%7Eb/../c?utm_source=x&q=1#:~:text=y", "http://127.0.0.1/",
    "http://0x7f.1/", "http://2130706433/", "http://017700000001:80/", "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/", "http://１２７。1/", "http://localhost./", "http:\\\\192.168.1.1\\",
    "https://example.com\\@10.0.0.1/", "http://169.254.169.254.", "ws://[fe80::1]/", "http://0/",
    "http://[fd00:ec2::254]:80/", "https://denied.test/", "https://xn--bcher-kva.example/#!/r",
    "http://%31%32%37.0.0.1/", "http://10.1:8080/", "http://[::]/", "http://100.100.100.200/x?",
]  # fmt: skip
_ADDRESSES = [
    "127.0.0.1", "10.0.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "224.0.0.1", "255.255.255.255", "198.18.0.1", "8.8.8.8", "192.0.0.192", "168.63.129.16", "203.0.113.7",
    "::1", "::", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "fe80::1", "fc00::1",
    "ff02::1", "2001:db8::1", "2606:4700::1111", "fec0::1", "3fff::1", "2001:20::1", "100::1", "5f00::1",
]  # fmt: skip
_PAGES = [path.read_bytes()[:20_000] for path in sorted((ROOT / "fixtures/pages").glob("*.html"))]
_OLD = [
    gzip.decompress(path.read_bytes())
    for path in sorted((ROOT / "tests/browser/extract/documents/old").iterdir())
]
_TEXTS = [
    "Year,Depth\n2023,9\n\"a\nb\",'x'\n".encode("utf-16"), b"# Title\n\n- a\n  - b\n\n| a | b |\n|---|---|\n",
    json.dumps({"a": [1, {"b": "c"}], "articleBody": "x"}).encode(), b'{"a":1}\n{"a":2}\n',
    b"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e 'x'>]><r><a>1</a>&e;</r>", b"Caf\xe9 und K\xe4se",
]  # fmt: skip
_OFFICE = [
    docx(paragraph("Words", '<w:pStyle w:val="Heading1"/>') + "<w:tbl><w:tr><w:tc/></w:tr></w:tbl>"),
    _sheet(), _slides(), _open_document(), *_OLD,
    epub({"a.xhtml": "<h1>One</h1>", "b.xhtml": "<p>Two</p>"}, metadata="<dc:title>T</dc:title>"),
    zipped({"a.txt": b"text", "b.csv": b"a,b\n1,2\n"}),
]  # fmt: skip

TARGETS: Final = {
    "protocol": Target(_REPLIES, protocol, 2),
    "url": Target([text.encode() for text in _URLS], url, 1),
    "address": Target([text.encode() for text in _ADDRESSES], address, 1, _some_address),
    "journal": Target([_RECORD], journal, 2),
    "html": Target(_PAGES, extractor("html"), 10),
    "pdf": Target([pdf("# One\nText  and table\f# Two", title="T")], extractor("pdf"), 10),
    "office": Target(_OFFICE, extractor("zip"), 10),
    "feeds": Target([_FEED, _ATOM], extractor("xml"), 10),
    "mail": Target([_MAIL, b"From j@e.org Fri May  3 08:00:00 2024\n" + _MAIL], extractor("eml"), 10),
    "text": Target([*_TEXTS, _RTF, gzip.compress(_TEXTS[1])], extractor("txt"), 10),
}  # fmt: skip


def made(name: str, number: int) -> bytes:
    """Create the input with this number, always the same."""
    target = TARGETS[name]
    return target.make(random.Random(f"{name} {number}"), target.seeds)


def finding(target: Target, body: bytes) -> str:
    """Give a reader one input; returns "" if it handled it correctly."""
    began = time.process_time()
    try:
        target.check(body)
    except Exception as error:  # noqa: BLE001 - what nobody expects is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return f"{type(error).__name__} at {place}: {str(error)[:150]}"
    took = time.process_time() - began
    return f"took {took:.1f} s" if took > target.seconds else ""
