"""Bodies of every kind, recognised by their bytes, in the encoding that browsers would use."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import gzip
import textwrap

import pytest

from browser.errors import ExtractError
from browser.extract import extract_body
from browser.extract.dates import iso_date


def pdf(*pages: str) -> bytes:
    """Write a small PDF with one line of text per page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for n, line in enumerate(pages):
        stream = f"BT /F1 12 Tf 40 700 Td ({line}) Tj ET" if line else ""
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {5 + 2 * n} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    out, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\n"
    return f"{out}startxref\n{out.index('xref')}\n%%EOF".encode()


def test_pdf_text_has_page_offsets() -> None:
    document = extract_body(pdf("First page here", "Second page there"), "", "https://e.org/a.pdf")
    assert document.kind == "pdf"
    assert document.text == "First page here\n\nSecond page there"
    assert [document.text[offset:][:6] for offset in document.pages] == ["First ", "Second"]


def test_scanned_pdf_is_noted_as_scan() -> None:
    document = extract_body(pdf(""), "application/pdf", "https://e.org/scan.pdf")
    assert document.text == ""
    assert "scan" in document.notes[0]


def test_broken_pdf_raises_extract_error() -> None:
    with pytest.raises(ExtractError):
        extract_body(b"%PDF-1.7 nothing more", "application/pdf", "https://e.org/x.pdf")


@pytest.mark.parametrize(
    ("body", "content_type", "url", "kind"),
    [
        (b"<!doctype html><p>x</p>", "text/plain", "https://e.org/", "text"),
        (b"<!doctype html><p>x</p>", "application/octet-stream", "https://e.org/", "html"),
        (b'{"a": 1}', "", "https://e.org/x", "json"),
        (b"a,b\n1,2\n", "text/plain", "https://e.org/x.csv", "csv"),
        (b"# Title\n", "text/plain", "https://e.org/README.md", "md"),
        (b"<?xml version='1.0'?><rss><channel/></rss>", "text/html", "https://e.org/", "feed"),
        (b"<?xml version='1.0'?><urlset/>", "text/xml", "https://e.org/", "xml"),
        (b"just words", "", "https://e.org/", "text"),
    ],
)
def test_document_kind_is_sniffed(body: bytes, content_type: str, url: str, kind: str) -> None:
    assert extract_body(body, content_type, url).kind == kind


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n\x00", b"PK\x03\x04xyz", b"\x00\x01\x02"])
def test_binary_body_raises_extract_error(body: bytes) -> None:
    with pytest.raises(ExtractError):
        extract_body(body, "text/html", "https://e.org/")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Größe €</p>".encode(), "text/html"),
        ("<p>Größe €</p>".encode("cp1252"), "text/html; charset=ISO-8859-1"),
        (b"<meta charset=windows-1252>" + "<p>Größe €</p>".encode("cp1252"), "text/html"),
        (b"\xff\xfe" + "<p>Größe €</p>".encode("utf-16-le"), "text/html"),
        (b"\xef\xbb\xbf" + "<p>Größe €</p>".encode(), "text/html; charset=latin1"),
        ("<p>Größe €</p>".encode("cp1252"), "text/html"),
        (b"<!-- <meta charset=koi8-r> --><p>Gr\xf6\xdfe \x80</p>", "text/html"),
        (b"<meta name=d content='charset=koi8-r'><p>Gr\xf6\xdfe \x80</p>", "text/html"),
        (
            b"<meta content='text/html; charset=latin1' http-equiv=Content-Type><p>Gr\xf6\xdfe \x80",
            "text/html",
        ),
        (b"<meta charset=utf-16>" + "<p>Größe €</p>".encode(), "text/html"),
        (b"<title>" + b"x" * 2000 + b"</title><meta charset=latin1></head><p>Gr\xf6\xdfe \x80", ""),
    ],
)
def test_encoding_is_detected_as_in_browsers(body: bytes, content_type: str) -> None:
    assert extract_body(body, content_type, "https://e.org/").text == "Größe €"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["<p>Größe €</p>", "Größe €"])
