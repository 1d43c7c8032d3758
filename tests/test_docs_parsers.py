"""docs/parsers.md works as described: its parser reads its page, as a file and as a package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "parsers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
URL = "https://talk.harbour.example/t/9"


def block(kind: str, number: int = 0) -> str:
    return [body for name, body in BLOCKS if name == kind][number]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a reader of the page has: the saved page, the parser, the installed package."""
    project = tomllib.loads(block("toml"))["project"]
    [(group, entries)] = project["entry-points"].items()
    (tmp_path / "thread.html").write_text(block("html"), encoding="utf-8")
    (tmp_path / "harbour_talk.py").write_text(block("python"), encoding="utf-8")
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    said = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(said)
    lines = (f"{name} = {target}\n" for name, target in entries.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{''.join(lines)}")
    return tmp_path


def said(folder: Path, script: str) -> str:
    """Return what a fresh Python prints in that folder with the package installed."""
    path = os.pathsep.join((str(folder), str(ROOT)))
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_documented_parser_produces_documented_output(folder: Path) -> None:
    assert said(folder, block("python", 3)) == block("text")


def test_parser_example_is_short() -> None:
    assert len(block("python").splitlines()) < 100


def test_forum_page_keeps_post_authors(folder: Path) -> None:
    script = f"""
from pathlib import Path
from browser.extract import extract_body
document = extract_body(Path("thread.html").read_bytes(), "text/html", {URL!r})
print(document.title, document.text, document.notes, sep="\\n")
"""
    text = said(folder, script)
    assert text.startswith("Leaking seacock")
    assert "It weeps on the port side." in text
    assert "Yes, with a wooden plug." in text
    assert "Ada Holm" in text
    assert "kind: harbour-talk thread" in text


def test_page_without_markup_is_read_as_plain_with_note(folder: Path) -> None:
    script = f"""
from browser.extract import extract_body
print(extract_body(b"<h2>Gone</h2><p>Nothing of it is left here.</p>", "text/html", {URL!r}).notes)
"""
    assert "no harbour-talk record" in said(folder, script)


def test_custom_parser_can_use_soup(folder: Path) -> None:
    (folder / "notices.py").write_text(block("python", 2), encoding="utf-8")
    script = """
from browser.extract.platforms import SitePage
from notices import HarbourNotices
page = "<aside class=notice><h2>Fog</h2><time datetime=2024-05-03></time><p class=words>Sound."
record = HarbourNotices().parse(SitePage("https://notices.harbour.example/", page))
print(record.title, record.text, record.published)
"""
    assert said(folder, script) == "Fog Sound. 2024-05-03\n"
