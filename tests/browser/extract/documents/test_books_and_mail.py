"""E-books, e-mails, mailboxes, and pages saved as e-mail."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import gzip
from email.message import EmailMessage
from typing import TYPE_CHECKING

import pytest

from browser.errors import ExtractError
from browser.extract import extract_body
from tests.browser.extract.documents.packing import epub

if TYPE_CHECKING:
    from browser.types import Document


def read(body: bytes, name: str, content_type: str = "") -> Document:
    return extract_body(body, content_type, f"https://e.org/{name}")


def test_epub_chapters_follow_spine_order() -> None:
    body = epub(
        {"one.xhtml": "<h1>The sea</h1><p>It was calm.</p>", "two.xhtml": "<h1>The land</h1>"},
        metadata="<dc:title>Two tales</dc:title><dc:creator>Ada Holm</dc:creator>"
        "<dc:language>en</dc:language><dc:date>2021-02-03</dc:date>",
    )
    document = read(body, "tales.epub")
    assert document.text == "# The sea\n\nIt was calm.\n\n# The land"
    assert (document.title, document.author, document.language) == ("Two tales", "Ada Holm", "en")
    assert (document.kind, document.published) == ("epub", "2021-02-03")


def test_encrypted_epub_raises_locked_error() -> None:
    locked = '<encryption><CipherReference URI="OPS/one.xhtml"/></encryption>'
    body = epub({"one.xhtml": "x"}, extra={"META-INF/encryption.xml": locked})
    body = body.replace(b"OPS/one.xhtml", b"OPS/one.xhtml")
    with pytest.raises(ExtractError, match="locked"):
        read(body, "a.epub")


def message(text: str = "", html: str = "") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Jürgen Groß <j@e.org>"
    mail["Subject"] = "Größe der Schleuse"
    mail["Date"] = "Fri, 03 May 2024 08:00:00 +0200"
    mail.set_content(text or "plain", charset="iso-8859-1", cte="quoted-printable")
    if html:
        mail.add_alternative(html, subtype="html")
    return mail


def test_mail_is_decoded_with_headers_as_metadata() -> None:
    document = read(message("Die Schleuse ist 40 m groß.\n").as_bytes(), "m.eml")
    assert document.kind == "mail"
    assert document.title == "Größe der Schleuse"
    assert document.author == "Jürgen Groß <j@e.org>"
    assert document.published == "2024-05-03T08:00:00+02:00"
    assert document.text.endswith("Die Schleuse ist 40 m groß.")


def test_html_mail_keeps_tables_and_links() -> None:
    html = (
        '<p>See <a href="https://e.org/x">this</a></p>'
        "<table><tr><th>Year</th><th>Depth</th></tr><tr><td>2023</td><td>9</td></tr></table>"
        '<p style="display:none">unseen</p>'
    )
    document = read(message(html=html).as_bytes(), "m", "message/rfc822")
    assert "| 2023 | 9 |" in document.text
    assert "unseen" not in document.text
    assert "plain" not in document.text
    assert document.links[0].url == "https://e.org/x"


def test_forwarded_mail_is_read_and_attachments_are_named() -> None:
    outer = message("Look below.\n")
    outer.add_attachment(message("The lock is closed.\n"))
    outer.add_attachment(b"\x00", maintype="image", subtype="png", filename="map.png")
    document = read(outer.as_bytes(), "m.eml")
    assert "Look below." in document.text
    assert "The lock is closed." in document.text
    assert document.notes == ("the attachment map.png was not read",)


def test_mbox_has_one_heading_per_message() -> None:
    mails = [message(f"Number {n}.\n").as_bytes() for n in (1, 2)]
    folder = b"\n".join(b"From j@e.org Fri May  3 08:00:00 2024\n" + mail for mail in mails)
    document = read(folder, "all.mbox")
    assert document.text.count("# Größe der Schleuse") == 2
    assert "Number 2." in document.text


def test_mhtml_is_read_as_the_saved_page() -> None:
    saved = (
        b"From: <Saved by Blink>\r\nSnapshot-Content-Location: https://p.org/a\r\n"
        b'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\n'
        b"Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        b"<title>Tide</title><p>High tide at nine=2E</p>\r\n--b--\r\n"
    )
    document = read(saved, "page.mhtml")
    assert (document.text, document.title, document.url) == (
        "High tide at nine.", "Tide", "https://p.org/a",
    )  # fmt: skip


def test_gzip_is_unpacked_only_once() -> None:
    assert read(gzip.compress(b"a,b\n1,2\n"), "x.csv.gz").kind == "csv"
    with pytest.raises(ExtractError):
        read(gzip.compress(gzip.compress(b"a,b\n")), "x.csv.gz")


def test_body_line_starting_with_from_does_not_split_mail() -> None:
    text = (
        "Before the break.\n\nFrom Carl Jones, who wrote in 1998 to us:\nNote: the lock is shut.\n"
    )
    document = read(message(text).as_bytes(), "m.eml")
    assert "Before the break." in document.text
    assert "From Carl Jones" in document.text
    folder = b"From j@e.org Fri May  3 08:00:00 2024\n" + message(text).as_bytes()
    assert read(folder, "all.mbox").text.count("# Größe der Schleuse") == 1


def test_undeclared_xml_prefixes_are_ignored() -> None:
    book = epub({"one.xhtml": "<p>x</p>"})
    unbound = epub({"one.xhtml": "<p>x</p>"}, metadata="<dc2:title>Tale</dc2:title>")
    assert read(book, "a.epub").text == read(unbound, "a.epub").text == "x"
    feed = b"<rss><channel><x:y:z/><item><title>One</title></item></channel></rss>"
    assert read(feed, "a.xml").text == "## One"