def test_utf_16_without_bom_is_detected(text: str, codec: str) -> None:
    page = extract_body(text.encode(codec), "", "https://e.org/a.txt" if text[0] == "G" else "")
    assert page.text == "Größe €"


def test_windows_1252_declared_as_utf_8_is_decoded() -> None:
    body = "<meta charset=utf-8><p>Größe der Schleuse".encode("cp1252")
    assert extract_body(body, "text/html; charset=utf-8", "https://e.org/").text.startswith("Größe")


def test_undecodable_bytes_are_noted() -> None:
    body = "Größe: ".encode() * 40 + b"\xff\xff" + b" Schleuse" * 3
    document = extract_body(body, "text/plain; charset=utf-8", "https://e.org/")
    assert "\ufffd" in document.text
    assert "damaged" in document.notes[0]


def test_stray_nul_does_not_make_page_binary() -> None:
    body = b"<p>The lamp" + b"\x00" + b" burns.</p>" + b" " * 200
    assert extract_body(body, "text/html", "https://e.org/").text == "The lamp burns."


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("shift_jis", "cp932", "髙島屋の①番"),
        ("x-sjis", "cp932", "港の灯台"),
        ("gb2312", "gb18030", "港口的灯塔镕"),
        ("euc-kr", "cp949", "항구의 등대 똠"),
        ("big5", "big5hkscs", "港口的燈塔"),
        ("euc-jp", "euc_jp", "港の灯台"),
        ("windows-1251", "cp1251", "Маяк в порту"),
        ("koi8-r", "koi8_r", "Маяк в порту"),
        ("iso-8859-9", "cp1254", "İskele ışığı"),
        ("iso-8859-2", "iso8859_2", "Zażółć gęślą"),
    ],
)
def test_charset_labels_map_to_browser_codecs(label: str, codec: str, text: str) -> None:
    body = f"<p>{text}</p>".encode(codec)
    assert extract_body(body, f"text/html; charset={label}", "https://e.org/").text == text
    declared = f"<meta charset={label}>".encode() + body
    assert extract_body(declared, "text/html", "https://e.org/").text == text


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("shift_jis", "港の灯台は夜になると遠くの船に光を送ります。漁師はその光を見て帰ります。"),
        ("cp1251", "Маяк в порту светит каждую ночь, и рыбаки видят его издалека с моря."),
    ],
)
def test_non_latin_encodings_are_detected_without_label(codec: str, text: str) -> None:
    body = f"<p>{text * 5}</p>".encode(codec)
    assert text in extract_body(body, "text/html", "https://e.org/").text


def test_text_mentioning_pdf_header_is_text() -> None:
    body = b"A PDF file begins with %PDF-1.7 and a line of bytes."
    assert extract_body(body, "text/plain", "https://e.org/a.txt").kind == "text"


def test_feed_entries_become_headings_with_links() -> None:
    feed = b"""<rss><channel><title>Port news</title><item><title>Crane falls</title>
    <link>/crane</link><pubDate>Fri, 03 May 2024 08:00:00 GMT</pubDate>
    <description>&lt;p&gt;Nobody was &lt;b&gt;hurt&lt;/b&gt;.&lt;/p&gt;</description></item></channel></rss>"""
    document = extract_body(feed, "application/rss+xml", "https://e.org/feed")
    assert document.title == "Port news"
    assert "## Crane falls" in document.text
    assert "Nobody was hurt." in document.text
    assert document.links[0].url == "https://e.org/crane"


def test_feed_without_entries_keeps_its_title_and_description() -> None:
    feed = (
        b"<rss><channel><title>Port news</title><description>Of Elm</description></channel></rss>"
    )
    assert extract_body(feed, "application/rss+xml", "").text == "Port news\nOf Elm"


def test_external_xml_entities_are_not_resolved() -> None:
    bomb = b"""<?xml version="1.0"?><!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/hostname">]><r>a&f;b</r>"""
    assert extract_body(bomb, "text/xml", "https://e.org/").text.split() == ["a", "&f;", "b"]


