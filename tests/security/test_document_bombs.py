"""Bombs in documents do not explode, and documents cannot read local files."""

from __future__ import annotations

import subprocess
import sys
import time
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from browser.errors import ExtractError, TooLarge
from browser.extract import extract_body
from tests.browser.extract.documents.packing import docx, epub, paragraph

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.row(n=12)

_MOST_GROWTH_KB = 64 * 1024
_MOST_SECONDS = 10.0
_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
_BILLION = f'<!DOCTYPE d [<!ENTITY l0 "ha">{_LAUGHS}]>'
_FILE = '<!DOCTYPE d [<!ENTITY f SYSTEM "file:///etc/passwd">]>'

# Reads each named file and prints the growth of the process's peak memory (KB).
_READ = """
import resource, sys
from pathlib import Path
from browser.errors import BrowserError
from browser.extract import extract_body
import mammoth, openpyxl, xlrd
first, *bombs = map(Path, sys.argv[1:])
extract_body(first.read_bytes(), "", "https://e.org/first")
for bomb in bombs:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    body = bomb.read_bytes()
    try:
        extract_body(body, "", f"https://e.org/{bomb.name}")
        said = "read"
    except BrowserError as error:
        said = type(error).__name__
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, said, bomb.name)
"""


def packed(name: str, piece: bytes, megabytes: int, kept: bytes) -> bytes:
    """Put one piece repeatedly into an archive part, without ever holding it whole."""
    out = BytesIO(kept)
    block = piece * (1024 * 1024 // len(piece))
    with ZipFile(out, "a", ZIP_DEFLATED) as archive, archive.open(name, "w") as part:
        for _ in range(megabytes):
            part.write(block)
    return out.getvalue()


def countless_parts() -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        for n in range(30_000):
            archive.writestr(f"part-number-{n:08}-with-a-long-name", b"")
    return out.getvalue()


def test_document_bombs_stay_within_memory_and_time_limits(tmp_path: Path) -> None:
    bombs = {
        "word.docx": packed("word/media.xml", b"<w:style/>", 200, docx("<w:p/>" * 3_000_000)),
        "book.epub": epub({"c.xhtml": "<p>x</p>" * 4_000_000}),
        "parts.zip": countless_parts(),
        "laughs.docx": docx(f"{paragraph('a')}<w:p>&l9;</w:p>", prolog=_BILLION),
        "mail.eml": deep_mail(),
        "wide.csv": b"a," * 5_000_000,
        "tags.xml": b"<r>" + b"<a/>" * 2_000_000 + b"</r>",
    }
    (tmp_path / "first").write_bytes(docx(paragraph("small")))
    for name, body in bombs.items():
        (tmp_path / name).write_bytes(body)
    told = subprocess.run(
        [sys.executable, "-c", _READ, *(str(tmp_path / name) for name in ["first", *bombs])],
        capture_output=True, text=True, timeout=_MOST_SECONDS * len(bombs), check=True,
    ).stdout.splitlines()  # fmt: skip
    assert len(told) == len(bombs)
    assert [line for line in told if int(line.split()[0]) > _MOST_GROWTH_KB] == []


@pytest.mark.parametrize(("prolog", "name"), [(_BILLION, "l9"), (_FILE, "f")])
def test_word_file_entities_do_not_expand_or_read_files(prolog: str, name: str) -> None:
    run = f"<w:p><w:r><w:t>a&{name};b</w:t></w:r></w:p>"
    body = docx(f"{run}{paragraph('after')}", prolog=prolog)
    try:
        text = extract_body(body, "", "https://e.org/x.docx").text
    except ExtractError:
        return
    assert len(text) < 100
    assert "root:" not in text


def test_over_compressed_document_parts_are_rejected() -> None:
    with pytest.raises(TooLarge):
        extract_body(docx("<w:p/>" * 1_000_000), "", "https://e.org/x.docx")


def test_oversized_tag_only_page_is_read_from_start() -> None:
    document = extract_body(b"<p>x" * 400_000, "text/html", "https://e.org/")
    assert document.text.startswith("x\n\nx")
    assert len(document.text) < 600_000
    assert "beginning" in document.notes[0]


def deep_mail() -> bytes:
    """Three hundred messages, each within the one before."""
    inner = b"Content-Type: text/plain\n\nx"
    for n in range(300):
        edge = b"b%d" % n
        head = b'Content-Type: multipart/mixed; boundary="' + edge + b'"\n\n--' + edge + b"\n"
        inner = head + inner + b"\n--" + edge + b"--\n"
    return b"Subject: deep\n" + inner


@pytest.mark.row(n=12)
def test_nested_links_do_not_slow_extraction():
    said = "<p>" + "High water stands at noon, and low water follows at six. " * 24 + "</p>"
    begun = time.process_time()
    document = extract_body((said + "<p><a href=x>Deep. " * 900).encode(), "", "https://e.org/a")
    assert time.process_time() - begun < _MOST_SECONDS
    assert "High water stands at noon" in document.text