def test_json_values_are_shown_with_their_paths() -> None:
    document = extract_body(b'{"boats":[{"name":"Ada"}]}', "application/json", "https://e.org/b")
    assert document.text == "boats[0].name: Ada"


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2024-05-03", "2024-05-03"),
        ("2024-05-03T08:09:10+0200", "2024-05-03T08:09:10+02:00"),
        ("20240503", "2024-05-03"),
        ("May 3, 2024", "2024-05-03"),
        ("3. Mai 2024", "2024-05-03"),
        ("03.05.2024", "2024-05-03"),
        ("Fri, 03 May 2024 08:00:00 GMT", "2024-05-03T08:00:00+00:00"),
        ("03/05/2024", None),
        ("yesterday", None),
        ("2024-13-45", None),
    ],
)
def test_dates_are_converted_to_iso(written: str, iso: str | None) -> None:
    assert iso_date(written) == iso


def test_markdown_markup_is_stripped_except_in_code() -> None:
    source = (
        b"# The **Hesk** light\n\n_First_ lit in **1829**, see `log` and [the list](https://a.example/l).\n"
        b"Opened: 1829\n\n| Name | Year |\n|---|---|\n| Ada | 1829 |\n\n```\nx = **y**\n```\n"
    )
    document = extract_body(source, "text/markdown", "https://e.org/light.md")
    assert document.text == (
        "# The Hesk light\n\nFirst lit in 1829, see log and the list.\nOpened: 1829\n\n"
        "| Name | Year |\n| --- | --- |\n| Ada | 1829 |\n\nx = **y**"
    )
    assert (document.title, document.markdown) == ("The Hesk light", source.decode().strip())
    assert [(link.url, link.text) for link in document.links] == [
        ("https://a.example/l", "the list")
    ]


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown"])
def test_hard_wrapped_lines_are_joined(kind: str) -> None:
    column = textwrap.fill(
        " ".join(["Ada kept the light through the winter of that year."] * 4), 72
    )
    text = extract_body(f"# Light\n\n{column}\n".encode(), kind, "https://e.org/a").text
    assert text.split("\n\n")[1] == " ".join(column.split())


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown"])
def test_intentional_line_breaks_are_kept(kind: str) -> None:
    poem = "The light is lit,\nthe boats are in,\nand none is late."
    facts = "The light of Hesk stands on the northern end of the island since long ago.\nLit: 1829"
    text = extract_body(f"# Light\n\n{poem}\n\n{facts}\n".encode(), kind, "https://e.org/a").text
    assert text.split("\n\n")[1:] == [poem, facts]


def test_plain_text_rejoins_hyphenated_words_and_keeps_code_lines() -> None:
    text = (
        "The keeper of the light of Hesk and of the lights of Skara was in\u2010\n"
        "structed to light it at dusk.\n\n    make distclean\n    ./configure\n    make\n"
    )
    document = extract_body(text.encode(), "text/plain", "https://e.org/a.txt")
    assert document.text == (
        "The keeper of the light of Hesk and of the lights of Skara was instructed to light it at"
        " dusk.\n\n    make distclean\n    ./configure\n    make"
    )


def test_pathological_markdown_falls_back_to_source_with_note() -> None:
    document = extract_body(b"![" * 50_000, "text/markdown", "https://e.org/light.md")
    assert (document.kind, len(document.text)) == ("md", 100_000)
    assert "shown as Markdown source" in document.notes[0]


def test_webvtt_captions_become_timed_sentences_with_speakers() -> None:
    body = (
        b"WEBVTT\n\nNOTE by hand\n\n1\n00:00:01.000 --> 00:00:04.000 align:start\n"
        b"<v Ada Moor>The tower is <b>42 m</b> high\n\n00:04.000 --> 00:06.000\nand old.\n\n"
        b"00:00:06.500 --> 00:00:09.000\n<v Ben>Who built it?\n"
    )
    page = extract_body(body, "text/vtt", "https://e.org/a.vtt")
    assert page.text == (
        "[00:00:01] Ada Moor: The tower is 42 m high and old.\n\n[00:00:06] Ben: Who built it?"
    )


def test_jats_article_yields_text_and_publication_details() -> None:
    body = b"""<?xml version="1.0"?><article article-type="research-article"><front><journal-meta>
    <journal-title>Harbour J</journal-title></journal-meta><article-meta><article-id>10.1234/abc.5
    </article-id><title-group><article-title>The <italic>mole</italic></article-title></title-group>
    <contrib-group><contrib contrib-type="author"><name><surname>Moor</surname><given-names>Ada
    </given-names></name></contrib></contrib-group><pub-date><year>2024</year></pub-date><pub-date>
    <month>5</month><year>2024</year></pub-date><volume>7</volume><fpage>11</fpage><lpage>19</lpage>
    <permissions><license><license-p>CC BY 4.0</license-p></license></permissions></article-meta>
    </front><body><sec><title>Methods</title><p>We used a crane<xref>1</xref>.</p><table-wrap>
    <alternatives><graphic/><table><thead><tr><th>Crane</th><th>Load</th></tr></thead><tbody><tr>
    <td>Red</td><td>9 t</td></tr></tbody></table></alternatives>
    </table-wrap></sec></body><floats-group><fig><caption><p>The crane at work.</p></caption></fig>
    </floats-group></article>"""
    page = extract_body(body, "", "https://e.org/a.nxml")
    assert (page.title, page.author, page.published) == ("The mole", "Ada Moor", "2024-05")
    work = page.publication
    assert (work.venue, work.volume, work.pages) == ("Harbour J", "7", "11-19")
    assert work.doi == "10.1234/abc.5"
    assert "# Methods\n\nWe used a crane" in page.text
    assert all(part in page.text for part in ("Red | 9 t", "The crane at work.", "CC BY 4.0"))


def test_restructured_text_is_parsed_with_sphinx_roles_and_directives() -> None:
    body = b"""Using Homebrew
==============

Run :ref:`the installer <inst>` with :class:`~foo.Bar`.

.. versionadded:: 2.0
   The crane.

- one
"""
    page = extract_body(body, "", "https://e.org/a.rst")
    assert page.kind == "rst"
    assert page.text.startswith("# Using Homebrew\n\nRun the installer with foo.Bar.")
    assert "The crane.\n\n- one" in page.text


def test_all_gzip_members_are_read_and_truncation_is_noted() -> None:
    first, second = gzip.compress(b"First member. "), gzip.compress(b"Second member. " * 99)
    whole = extract_body(first + second, "", "https://e.org/a.txt.gz")
    assert whole.text.startswith("First member. Second member.")
    assert not whole.notes
    cut = extract_body(first + second[:-12], "", "https://e.org/a.txt.gz")
    assert cut.text.startswith("First member. Second member.")
    assert cut.notes == ("the file is truncated: only the beginning was read",)


@pytest.mark.parametrize("box", ["<table><tr><td>x", "<div>x"])
def test_too_deeply_nested_page_is_read_without_tables_and_boxes(box: str) -> None:
    body = f"<html><body>{box * 3000}<p>What stands deep within.</p></body></html>".encode()
    page = extract_body(body, "text/html", "https://e.org/a")
    assert "What stands deep within." in page.text
    assert page.notes == ("its elements are nested too deeply: read without tables and boxes",)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Liman idaresi salı günü yıllık raporunu yayımladı, Şişli ilçesinde ığdır.", "cp1254"),
        ("Zarząd portu opublikował we wtorek sprawozdanie; zażółć gęślą jaźń.", "cp1250"),
        ("L'autorité portuaire a publié son rapport annuel, où l'été fut garçon.", "cp1252"),
        ("港湾局は火曜日に年次報告書を公表し、北防波堤の工事について説明した。", "iso2022_jp"),
        ("항만청은 화요일에 연차 보고서를 발표하고 공사를 자세히 설명했다.", "iso2022_kr"),
        ("The tower — 42 m", "utf-32"),
        ("Управление порта опубликовало годовой отчет.", "utf-32-be"),
    ],
)
def test_undeclared_encoding_is_detected(text: str, codec: str) -> None:
    page = extract_body((text * 4).encode(codec), "", "https://e.org/a.txt")
    assert page.text.lstrip("\ufeff") == text * 4
